import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { api } from "./client";
import { Problem } from "./problem";
import { reads } from "./reads";

const photos = { namespace: "photos", name: "a" };

beforeEach(() => {
  vi.useFakeTimers();
  // A connection that was lost without a word: nothing comes, and nothing ends it.
  vi.stubGlobal("fetch", (_: string, { signal }: RequestInit) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new DOMException("over", "AbortError")))));
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** What does for every argument: a key, a query, a body, a version and a signal. */
const anything = Object.assign(new AbortController().signal, photos);

/** All calls but that of a log, which begins with its first line. */
const calls = Object.entries(api).filter(([name]) => name !== "log") as [string, (...args: unknown[]) => Promise<unknown>][];

test.each(calls)("%s does not wait without end for an answer", async (_, call) => {
  const outcome = call(anything, anything, anything, anything).catch((thrown: unknown) => thrown);
  await vi.advanceTimersByTimeAsync(120_000);
  await expect(Promise.race([outcome, Promise.resolve("it still waits")])).resolves.toMatchObject({ status: 0, title: "No connection" });
});

test("a call that is given up is no problem of the connection", async () => {
  const controller = new AbortController();
  const outcome = api.get(photos, controller.signal).catch((thrown: unknown) => thrown);
  controller.abort();
  await expect(outcome).resolves.toMatchObject({ name: "AbortError" });
});

test("a read is repeated if the server had no time for it, and not if it was refused or a source failed", () => {
  const retry = reads.getDefaultOptions().queries?.retry as (failures: number, thrown: unknown) => boolean;
  const statuses = [0, 400, 401, 403, 404, 408, 409, 412, 413, 422, 429, 500, 502, 503, 504];
  expect(statuses.filter((status) => retry(0, new Problem(status, "", "")))).toEqual([0, 429, 503]);
});
