// @vitest-environment jsdom
import { act, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { CopyButton } from "../detail/CopyButton";

afterEach(() => {
  vi.useRealTimers();
  Reflect.deleteProperty(navigator, "clipboard");
});

test.each([true, false])("a text is copied, and that is said for a moment if the browser allows it (%s)", async (allowed) => {
  vi.useFakeTimers();
  let copied = "";
  const writeText = (text: string) => {
    copied = text;
    return allowed ? Promise.resolve() : Promise.reject(new DOMException("refused", "NotAllowedError"));
  };
  Object.defineProperty(navigator, "clipboard", { value: { writeText }, configurable: true });
  render(<CopyButton text="cats" label="Copy cats" />);
  await act(async () => {
    screen.getByRole("button", { name: "Copy cats" }).click();
    await vi.advanceTimersByTimeAsync(0);
  });
  expect(copied).toBe("cats");
  expect(screen.queryByText("Copied") !== null).toBe(allowed);
  await act(() => vi.advanceTimersByTimeAsync(10_000));
  expect(screen.queryByText("Copied")).toBeNull();
});
