// @vitest-environment jsdom
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import type { Darkroom } from "../api/types";
import { ListView } from "../list/ListView";
import { Toasts } from "../layout/toasts";
import { LiveContext } from "../live/useLive";
import { Store } from "../live/store";
import { pausedAnnotation } from "../model/annotations";
import { changeAll, partition } from "./bulk";

const stored = [
  darkroom({ name: "cats", labels: { team: "a" } }),
  darkroom({ name: "dogs", labels: { team: "a" } }),
  darkroom({ name: "held", labels: { team: "a" }, annotations: { [pausedAnnotation]: "true" } }),
  darkroom({ name: "shop", labels: { team: "b" } }),
];
let writes: string[];
/** Names that the cluster refuses to change. */
let forbidden: string[];

beforeEach(() => {
  writes = [];
  forbidden = [];
  history.replaceState(null, "", "/ui/");
  vi.stubGlobal("fetch", (path: string, { body }: RequestInit = {}) => {
    if (path.startsWith("/access")) {
      return Promise.resolve(new Response(JSON.stringify({ create: true, update: true })));
    }
    const name = path.split("/").pop() ?? "";
    writes.push(`${name} ${typeof body === "string" ? body : ""}`);
    const answer = forbidden.includes(name)
      ? { status: 403, body: { title: "Forbidden", status: 403, detail: `you may not update ${name}` } }
      : { status: 200, body: { ...stored.find((d) => d.name === name), etag: '"99"' } };
    return Promise.resolve(new Response(JSON.stringify(answer.body), { status: answer.status }));
  });
});

async function choose(entry: string) {
  const store = new Store();
  for (const [event, data] of [["reset", {}], ...stored.map((d) => ["added", d] as const), ["synced", { all: true }]] as [string, unknown][]) {
    store.take({ event, data: JSON.stringify(data), id: undefined });
  }
  render(
    <LiveContext value={store}>
      <ListView />
      <Toasts />
    </LiveContext>,
  );
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "Label" }));
  await user.click(await screen.findByRole("checkbox", { name: "team=a 3" }));
  const actions = await screen.findByRole<HTMLButtonElement>("button", { name: "Actions" });
  expect(actions.disabled).toBe(true);
  await user.click(screen.getByRole("checkbox", { name: "Select all rows" }));
  await user.click(actions);
  await user.click(await screen.findByRole("menuitem", { name: entry }));
  await screen.findByRole("dialog");
  return user;
}

test("an action changes those that are ticked", async () => {
  const user = await choose("Pause reconciliation");
  await user.click(screen.getByRole("button", { name: "Cancel" }));
  await user.click(screen.getByRole("checkbox", { name: "Tick cats" }));
  await user.click(screen.getByRole("checkbox", { name: "Tick held" }));
  expect(screen.getByText("1 of 3 Darkrooms ticked")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Actions" }));
  await user.click(await screen.findByRole("menuitem", { name: "Restart pods" }));
  expect(await screen.findByText("Restart the pods of 1 Darkroom?")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Restart" }));
  await waitFor(() => expect(writes.map((write) => write.split(" ")[0])).toEqual(["dogs"]));
});

test("an action leaves out those that need it not", async () => {
  const user = await choose("Pause reconciliation");
  expect(screen.getByText("Pause the reconciliation of 2 Darkrooms?")).toBeTruthy();
  expect(screen.getByText("1 Darkroom left out. Reconciliation is already paused.")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "The same with kubectl" }));
  expect(screen.getByRole("region", { name: "kubectl command" }).textContent).toBe(
    ["cats", "dogs"].map((name) => `kubectl -n photos annotate darkroom/${name} --overwrite ${pausedAnnotation}=true`).join("\n"),
  );
  await user.click(screen.getByRole("button", { name: "Pause" }));
  expect(await screen.findByText("Reconciliation paused for 2 Darkrooms")).toBeTruthy();
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(writes.sort()).toEqual(["cats", "dogs"].map((name) => `${name} ${JSON.stringify({ annotations: { [pausedAnnotation]: "true" } })}`));
  writes = [];
  forbidden = ["dogs"];
  await user.click(screen.getByRole("button", { name: "Undo" }));
  expect(await screen.findByText("Not undone: photos/dogs: you may not update dogs")).toBeTruthy();
  expect(writes.sort()).toEqual(["cats", "dogs"].map((name) => `${name} ${JSON.stringify({ annotations: { [pausedAnnotation]: null } })}`));
});

test("those that could not be changed are named, and can be tried again", async () => {
  forbidden = ["dogs"];
  const user = await choose("Pause reconciliation");
  await user.click(screen.getByRole("button", { name: "Pause" }));
  expect(await screen.findByText("photos/dogs: you may not update dogs")).toBeTruthy();
  expect(screen.getByText(/1 of 2 Darkrooms not changed/)).toBeTruthy();
  forbidden = [];
  writes = [];
  await user.click(screen.getByRole("button", { name: "Try 1 Darkroom again" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(writes).toHaveLength(1);
});

test("no Darkroom is changed after a stop", async () => {
  let stop = false;
  const changed: Darkroom[] = [];
  const many = Array.from({ length: 20 }, (_, i) => darkroom({ name: `d${i}` }));
  const failures = await changeAll(
    many,
    (one) => {
      changed.push(one);
      stop = changed.length >= 6;
      return Promise.resolve();
    },
    () => undefined,
    () => stop,
  );
  expect(failures).toEqual([]);
  expect(changed.length).toBe(6);
});

test("all are left out where an action is possible for none", () => {
  expect(partition("resume", stored.slice(0, 2))).toEqual({ possible: [], refused: new Map([["Reconciliation is not paused", 2]]) });
});
