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

test("a view whose code cannot be loaded reloads the page once, then offers to do so", async () => {
  const reload = vi.fn();
  vi.stubGlobal("location", { reload });
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

