// @vitest-environment jsdom
import { expect, test, vi } from "vitest";
import { lazyView, loadInIdleTime } from "./lazyView";

test("all views are loaded in idle time, one after the other, also after one that cannot be loaded", async () => {
  const idle: (() => void)[] = [];
  vi.stubGlobal("requestIdleCallback", (run: () => void) => idle.push(run));
  const loaded: string[] = [];
  for (const name of ["list", "broken", "form"]) {
    lazyView(async () => {
      loaded.push(name);
      await Promise.resolve();
      if (name === "broken") {
        throw new Error("the server is away");
      }
      return { default: () => null };
    });
  }
  loadInIdleTime();
  expect(loaded).toEqual([]);
  for (const want of [["list"], ["list", "broken"], ["list", "broken", "form"]]) {
    await vi.waitFor(() => expect(idle).toHaveLength(1));
    idle.shift()?.();
    expect(loaded).toEqual(want);
  }
});
