import { useEffect, useState } from "react";
import { api, logPath, type LogQuery } from "../api/client";
import { asProblem, type Problem } from "../api/problem";
import type { Key } from "../api/types";
import { follow } from "../live/follow";
import { LogBuffer } from "./log";

/** The least time between two renders of a log, in milliseconds. */
const pace = 200;

export interface LogState {
  lines: readonly string[];
  /** Whether the connection is lost: it is opened again, and the log goes on where it was. */
  lost: boolean;
  /** Whether the server has sent all of it. */
  ended: boolean;
  problem: Problem | undefined;
}

const nothing: LogState = { lines: [], lost: false, ended: false, problem: undefined };

/** Reads the log of a pod, again with each round. */
export function useLog(of: Key, pod: string, query: LogQuery, round: number): LogState {
  const what = `${logPath(of, pod, query)} ${round}`;
  const [state, setState] = useState<LogState & { what: string }>({ ...nothing, what });
  useEffect(() => {
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
    // What has arrived stays.
    const fail = (thrown: unknown) => show({ ended: true, problem: asProblem(thrown) });
    if (query.follow) {
      const event = ({ event, data }: { event?: string | undefined; data: string }) => {
        if (event === "ended") {
          show({ ended: true });
          controller.abort();
          return;
        }
        buffer.add(JSON.parse(data) as string);
        due ??= setTimeout(show, pace);
      };
      void follow(logPath(of, pod, query), { opened: () => show(), event, lost: () => show({ lost: true }), refused: fail }, controller.signal);
    } else {
      void api.log(of, pod, query, (response) => response.text(), controller.signal).then((log) => {
        log.match(/[^\n]+\n?|\n/g)?.forEach((line) => buffer.add(line));
        show({ ended: true });
      }, fail);
    }
    return () => {
      clearTimeout(due);
      controller.abort();
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- what names all of it
  }, [what]);
  return state.what === what ? state : nothing;
}
