import { asksTheSame } from "./merge";
import { toInput } from "./model";
import { api, etagOf } from "../api/client";
import { Problem } from "../api/problem";
import type { Darkroom } from "../api/types";

/** How often a write is tried again because of versions that differ in the status alone. */
export const maxAttempts = 10;

/** Reads until there is another version than that: reads may be a moment behind. */
export async function newer(than: Darkroom): Promise<Darkroom> {
  for (let attempt = 0; ; attempt++) {
    const found = await api.get(than);
    if (found.resourceVersion !== than.resourceVersion || attempt === 20) {
      return found;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * Writes to the version that the user has seen. The operator writes the status, which changes
 * the version too: if nothing else differs the write is tried again with the new one.
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
        throw new Problem(409, "Conflict", "The Darkroom was deleted and created again.");
      }
      if (!asksTheSame(toInput(seen), toInput(now))) {
        throw new Problem(412, thrown.title, "Another user changed this Darkroom in the meantime. Check the change, then try again.");
      }
      version = now;
    }
  }
}
