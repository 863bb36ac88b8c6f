import { useEffect, useState } from "react";
import { api } from "../api/client";
import { asProblem, type Problem } from "../api/problem";
import type { Key } from "../api/types";
import { LogBuffer } from "./log";

/** The least time between two renders of a log, in milliseconds. */
const pace = 200;

export interface LogState {
  lines: readonly string[];
  /** Whether the server has sent all of it, or has stopped sending. */
  ended: boolean;
  problem: Problem | undefined;
}

const nothing: LogState = { lines: [], ended: false, problem: undefined };

/** Reads the log of a pod, again with each round. */
export function useLog(of: Key, pod: string, { container, follow, previous }: { container: string; follow: boolean; previous: boolean }, round: number): LogState {
  const { namespace, name } = of;
  const what = `${namespace}/${name}/${pod} ${container} ${follow} ${previous} ${round}`;
  const [state, setState] = useState<LogState & { what: string }>({ ...nothing, what });
  useEffect(() => {
    const controller = new AbortController();
    const buffer = new LogBuffer();
    let due: ReturnType<typeof setTimeout> | undefined;
    const show = (part: Partial<LogState>) => {
      clearTimeout(due);
      due = undefined;
      if (!controller.signal.aborted) {
        setState({ ...nothing, what, lines: buffer.read(), ...part });
      }
    };
    const run = async () => {
      try {
        const read = async ({ body }: Response) => {
          const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
          for (;;) {
            const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
            if (done) {
              return;
            }
            buffer.feed(value);
            due ??= setTimeout(() => show({}), pace);
          }
        };
        await api.log({ namespace, name }, pod, { container, follow, previous }, read, controller.signal);
        buffer.end();
        show({ ended: true });
      } catch (thrown) {
        // What has arrived stays.
        show({ ended: true, problem: asProblem(thrown) });
      }
    };
    void run();
    return () => {
      clearTimeout(due);
      controller.abort();
    };
  }, [what, namespace, name, pod, container, follow, previous]);
  return state.what === what ? state : nothing;
}
