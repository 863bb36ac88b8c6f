import { asksTheSame } from "../model/merge";
import { toInput } from "../model/model";
import { api, etagOf } from "../api/client";
import { Problem } from "../api/problem";
import { reads } from "../api/reads";
import { keyOf, type Darkroom } from "../api/types";

/** How often a write is tried again because of versions that differ in the status alone. */
const maxAttempts = 10;

/** Reads until there is another version than that: reads may be a moment behind. */
async function newer(than: Darkroom): Promise<Darkroom> {
  for (let attempt = 0; ; attempt++) {
    const found = await reads.query({ queryKey: [`latest ${keyOf(than)}`], queryFn: () => api.get(than), gcTime: 0 });
    if (found.resourceVersion !== than.resourceVersion || attempt === 20) {
      return found;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Another user changed the Darkroom since it was read. */
export class Changed extends Problem {
  constructor(
    title: string,
    /** The Darkroom as it is now. */
    readonly theirs: Darkroom,
  ) {
    super(412, title, "Another user changed this Darkroom in the meantime. Check the change, then try again.");
  }
}

/**
 * Writes to the version that the user has seen. The operator writes the status, which changes
 * the version too: if nothing else differs the write is tried again with the new one. The
 * error is a Changed if something else does.
 */
export async function writeSeen<T>(seen: Darkroom, write: (ifMatch: string) => Promise<T>): Promise<T> {
  let version = seen;
  for (let attempt = 1; ; attempt++) {
    try {
      return await write(etagOf(version));
    } catch (thrown) {
      if (!(thrown instanceof Problem) || thrown.status !== 412 || attempt === maxAttempts) {
        throw thrown;
      }
      const now = await newer(version);
      if (now.uid !== seen.uid) {
        throw new Problem(409, "Conflict", "The Darkroom was deleted and created again. Reload the page to edit the new one.");
      }
      if (!asksTheSame(toInput(seen), toInput(now))) {
        throw new Changed(thrown.title, now);
      }
      version = now;
    }
  }
}
