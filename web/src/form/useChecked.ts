import { useEffect, useState } from "react";
import { api } from "../api/client";
import { asProblem } from "../api/problem";
import type { Darkroom, DarkroomInput } from "../api/types";
import { valueAt } from "../model/model";
import { fromServer, type FieldError } from "./validate";

/** For how long an input rests before the server is asked, in milliseconds. */
const rest = 500;

/**
 * What the server finds wrong with an input by a dry run, once it has rested. An error stays until its field changes;
 * the next answer replaces all. Problems that are of no field are left to the review. The server checks the rules of
 * the CRD only for what its schema allows, so nothing is asked before.
 */
export function useChecked(input: DarkroomInput, base: Darkroom | undefined, enabled: boolean): FieldError[] {
  const [found, setFound] = useState<{ input: DarkroomInput; errors: FieldError[] }>();
  useEffect(() => {
    if (!enabled) {
      return undefined;
    }
    const leaving = new AbortController();
    const { signal } = leaving;
    const dryRun = { dryRun: true, signal };
    const timer = setTimeout(() => {
      (base ? api.replace(base, input, "*", dryRun) : api.create(input, dryRun)).then(
        () => setFound(undefined),
        (thrown: unknown) => {
          if (!signal.aborted) {
            setFound({ input, errors: fromServer(asProblem(thrown).errors).filter(({ location }) => location !== "") });
          }
        },
      );
    }, rest);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [input, base, enabled]);
  const at = (of: DarkroomInput, location: string) => valueAt(of, location.split("."));
  return (found?.errors ?? []).filter(({ location }) => found && at(found.input, location) === at(input, location));
}
