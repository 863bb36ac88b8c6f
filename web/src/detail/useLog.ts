import { useEffect, useState } from "react";
import { api, type LogQuery } from "../api/client";
import { asProblem, type Problem } from "../api/problem";
import type { Key } from "../api/types";
import { useIsLost } from "../live/useLive";
import { LogBuffer } from "./log";

/** The minimum time between two renders of a log, in milliseconds. */
const pace = 200;

export interface LogState {
  lines: readonly string[];
  /** Whether the log has ended. */
  ended: boolean;
  problem: Problem | undefined;
}

const nothing: LogState = { lines: [], ended: false, problem: undefined };

/** Reads the log of a pod, again in each round and after a lost connection. */
export function useLog(of: Key, pod: string, query: LogQuery, round: number): LogState {
  const isLost = useIsLost();
  const what = JSON.stringify([of.namespace, of.name, pod, query, round]);
  const [state, setState] = useState<LogState & { what: string }>({ ...nothing, what });
  useEffect(() => {
    if (isLost) {
      return undefined; // keep the lines so far
    }
    const controller = new AbortController();
    const buffer = new LogBuffer();
    let due: ReturnType<typeof setTimeout> | undefined;
    const show = (part: Partial<LogState> = {}) => {
      clearTimeout(due);
      due = undefined;
      if (!controller.signal.aborted) {
        setState({ ...nothing, what, lines: buffer.read(), ...part });
      }
    };
    const add = (text: string) => {
      buffer.add(text);
      due ??= setTimeout(show, pace);
    };
    void api.followLog(of, pod, query, add, controller.signal).then(
      () => show({ ended: true }),
      (thrown: unknown) => show({ ended: true, problem: asProblem(thrown) }),
    );
    return () => {
      clearTimeout(due);
      controller.abort();
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- key covers all dependencies
  }, [what, isLost]);
  return state.what === what ? state : nothing;
}
