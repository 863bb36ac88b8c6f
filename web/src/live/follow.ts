import { createParser, type EventSourceMessage } from "eventsource-parser";
import { signInAgain } from "../api/client";
import { problemOf, type Problem } from "../api/problem";
import { compareClocks } from "../clock";

/** The server sends a keep-alive every second. After this time without one, in milliseconds, the connection counts as lost. */
const quiet = 2_500;
/** After this time without a keep-alive, in milliseconds, the stream is reopened. */
const silence = 10_000;
/** Delays between attempts, in milliseconds; the last is repeated. */
const waits = [500, 1_000, 2_000, 5_000];

export interface Follower {
  /** A stream was opened, or continues after silence. */
  opened: () => void;
  event: (event: EventSourceMessage) => void;
  /** The stream broke, is silent, or could not be opened. It is retried. */
  lost: () => void;
  /** The server refused the stream. It is not retried. */
  refused: (problem: Problem) => void;
}

/**
 * follow reads live events until the signal ends it. Each stream begins with the complete list, like `kubectl get -w`:
 * after a break, after a new sign-in of the same user, and when the page becomes visible. Hidden pages have no stream,
 * because over HTTP/1.1 browsers open six connections per server, and a seventh tab would wait forever.
 */
export async function follow(path: string, follower: Follower, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (await isVisible(signal)) {
    const attempt = new AbortController();
    const until = { signal: attempt.signal };
    const stop = () => attempt.abort();
    signal.addEventListener("abort", stop, until);
    document.addEventListener("visibilitychange", () => isHidden() && stop(), until);
    window.addEventListener("offline", stop, until);
    const life = signsOfLife(() => isHidden() || follower.lost(), stop);
    try {
      const response = await fetch(path, { credentials: "same-origin", headers: { Accept: "text/event-stream" }, signal: attempt.signal });
      compareClocks(response);
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
      // Instead of EventSource, which neither distinguishes a refusal from a break nor detects silence.
      const parser = createParser({ onEvent: follower.event });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) {
          break;
        }
        if (life.sign()) {
          follower.opened();
        }
        parser.feed(value);
      }
    } catch {
      // Handled below, like the end of a stream.
    } finally {
      life.end();
      stop();
    }
    if (signal.aborted || isHidden()) {
      continue;
    }
    follower.lost();
    await pause(waits[Math.min(failures++, waits.length - 1)] ?? 0, signal);
  }
}

/** Watches for keep-alives. `sign` records one, and reports whether it ended a silence. */
function signsOfLife(onQuiet: () => void, onSilence: () => void) {
  let isQuiet = false;
  const becomeQuiet = () => {
    isQuiet = true;
    onQuiet();
  };
  const start = () => [setTimeout(becomeQuiet, quiet), setTimeout(onSilence, silence)];
  let timers = start();
  const end = () => timers.forEach(clearTimeout);
  const sign = () => {
    const was = isQuiet;
    isQuiet = false;
    end();
    timers = start();
    return was;
  };
  return { sign, end };
}

const isHidden = (): boolean => document.visibilityState === "hidden";

/** Waits until the page is visible. Resolves to false when the signal is aborted. */
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

/** Waits for a time, or until the browser is online again. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  await new Promise<unknown>((resolve) => {
    const timer = setTimeout(resolve, milliseconds * (0.75 + Math.random() / 2));
    over.signal.addEventListener("abort", () => clearTimeout(timer));
    window.addEventListener("online", resolve, { signal: over.signal });
    signal.addEventListener("abort", resolve, { signal: over.signal });
  }).finally(() => over.abort());
}
