// @vitest-environment jsdom
import { act, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { hasFocus } from "../../test/focus";
import { Problem } from "../api/problem";
import { LiveContext } from "../live/useLive";
import { Store } from "../live/store";
import { ListView } from "./ListView";

import { placeOf } from "../words/sources";

// Each row calls it once when it renders.
vi.mock(import("../words/sources"), async (original) => {
  const module = await original();
  return { ...module, placeOf: vi.fn(module.placeOf) };
});

let mayWrite: boolean;

beforeEach(() => {
  mayWrite = true;
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify({ create: mayWrite ? ["default"] : [], update: mayWrite ? ["zoo"] : [] }))));
});

afterEach(() => {
  vi.mocked(placeOf).mockClear();
});

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

test("it shows that it is loading, or that there is no connection", () => {
  const store = new Store();
  view(store);
  expect(screen.getByText("Loading Darkrooms")).toBeTruthy();
  act(() => store.connect("lost"));
  expect(screen.getByText("No connection to the server")).toBeTruthy();
});

test.each([
  [true, "No Darkrooms yet"],
  [false, "No Darkrooms visible to you"],
])("nothing there, all namespaces seen: %s", async (all, title) => {
  mayWrite = false;
  const store = show();
  store.take(event("synced", { items: 0, all }));
  view(store);
  expect(await screen.findByText(title)).toBeTruthy();
});

test("users who see no Darkroom are told where they may create one", async () => {
  const store = show();
  store.take(event("synced", { items: 0, all: false }));
  view(store);
  expect(await screen.findByText("You can create Darkrooms in: default")).toBeTruthy();
});

test("a missing right is reported", () => {
  const store = new Store();
  store.connect("refused", new Problem(403, "Forbidden", 'user "x" may not watch darkrooms'));
  view(store);
  expect(screen.getByText("Permission denied")).toBeTruthy();
  expect(screen.getByText('user "x" may not watch darkrooms')).toBeTruthy();
});

test("the list changes by itself, and the search is in the URL", async () => {
  const store = show("cats", "dogs");
  store.take(event("synced", { items: 2, all: true }));
  view(store);
  expect(screen.getByRole("link", { name: "cats" }).getAttribute("href")).toBe("/ui/photos/cats");
  act(() => store.take(event("deleted", darkroom({ name: "dogs" }))));
  expect(screen.queryByRole("link", { name: "dogs" })).toBeNull();
  await userEvent.type(screen.getByLabelText("Search by name, source, version, domain or reason"), "zebra");
  expect(screen.getByText("No matching Darkrooms")).toBeTruthy();
  expect(location.search).toBe("?q=zebra");
  await userEvent.click(screen.getAllByRole("button", { name: "Clear all filters" })[0] ?? document.body);
  expect(screen.getByRole("link", { name: "cats" })).toBeTruthy();
  expect(location.search).toBe("");
});

const broken = (name: string, reason: string, message: string) =>
  darkroom({
    name,
    status: { phase: "Degraded", domains: [], replicas: 1, readyReplicas: 0, message, conditions: [{ type: "Ready", status: "False", reason, message }] },
  });

test("Darkrooms that need attention come first, with the reason, and can be filtered by it", async () => {
  const store = show("cats");
  store.take(event("added", broken("dogs", "ImagePullFailed", "cannot pull example/darkroom:nope")));
  store.take(event("added", broken("zebras", "DomainConflict", "host zebras.example.com is already claimed")));
  store.take(event("synced", { items: 3, all: true }));
  view(store);
  const rows = () => screen.getAllByRole("row").slice(1).map((row) => row.querySelector("a")?.textContent);
  expect(rows()).toEqual(["dogs", "zebras", "cats"]);
  expect(screen.getByText("Cannot pull example/darkroom:nope").textContent).toBe("Container image pull failed: Cannot pull example/darkroom:nope");
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "Reason" }));
  await user.click(await screen.findByRole("checkbox", { name: "Host claimed by another Darkroom 1" }));
  expect(rows()).toEqual(["zebras"]);
  expect(location.search).toBe("?reason=DomainConflict");
  await user.click(screen.getByRole("button", { name: "Container image pull failed (1)" }));
  expect(rows()).toEqual(["dogs"]);
});

test("an event renders the row that it changes, and no other", () => {
  const store = show("cats", "dogs", "zebras");
  store.take(event("synced", { items: 3, all: true }));
  view(store);
  vi.mocked(placeOf).mockClear();
  act(() => store.take(event("modified", darkroom({ name: "dogs", status: { ...darkroom().status, pods: "1/7" }, replicas: 7 }))));
  expect(screen.getByText("1/7")).toBeTruthy();
  expect(placeOf).toHaveBeenCalledTimes(1);
});

test("one Darkroom that waits for the operator needs attention, regardless of the browser's clock", async () => {
  const now = Date.now();
  const clock = vi.spyOn(Date, "now").mockReturnValue(now);
  const store = show("cats");
  store.take(event("added", darkroom({ name: "late", createdAt: "2001-01-01T00:00:00Z", status: { domains: [], replicas: 0, readyReplicas: 0 } })));
  store.take(event("synced", { items: 2, all: true }));
  view(store);
  expect(screen.queryByRole("group", { name: "Needs attention" })).toBeNull();
  clock.mockReturnValue(now + 90_000);
  const group = await screen.findByRole("group", { name: "Needs attention" });
  expect(group.textContent).toBe("Needs attention (1):Waiting for the operator (1): late");
});

test("a keyboard reaches the first row from the heading in three steps", async () => {
  const user = userEvent.setup();
  const store = show("cats", "dogs");
  store.take(event("synced", { items: 2, all: true }));
  view(store);
  const heading = screen.getByRole("heading", { level: 1 });
  heading.tabIndex = -1; // as when the view is opened
  heading.focus();
  await user.tab();
  await hasFocus(() => screen.getByRole("link", { name: "Skip to the first Darkroom" }));
  await user.keyboard("{Enter}");
  await user.tab();
  await hasFocus(() => screen.getByRole("link", { name: "cats" }));
});

test("without rows there is nothing to skip to", () => {
  const store = show();
  store.take(event("synced", { items: 0, all: true }));
  view(store);
  expect(screen.queryByText("Skip to the first Darkroom")).toBeNull();
});
