import { api } from "../api/client";
import { asProblem } from "../api/problem";
import type { Darkroom, DarkroomInput } from "../api/types";
import { valueAt } from "../model/model";
import { useLoaded } from "../useLoaded";
import { useSettled } from "../useSettled";
import { fromServer, type FieldError } from "./validate";
import { createOnce } from "./versions";

/** For how long an input rests before the server is asked, in milliseconds. */
const rest = 500;

/**
 * What the server finds wrong with an input by a dry run, once it has rested. An error stays until its field changes;
 * the next answer replaces all. Problems that are of no field are left to the review. The server checks the rules of
 * the CRD only for what its schema allows, so nothing is asked before.
 */
export function useChecked(input: DarkroomInput, base: Darkroom | undefined, enabled: boolean): FieldError[] {
  const rested = useSettled(input, rest);
  const check = async (signal: AbortSignal) => {
    const dryRun = { dryRun: true, signal };
    try {
      await (base ? api.replace(base, rested, "*", dryRun) : createOnce(rested, dryRun));
      return { of: rested, errors: [] };
    } catch (thrown) {
      signal.throwIfAborted();
      return { of: rested, errors: fromServer(asProblem(thrown).errors).filter(({ location }) => location !== "") };
    }
  };
  const { value: found } = useLoaded(`checked ${JSON.stringify([base?.etag, rested])}`, check, { enabled: enabled && rested === input, once: true, keep: true });
  const at = (of: DarkroomInput, location: string) => valueAt(of, location.split("."));
  return found?.errors.filter(({ location }) => at(found.of, location) === at(input, location)) ?? [];
}
