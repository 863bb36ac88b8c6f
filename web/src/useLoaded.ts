import { useCallback, useEffect, useRef, useState } from "react";
import { asProblem, isAborted, type Problem } from "./api/problem";

export interface Loaded<T> {
  value: T | undefined;
  problem: Problem | undefined;
  reload: () => void;
}

/**
 * Loads something, again when `what` changes, and every so often while the page is seen.
 * What was loaded stays until the next answer comes; a failure does not take it away.
 */
export function useLoaded<T>(what: string, load: (signal: AbortSignal) => Promise<T>, every?: number): Loaded<T> {
  const [state, setState] = useState<{ what: string; value?: T; problem?: Problem }>({ what });
  const [round, setRound] = useState(0);
  const loader = useRef(load);
  useEffect(() => {
    loader.current = load;
  });
  useEffect(() => {
    const controller = new AbortController();
    const run = async () => {
      try {
        const value = await loader.current(controller.signal);
        setState({ what, value });
      } catch (thrown) {
        if (!isAborted(thrown) && !controller.signal.aborted) {
          setState((before) => ({ ...(before.what === what ? before : { what }), problem: asProblem(thrown) }));
        }
      }
    };
    void run();
    const timer =
      every &&
      setInterval(() => {
        if (document.visibilityState === "visible") {
          void run();
        }
      }, every);
    return () => {
      controller.abort();
      if (timer) {
        clearInterval(timer);
      }
    };
  }, [what, every, round]);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  const mine = state.what === what;
  return { value: mine ? state.value : undefined, problem: mine ? state.problem : undefined, reload };
}
