// @vitest-environment jsdom
import { act, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { Problem } from "../api/problem";
import { LiveContext } from "../live/useLive";
import { Store } from "../live/store";
import { ListView } from "./ListView";

const event = (kind: string, data: unknown) => ({ event: kind, data: JSON.stringify(data), id: undefined });

function show(...names: string[]) {
  const store = new Store();
  store.take(event("reset", {}));
  for (const name of names) {
    store.take(event("added", darkroom({ name })));
  }
  return store;
}

const view = (store: Store) =>
  render(
    <LiveContext value={store}>
      <ListView />
    </LiveContext>,
  );

test("before all has come it says that it loads; without a server, that there is none", () => {
  const store = new Store();
  view(store);
  expect(screen.getByText("Loading Darkrooms")).toBeTruthy();
  act(() => store.connect("lost"));
  expect(screen.getByText("The server cannot be reached")).toBeTruthy();
});

test.each([
  [true, "No Darkrooms yet"],
  [false, "No Darkrooms that you may see"],
])("nothing there, all namespaces seen: %s", (all, title) => {
  const store = show();
  store.take(event("synced", { items: 0, all }));
  view(store);
  expect(screen.getByText(title)).toBeTruthy();
});

test("who may not is told so", () => {
  const store = new Store();
  store.connect("refused", new Problem(403, "Forbidden", 'user "x" may not watch darkrooms'));
  view(store);
  expect(screen.getByText("You may not see this")).toBeTruthy();
  expect(screen.getByText('user "x" may not watch darkrooms')).toBeTruthy();
});

test("the list changes by itself, and the search stands in the address", async () => {
  const store = show("cats", "dogs");
  store.take(event("synced", { items: 2, all: true }));
  view(store);
  expect(screen.getByRole("link", { name: "cats" }).getAttribute("href")).toBe("/ui/photos/cats");
  act(() => store.take(event("deleted", darkroom({ name: "dogs" }))));
  expect(screen.queryByRole("link", { name: "dogs" })).toBeNull();
  await userEvent.type(screen.getByLabelText("Search by name, source, version or domain"), "zebra");
  expect(screen.getByText("No Darkroom matches")).toBeTruthy();
  expect(location.search).toBe("?q=zebra");
  await userEvent.click(screen.getAllByRole("button", { name: "Clear all filters" })[0] ?? document.body);
  expect(screen.getByRole("link", { name: "cats" })).toBeTruthy();
  expect(location.search).toBe("");
});
