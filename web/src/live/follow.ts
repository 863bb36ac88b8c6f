import { createParser, type EventSourceMessage } from "eventsource-parser";
import { signInAgain } from "../api/client";
import { problemOf, type Problem } from "../api/problem";

/** The server sends a sign of life every 15 seconds; after three of them it is taken for gone. */
const silence = 45_000;
/** Waits between attempts, in milliseconds; the last is repeated. */
const waits = [500, 1_000, 2_000, 5_000, 10_000];

export interface Follower {
  /** A stream is open. */
  opened: () => void;
  event: (event: EventSourceMessage) => void;
  /** The stream broke, or could not be opened; it is tried again. */
  lost: () => void;
  /** The server refused: it is not tried again, unless it is busy. */
  refused: (problem: Problem) => void;
}

/**
 * follow reads live events until the signal ends it. After a break it resumes with the last id, so that no change is
 * lost; also after a new sign-in of the same user, and when the page becomes visible: hidden pages have no stream,
 * because over HTTP/1.1 browsers open six connections per server, and a seventh tab would wait forever.
 */
export async function follow(path: string, follower: Follower, signal: AbortSignal): Promise<void> {
  let failures = 0;
  let lastId: string | undefined;
  while (await isVisible(signal)) {
    const attempt = new AbortController();
    const stop = () => attempt.abort();
    const hide = () => isHidden() && stop();
    signal.addEventListener("abort", stop, { signal: attempt.signal });
    document.addEventListener("visibilitychange", hide, { signal: attempt.signal });
    let watchdog = setTimeout(stop, silence);
    try {
      const response = await fetch(path, {
        credentials: "same-origin",
        headers: lastId ? { Accept: "text/event-stream", "Last-Event-ID": lastId } : { Accept: "text/event-stream" },
        signal: attempt.signal,
      });
      if (!response.ok || !response.body) {
        const problem = await problemOf(response);
        if (problem.status === 401 && (await signInAgain())) {
          continue;
        }
        if (problem.status >= 400 && problem.status < 500 && problem.status !== 429) {
          follower.refused(problem);
          return;
        }
        throw problem;
      }
      follower.opened();
      failures = 0;
      // In place of EventSource, which neither tells a refusal from a break nor notices silence.
      const parser = createParser({
        onEvent: (event) => {
          follower.event(event);
          lastId = event.id ?? lastId;
        },
      });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) {
          break;
        }
        clearTimeout(watchdog);
        watchdog = setTimeout(stop, silence);
        parser.feed(value);
      }
    } catch {
      // Told below, in the same words as an end.
    } finally {
      clearTimeout(watchdog);
      stop();
    }
    if (signal.aborted || isHidden()) {
      continue;
    }
    follower.lost();
    await pause(waits[Math.min(failures++, waits.length - 1)] ?? 0, signal);
  }
}

const isHidden = (): boolean => document.visibilityState === "hidden";

/** Waits until the page is visible. It resolves to false once that is over. */
async function isVisible(signal: AbortSignal): Promise<boolean> {
  while (isHidden() && !signal.aborted) {
    const over = new AbortController();
    await new Promise((resolve) => {
      document.addEventListener("visibilitychange", resolve, { signal: over.signal });
      signal.addEventListener("abort", resolve, { signal: over.signal });
    }).finally(() => over.abort());
  }
  return !signal.aborted;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds * (0.75 + Math.random() / 2));
    signal.addEventListener("abort", end);
  });
}
