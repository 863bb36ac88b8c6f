import { useState, type SyntheticEvent } from "react";
import { asProblem, type Problem } from "./api/problem";

/** Sends a request, and keeps the problem until the next attempt. */
export function useSending(send: () => Promise<void>): { busy: boolean; problem: Problem | undefined; run: (event?: SyntheticEvent) => void } {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const run = async (event?: SyntheticEvent) => {
    event?.preventDefault();
    setBusy(true);
    setProblem(undefined);
    await send().catch((thrown: unknown) => setProblem(asProblem(thrown)));
    setBusy(false);
  };
  return { busy, problem, run: (event) => void run(event) };
}
