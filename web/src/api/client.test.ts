import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { api } from "./client";
import { Problem } from "./problem";
import { reads } from "./reads";

const photos = { namespace: "photos", name: "a" };

/** A connection that was lost silently: no data arrives, and only the signal ends it. */
const silence = (signal?: AbortSignal | null) => new Promise<never>((_, reject) => signal?.addEventListener("abort", () => reject(new DOMException("over", "AbortError"))));

/** Responses whose connection is lost at each point. */
const losses: Record<string, (signal?: AbortSignal | null) => Promise<unknown>> = {
  "before a response": silence,
  "within a response": (signal) => Promise.resolve(new Response(new ReadableStream({ pull: () => silence(signal) }))),
  "within a refusal": (signal) => Promise.resolve(new Response(new ReadableStream({ pull: () => silence(signal) }), { status: 403 })),
};
const answer = (how: string) => vi.stubGlobal("fetch", (_: string, { signal }: RequestInit) => losses[how]?.(signal));

beforeEach(() => void vi.useFakeTimers());

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Valid arguments in the fourth and later positions: a key, a query, a body, a version and a signal. */
const anything = Object.assign(new AbortController().signal, photos);
const read = (response: Response) => response.text();
const calls = Object.entries(api) as [string, (...args: unknown[]) => Promise<unknown>][];

describe.each(Object.keys(losses))("a connection that is lost %s", (how) => {
  test.each(calls)("does not keep %s waiting", async (name, call) => {
    answer(how);
    const outcome = call(anything, anything, anything, read, anything).catch((thrown: unknown) => thrown);
    await vi.advanceTimersByTimeAsync(60_000);
    const ended = await Promise.race([outcome, Promise.resolve("it still waits")]);
    if (how === "within a refusal") {
      expect(ended).toMatchObject({ status: 403 });
    } else if (how === "within a response" && ["signOut", "remove"].includes(name)) {
      // They need only the status.
      expect(ended).toBeUndefined();
    } else if (how === "within a response" && name === "check") {
      // The response is in a header.
      expect(ended).toEqual([]);
    } else if (how === "within a response" && name === "followLog") {
      // The request continues until the page knows that its connection is lost.
      expect(ended).toBe("it still waits");
    } else {
      expect(ended).toMatchObject({ status: 0, title: "No connection" });
    }
  });
});

test("a call that is given up is not reported as a connection problem", async () => {
  answer("before a response");
  const controller = new AbortController();
  const outcome = api.get(photos, controller.signal).catch((thrown: unknown) => thrown);
  controller.abort();
  await expect(outcome).resolves.toMatchObject({ name: "AbortError" });
});

test("a read is repeated if the server had no time for it, but not if it was refused or a source failed", () => {
  const retry = reads.getDefaultOptions().queries?.retry as (failures: number, thrown: unknown) => boolean;
  const statuses = [0, 400, 401, 403, 404, 408, 409, 412, 413, 422, 429, 500, 502, 503, 504];
  expect(statuses.filter((status) => retry(0, new Problem(status, "", "")))).toEqual([0, 429, 503]);
});
