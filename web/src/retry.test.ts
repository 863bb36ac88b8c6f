import { beforeEach, expect, test, vi } from "vitest";
import { api } from "./api/client";
import { retry } from "./retry";

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

/** Fails so often, then succeeds. */
const failing = (times: number, thrown: Error = new TypeError("Failed to fetch")) =>
  vi.fn(() => (times-- > 0 ? Promise.reject(thrown) : Promise.resolve(new Response("{}"))));

test.each([0, 1, 2])("a read that fails %d times is repeated", async (times) => {
  const attempt = failing(times);
  const result = retry(attempt);
  await vi.runAllTimersAsync();
  expect(await result).toBeInstanceOf(Response);
  expect(attempt).toHaveBeenCalledTimes(times + 1);
});

test("after three attempts it fails", async () => {
  const attempt = failing(9);
  const result = expect(retry(attempt)).rejects.toThrow("Failed to fetch");
  await vi.runAllTimersAsync();
  await result;
  expect(attempt).toHaveBeenCalledTimes(3);
});

test("the API's reads are repeated, but not what was canceled", async () => {
  const fetched = failing(1);
  vi.stubGlobal("fetch", fetched);
  const who = api.whoAmI();
  await vi.runAllTimersAsync();
  expect(await who).toEqual({});
  expect(fetched).toHaveBeenCalledTimes(2);

  const canceled = failing(1, new DOMException("over", "AbortError"));
  vi.stubGlobal("fetch", canceled);
  await expect(api.whoAmI()).rejects.toThrow("over");
  expect(canceled).toHaveBeenCalledTimes(1);
});

test("the API's writes are not repeated: the lost answer may have been a success", async () => {
  const fetched = failing(1);
  vi.stubGlobal("fetch", fetched);
  await expect(api.signIn("token")).rejects.toThrow("The server cannot be reached");
  expect(fetched).toHaveBeenCalledTimes(1);
});
