// @vitest-environment jsdom
import { act, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { Store } from "../live/store";
import { LiveContext } from "../live/useLive";
import { Loading } from "./Loading";

test("a loading view shows within a second that it is loading, and that the connection is lost", () => {
  vi.useFakeTimers();
  const store = new Store();
  render(
    <LiveContext value={store}>
      <Loading label="Loading the history" />
    </LiveContext>,
  );
  expect(screen.getByRole("status").textContent).toBe("");
  act(() => void vi.advanceTimersByTime(1_000));
  expect(screen.getByRole("status").textContent).toBe("Loading the history…");
  act(() => store.connect("lost"));
  expect(screen.getByRole("status").textContent).toBe("No connection to the server. Reconnecting…");
  vi.useRealTimers();
});
