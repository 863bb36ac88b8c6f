// @vitest-environment jsdom
import { act, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { LiveContext } from "../live/useLive";
import { Store } from "../live/store";
import { Freshness } from "./Freshness";

/** The header of a page with Darkrooms, of which the named ones have waited for the operator for 90 seconds. */
function head(names: readonly string[], waiting: readonly string[]): string | null {
  vi.useFakeTimers();
  const store = new Store();
  store.connect("live");
  const late = { domains: [], replicas: 0, readyReplicas: 0 };
  const events = names.map((name) => ["added", darkroom({ name, uid: name, ...(waiting.includes(name) ? { status: late } : {}) })] as const);
  for (const [event, data] of [["reset", {}], ...events, ["synced", { all: true }]] as const) {
    store.take({ event, data: JSON.stringify(data), id: undefined });
  }
  render(
    <LiveContext value={store}>
      <Freshness />
    </LiveContext>,
  );
  act(() => void vi.advanceTimersByTime(90_000));
  return screen.getByRole("status").textContent;
}

test.each([
  ["all Darkrooms wait", ["cats", "dogs"], "Operator behind for 90 s"],
  ["one of two waits", ["cats"], "Live"],
  ["none waits", [], "Live"],
])("the head, while %s", (_, waiting, want) => {
  expect(head(["cats", "dogs"], waiting)).toBe(want);
});
