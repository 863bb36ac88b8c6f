// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { follow } from "./follow";

/** The responses of the server, in order; after them it does not respond. */
let answers: Response[] = [];
let asked: string[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  answers = [];
  asked = [];
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
    asked.push(path);
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

/** Follows, and records what happens. */
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

test("after a break the stream begins again", async () => {
  answers = [stream("event: synced\ndata: {}\n\nevent: modified\ndata: {}\n\n"), stream("event: synced\ndata: {}\n\n")];
  const { seen, done, stop } = start();
  await vi.waitFor(() => expect(seen).toEqual(["opened", "synced", "modified", "lost", "opened", "synced", "lost"]), 10_000);
  stop();
  await done;
});

test("a busy server is tried again", async () => {
  answers = [problem(503), problem(429), stream("event: synced\ndata: {}\n\n")];
  const { seen, done, stop } = start();
  await vi.waitFor(() => expect(seen).toEqual(["lost", "lost", "opened", "synced", "lost"]), 10_000);
  stop();
  await done;
});

test("a refusal is reported and not tried again", async () => {
  answers = [problem(403)];
  const { seen, done } = start();
  await done;
  expect(seen).toEqual(["refused 403"]);
});

test("a server that does not respond is lost within three seconds", async () => {
  const { seen, done, stop } = start();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(seen).toEqual(["lost"]);
  stop();
  await done;
});

test("a stream that stops is lost within three seconds, continues, and is opened again if it does not", async () => {
  let send: ReadableStreamDefaultController<Uint8Array> | undefined;
  vi.stubGlobal("fetch", (path: string, { signal }: RequestInit) => {
    asked.push(path);
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (send = controller) });
    const opened = send;
    signal?.addEventListener("abort", () => opened?.error(new DOMException("over", "AbortError")));
    return Promise.resolve(new Response(body));
  });
  const { seen, done, stop } = start();
  const beat = async () => {
    send?.enqueue(new TextEncoder().encode(":\n\n"));
    await vi.advanceTimersByTimeAsync(1_000);
  };
  for (let second = 0; second < 30; second++) {
    await beat();
  }
  expect(seen).toEqual(["opened"]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(seen).toEqual(["opened", "lost"]);
  await beat();
  expect(seen).toEqual(["opened", "lost", "opened"]);
  expect(asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(asked.length).toBeGreaterThan(1);
  stop();
  await done;
});

test("a browser that goes offline is reported at once, and the stream is opened as soon as it is online", async () => {
  const { seen, done, stop } = start();
  await vi.advanceTimersByTimeAsync(0);
  window.dispatchEvent(new Event("offline"));
  await vi.advanceTimersByTimeAsync(0);
  expect(seen).toEqual(["lost"]);
  window.dispatchEvent(new Event("online"));
  await vi.advanceTimersByTimeAsync(0);
  expect(asked).toHaveLength(2);
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
