// @vitest-environment jsdom
import { act, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { CopyButton } from "../detail/CopyButton";

afterEach(() => {
  vi.useRealTimers();
  Reflect.deleteProperty(navigator, "clipboard");
});

test.each(["https", "http", "refused"])("a text is copied, and that is said for a moment (%s)", async (where) => {
  vi.useFakeTimers();
  let copied = "";
  if (where !== "http") {
    const writeText = (text: string) => {
      copied = where === "https" ? text : "";
      return where === "https" ? Promise.resolve() : Promise.reject(new DOMException("refused", "NotAllowedError"));
    };
    Object.defineProperty(navigator, "clipboard", { value: { writeText }, configurable: true });
  }
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- what pages of plain HTTP have
  document.execCommand = () => {
    copied = document.querySelector("textarea")?.value ?? "";
    return true;
  };
  render(<CopyButton text="cats" label="Copy cats" />);
  await act(async () => {
    screen.getByRole("button", { name: "Copy cats" }).click();
    await vi.advanceTimersByTimeAsync(0);
  });
  expect(copied).toBe("cats");
  expect(screen.getByText("Copied")).toBeTruthy();
  await act(() => vi.advanceTimersByTimeAsync(10_000));
  expect(screen.queryByText("Copied")).toBeNull();
  expect(document.querySelector("textarea")).toBeNull();
});
