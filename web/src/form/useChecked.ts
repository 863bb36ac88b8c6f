import { api } from "../api/client";
import { asProblem } from "../api/problem";
import type { Darkroom, DarkroomInput } from "../api/types";
import { valueAt } from "../model/model";
import { useLoaded } from "../useLoaded";
import { useSettled } from "../useSettled";
import { fromServer, type FieldError } from "./validate";

/** The delay after typing before the dry run, in milliseconds. */
const rest = 500;

/**
 * The error for a name that another Darkroom has. It does not prevent a review, because the other Darkroom may be the
 * result of this form.
 */
export const nameInUse: FieldError = { location: "name", message: "Already in use in this namespace" };

/** The result of a dry run: errors of fields, and warnings, which are about hosts. */
interface Found {
  errors: FieldError[];
  warnings: string[];
}

/**
 * The errors that the server finds in an input by a dry run, after a pause in typing. An error stays until its field
 * changes; the next response replaces all errors. Problems that do not belong to a field are left to the review.
 */
export function useChecked(input: DarkroomInput, base: Darkroom | undefined, enabled: boolean): Found {
  const rested = useSettled(input, rest);
  const check = async (signal: AbortSignal) => {
    try {
      return { of: rested, errors: [], warnings: await api.check(base, rested, signal) };
    } catch (thrown) {
      signal.throwIfAborted();
      const { status, errors } = asProblem(thrown);
      return { of: rested, errors: !base && status === 409 ? [nameInUse] : fromServer(errors).filter(({ location }) => location !== ""), warnings: [] };
    }
  };
  const { value: found } = useLoaded(`checked ${JSON.stringify([base?.etag, rested])}`, check, { enabled: enabled && rested === input, once: true, keep: true });
  const isSame = (location: string) => found !== undefined && valueAt(found.of, location.split(".")) === valueAt(input, location.split("."));
  return {
    errors: found?.errors.filter(({ location }) => isSame(location)) ?? [],
    warnings: isSame("subDomains") && isSame("baseDomain") ? (found?.warnings ?? []) : [],
  };
}
