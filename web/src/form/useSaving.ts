import { useState } from "react";
import { api } from "../api/client";
import { asProblem, type Problem } from "../api/problem";
import { reads } from "../api/reads";
import { keyOf, type Darkroom, type DarkroomInput, type Outcome } from "../api/types";
import { Changed, writeSeen } from "./versions";
import { objectChanges, type ObjectChange } from "../diff/objects";
import { useStore } from "../live/useLive";
import { navigate, paths } from "../router";
import { dropDraft, type DraftKey } from "./drafts";
import { merge, type Clash } from "../model/merge";
import { toInput, withValue, type Path } from "../model/model";
import { fromServer, type FieldError } from "./validate";

/** The effect of saving, found by a dry run. */
export interface Reviewed {
  outcome: Outcome;
  manifests: ObjectChange[];
}

/** Both sides of conflicting edits. */
export interface ConflictState {
  clashes: Clash[];
  taken: Path[];
  /** Mine, with all that only the other side changed. */
  input: DarkroomInput;
  theirs: Darkroom;
}

/** Whose value resolves a clash. */
export type Choice = "theirs" | "mine";

interface State {
  busy: boolean;
  saved: boolean;
  problem: Problem | undefined;
  errors: FieldError[];
  reviewed: Reviewed | undefined;
  conflict: ConflictState | undefined;
  taken: Path[];
}

const quiet = { problem: undefined, errors: [] };

/** Checks and saves an input, and detects concurrent changes. */
export function useSaving(loaded: Darkroom | undefined, draftKey: DraftKey, setInput: (input: DarkroomInput) => void) {
  const store = useStore();
  const [base, setBase] = useState(loaded);
  const [state, setState] = useState<State>({
    busy: false,
    saved: false,
    reviewed: undefined,
    conflict: undefined,
    taken: [],
    ...quiet,
  });
  const update = (part: Partial<State>) => setState((before) => ({ ...before, ...part }));

  /** Writes. It returns nothing if others changed something; that is for the user to see. */
  const write = async (input: DarkroomInput, dryRun: boolean): Promise<Darkroom | undefined> => {
    if (!base) {
      return api.create(input, { dryRun });
    }
    try {
      return await writeSeen(base, (ifMatch) => api.replace(base, input, ifMatch, { dryRun }));
    } catch (thrown) {
      if (!(thrown instanceof Changed)) {
        throw thrown;
      }
      meet(base, thrown.theirs, input);
      return undefined;
    }
  };

  const meet = (was: Darkroom, theirs: Darkroom, mine: DarkroomInput) => {
    const { input, taken, clashes } = merge(toInput(was), toInput(theirs), mine);
    if (clashes.length > 0) {
      update({ conflict: { clashes, taken, input, theirs }, reviewed: undefined });
      return;
    }
    setBase(theirs);
    setInput(input);
    update({ taken, reviewed: undefined });
  };

  const run = async (work: () => Promise<void>) => {
    update({ busy: true, ...quiet });
    try {
      await work();
    } catch (thrown) {
      const problem = asProblem(thrown);
      const errors = fromServer(problem.errors);
      // Invalid fields lead back to the form; anything else can be retried from the review.
      update({ problem, errors, ...(errors.length > 0 || problem.status === 409 ? { reviewed: undefined } : {}) });
    } finally {
      update({ busy: false });
    }
  };

  return {
    ...state,
    /** The version that is edited now: a later one than was loaded once a conflict is settled. */
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
        const stored = await write(input, false);
        if (stored) {
          update({ saved: true });
          // The form is gone before it could render, and with it the effect that drops drafts.
          dropDraft(draftKey);
          store.put(stored);
          navigate(paths.detail(stored));
        }
      }),
    back: () => update({ reviewed: undefined, ...quiet }),
    /** Removes the errors of the server at a field that changes. */
    forget: (location: string) =>
      setState((before) => ({
        ...before,
        problem: undefined,
        errors: location === "" ? [] : before.errors.filter((error) => !error.location.startsWith(location)),
      })),
    acknowledge: () => update({ taken: [] }),
    /** Settles a conflict by a choice for each clash, in order; none leaves the form as it was. */
    resolve: (choices: Choice[] | undefined) => {
      const { conflict } = state;
      if (conflict && choices) {
        setBase(conflict.theirs);
        setInput(
          conflict.clashes.reduce((input, clash, i) => (choices[i] === "theirs" ? withValue(input, clash.path, clash.theirs) : input), conflict.input),
        );
      }
      update({ conflict: undefined, taken: choices ? (conflict?.taken ?? []) : [], ...quiet });
    },
  };
}
