import { useState } from "react";
import { api } from "../api/client";
import { asProblem, type Problem } from "../api/problem";
import { reads } from "../api/reads";
import { keyOf, type Darkroom, type DarkroomInput, type Outcome } from "../api/types";
import { Changed, createOnce, replaceSeen } from "./versions";
import { objectChanges, type ObjectChange } from "../diff/objects";
import { useStore } from "../live/useLive";
import { navigate, paths } from "../router";
import { dropDraft } from "./drafts";
import { merge, type Merged } from "../model/merge";
import { toInput } from "../model/model";
import { fromServer, type FieldError } from "./validate";

/** The result of the dry run. */
export interface Reviewed {
  outcome: Outcome;
  manifests: ObjectChange[];
}

interface State {
  busy: boolean;
  problem: Problem | undefined;
  errors: FieldError[];
  reviewed: Reviewed | undefined;
  /** Concurrent changes. */
  merged: Merged | undefined;
}

const quiet = { problem: undefined, errors: [] };

/** Checks and saves an input, and detects concurrent changes. */
export function useSaving(loaded: Darkroom | undefined, setInput: (input: DarkroomInput) => void) {
  const store = useStore();
  const [base, setBase] = useState(loaded);
  const [state, setState] = useState<State>({
    busy: false,
    reviewed: undefined,
    merged: undefined,
    ...quiet,
  });
  const update = (part: Partial<State>) => setState((before) => ({ ...before, ...part }));

  /** Writes the input. Returns undefined for concurrent changes, which the user reviews. */
  const write = async (input: DarkroomInput, dryRun: boolean): Promise<Darkroom | undefined> => {
    if (!base) {
      return createOnce(input, { dryRun });
    }
    try {
      return await replaceSeen(base, input, dryRun);
    } catch (thrown) {
      if (!(thrown instanceof Changed)) {
        throw thrown;
      }
      const merged = merge(toInput(base), toInput(thrown.theirs), input);
      setBase(thrown.theirs);
      setInput(merged.input);
      update({ merged, reviewed: undefined });
      return undefined;
    }
  };

  const run = async (work: () => Promise<void>) => {
    update({ busy: true, ...quiet });
    try {
      await work();
    } catch (thrown) {
      const problem = asProblem(thrown);
      const errors = fromServer(problem.errors);
      // Invalid fields lead back to the form. Other errors can be retried from the review.
      update({ problem, errors, ...(errors.length > 0 || problem.status === 409 ? { reviewed: undefined } : {}) });
    } finally {
      update({ busy: false });
    }
  };

  return {
    ...state,
    /** The version that is edited. After a merge it is newer than the loaded one. */
    base,
    review: (input: DarkroomInput) =>
      run(async () => {
        const stored = await write(input, true);
        if (!stored) {
          return;
        }
        const [before, { manifest, outcome }] = await Promise.all([base ? reads.query({ queryKey: [`manifest ${keyOf(base)} ${base.generation ?? 0}`], queryFn: () => api.manifest(base) }) : "", api.review(stored, input)]);
        update({ reviewed: { outcome, manifests: objectChanges(before, manifest) } });
      }),
    save: (input: DarkroomInput) =>
      run(async () => {
        const { pathname } = location;
        const stored = await write(input, false);
        if (stored) {
          // The form unmounts before its effect could drop the draft.
          dropDraft(loaded);
          store.put(stored);
          // The user may have navigated away meanwhile.
          if (location.pathname === pathname) {
            navigate(paths.detail(stored));
          }
        }
      }),
    back: () => update({ reviewed: undefined, ...quiet }),
    /** Removes the server's errors of a changed field. */
    forget: (location: string) =>
      setState((before) => ({
        ...before,
        problem: undefined,
        errors: location === "" ? [] : before.errors.filter((error) => !error.location.startsWith(location)),
      })),
    acknowledge: () => update({ merged: undefined }),
  };
}
