import { asProblem, type Problem } from "../api/problem";
import type { Darkroom } from "../api/types";
import { refusalOf, type ActionName } from "./actions";

/** How many Darkrooms are changed at the same time. */
const atOnce = 4;

export interface Failure {
  darkroom: Darkroom;
  problem: Problem;
}

/** The Darkrooms that an action is possible for, and the number of others by their reason. */
export function partition(action: ActionName, darkrooms: readonly Darkroom[]): { possible: Darkroom[]; refused: Map<string, number> } {
  const possible: Darkroom[] = [];
  const refused = new Map<string, number>();
  for (const darkroom of darkrooms) {
    // Rights differ by namespace: the cluster decides.
    const refusal = refusalOf(action, darkroom, undefined);
    if (refusal === undefined) {
      possible.push(darkroom);
    } else {
      refused.set(refusal, (refused.get(refusal) ?? 0) + 1);
    }
  }
  return { possible, refused };
}

/**
 * Changes Darkrooms, some at once, until all are done or it is stopped. It returns those that
 * could not be changed.
 */
export async function changeAll(
  darkrooms: readonly Darkroom[],
  change: (darkroom: Darkroom) => Promise<void>,
  onDone: () => void,
  stopped: () => boolean,
): Promise<Failure[]> {
  const failures: Failure[] = [];
  const rest = darkrooms.values();
  const work = async () => {
    for (const darkroom of rest) {
      if (stopped()) {
        return;
      }
      try {
        await change(darkroom);
      } catch (thrown) {
        failures.push({ darkroom, problem: asProblem(thrown) });
      }
      onDone();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return failures;
}
