// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Suspense } from "react";
import { expect, test, vi } from "vitest";
import { lazyView } from "../lazyView";
import { Boundary } from "./Boundary";

const renderView = (load: () => Promise<{ default: () => string }>) => {
  const View = lazyView(load);
  return render(
    <Boundary>
      <Suspense fallback="Loading">
        <View />
      </Suspense>
    </Boundary>,
  );
};

const answer = () => Promise.resolve(new Response("{}"));

test("a view whose code cannot be loaded waits for the server before it reloads the page", async () => {
  const reload = vi.fn();
  vi.stubGlobal("location", { reload, pathname: "/ui/create" });
  let asked = 0;
  vi.stubGlobal("fetch", () => (++asked < 2 ? Promise.reject(new TypeError("Failed to fetch")) : answer()));
  vi.useFakeTimers();
  renderView(() => Promise.reject(new TypeError("Failed to fetch dynamically imported module")));
  await vi.advanceTimersByTimeAsync(100);
  expect([asked, reload.mock.calls.length]).toEqual([1, 0]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(reload).toHaveBeenCalledTimes(1);
  vi.useRealTimers();
});

test("a view whose code cannot be loaded reloads the page once, then offers to do so", async () => {
  const reload = vi.fn();
  vi.stubGlobal("location", { reload });
  vi.stubGlobal("fetch", answer);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const missing = () => Promise.reject(new TypeError("Failed to fetch dynamically imported module"));

  const { unmount } = renderView(missing);
  await vi.waitFor(() => expect(reload).toHaveBeenCalledTimes(1));
  expect(screen.getByText("Loading")).toBeDefined();
  unmount();

  renderView(missing);
  await userEvent.click(await screen.findByRole("button", { name: "Reload" }));
  expect(reload).toHaveBeenCalledTimes(2);
});

