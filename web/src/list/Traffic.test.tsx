// @vitest-environment jsdom
import { act, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { Traffic } from "./Traffic";

/** What the gate has counted when it is asked the first time, and with each further request. */
let asked: number;
let status: number;
/** Scrolls the row into view, or out of it. */
let show: (isIntersecting: boolean) => void;

beforeEach(() => {
  [asked, status] = [0, 200];
  vi.useFakeTimers();
  vi.stubGlobal("fetch", () => {
    asked++;
    const gate = { pod: "cats-1", requests: 30 * asked, images: 20 * asked, cached: 15 * asked, errors: 0, bytes: 0, saved: 15 * 2 ** 21 * asked, durations: [] };
    return Promise.resolve(new Response(JSON.stringify(status === 200 ? { at: new Date().toISOString(), pods: 1, gates: [gate] } : { status, title: "No", detail: "no" }), { status }));
  });
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(callback: (entries: { isIntersecting: boolean }[]) => void) {
        show = (isIntersecting) => act(() => callback([{ isIntersecting }]));
      }
      observe = () => undefined;
      disconnect = () => undefined;
    },
  );
});
afterEach(() => void vi.useRealTimers());

const pass = (seconds: number) => act(() => vi.advanceTimersByTimeAsync(seconds * 1_000));

test("requests, hit rate and bytes saved are shown while the row is in view", async () => {
  render(<Traffic darkroom={darkroom({ gate: {} })} />);
  await pass(60);
  expect(asked).toBe(0);
  show(true);
  await pass(16);
  expect(asked).toBe(2);
  expect(screen.getByText("2.0/s · 75 % cached · 2.0 MiB/s saved")).toBeTruthy();
  show(false);
  await pass(60);
  expect(asked).toBe(2);
});

test("without the right to figures they are not asked for again", async () => {
  status = 403;
  render(<Traffic darkroom={darkroom({ gate: {} })} />);
  show(true);
  await pass(60);
  expect(asked).toBe(1);
  expect(screen.queryByText(/cached/)).toBeNull();
});
