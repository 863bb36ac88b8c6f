// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { follow } from "./follow";

/** What the server answers, one after the other; then it does not answer any more. */
let answers: Response[] = [];
let asked: Headers[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  answers = [];
  asked = [];
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    asked.push(new Headers(init.headers));
    const next = answers.shift();
    if (next) {
      return Promise.resolve(next);
    }
    return new Promise((_, reject) => init.signal?.addEventListener("abort", () => reject(new DOMException("over", "AbortError"))));
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const stream = (text: string) => new Response(text);
const problem = (status: number) => new Response(JSON.stringify({ title: "No", status, detail: "no" }), { status });

/** Follows, and writes down what happens. */
function start() {
  const seen: string[] = [];
  const controller = new AbortController();
  vi.spyOn(controller.signal, "addEventListener");
  const done = follow(
    "/events/stream",
    {
      opened: () => seen.push("opened"),
      event: ({ event = "" }) => seen.push(event),
      lost: () => seen.push("lost"),
      refused: ({ status }) => seen.push(`refused ${status}`),
    },
    controller.signal,
  );
  return { seen, done, stop: () => controller.abort(), signal: controller.signal };
}

test("after a break it resumes with the last id", async () => {
  answers = [stream("id: E-7\nevent: synced\ndata: {}\n\nevent: modified\ndata: {}\n\n"), stream("id: E-9\nevent: added\ndata: {}\n\n")];
  const { seen, done, stop } = start();
  await vi.waitFor(() => expect(seen).toEqual(["opened", "synced", "modified", "lost", "opened", "added", "lost"]), 10_000);
  expect(asked[0]?.get("Last-Event-ID")).toBeNull();
  expect(asked[1]?.get("Last-Event-ID")).toBe("E-7");
  stop();
  await done;
});

test("a server that is busy is tried again", async () => {
  answers = [problem(503), problem(429), stream("event: synced\ndata: {}\n\n")];
  const { seen, done, stop } = start();
  await vi.waitFor(() => expect(seen).toEqual(["lost", "lost", "opened", "synced", "lost"]), 10_000);
  stop();
  await done;
});

test("a refusal is told, and not tried again", async () => {
  answers = [problem(403)];
  const { seen, done } = start();
  await done;
  expect(seen).toEqual(["refused 403"]);
});

test("a server that is silent for too long is taken for gone", async () => {
  const { seen, done, stop } = start();
  await vi.advanceTimersByTimeAsync(45_000);
  expect(seen).toEqual(["lost"]);
  stop();
  await done;
});

test("a page that is hidden and shown again leaves no listeners", async () => {
  const visibility = vi.spyOn(document, "visibilityState", "get");
  const { done, stop, signal } = start();
  for (let turn = 0; turn < 6; turn++) {
    visibility.mockReturnValue(turn % 2 ? "visible" : "hidden");
    document.dispatchEvent(new Event("visibilitychange"));
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(asked).toHaveLength(3);
  const options = vi.mocked(signal).addEventListener.mock.calls.map(([, , options]) => options);
  expect(options.filter((each) => typeof each !== "object" || !each.signal?.aborted)).toHaveLength(1);
  stop();
  await done;
  visibility.mockRestore();
});
