// @vitest-environment jsdom
import { act, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { compareClocks } from "../clock";
import { Age, ago } from "./AgeText";

afterEach(() => {
  vi.useRealTimers();
});

test("ages tick every second, by one timer for all of them", () => {
  vi.useFakeTimers({ now: Date.parse("2026-01-10T00:00:00Z") });
  const { unmount } = render(
    <>
      <Age since="2026-01-09T23:59:57Z" text={ago} />
      <Age since="2026-01-09T23:00:00Z" />
      <Age since={undefined} text={ago} />
    </>,
  );
  expect(screen.getByText("3s ago")).toBeTruthy();
  expect(screen.getByText("–")).toBeTruthy();
  expect(vi.getTimerCount()).toBe(1);
  act(() => {
    vi.advanceTimersByTime(1_000);
  });
  expect(screen.getByText("4s ago")).toBeTruthy();
  expect(screen.getByText("1h")).toBeTruthy();
  unmount();
  expect(vi.getTimerCount()).toBe(0);
});

const response = (date: string) => ({ headers: new Headers({ Date: date }) });

test("ages use the clock of the server, unless it differs by a few seconds", () => {
  vi.useFakeTimers({ now: Date.parse("2026-01-10T01:00:00Z") });
  const age = () => {
    const { container, unmount } = render(<Age since="2026-01-10T00:00:00Z" />);
    const { textContent } = container;
    unmount();
    return textContent;
  };
  expect(age()).toBe("1h");
  compareClocks(response("Sat, 10 Jan 2026 00:00:07 GMT"));
  expect(age()).toBe("7s");
  compareClocks(response("Sat, 10 Jan 2026 01:00:03 GMT"));
  expect(age()).toBe("1h");
  compareClocks({ headers: new Headers() });
  expect(age()).toBe("1h");
});
