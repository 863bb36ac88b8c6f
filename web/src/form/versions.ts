import { api } from "../api/client";
import { Problem } from "../api/problem";
import type { Darkroom } from "../api/types";

/** Reads until there is another version than that: reads may be a moment behind. */
async function newer(than: Darkroom): Promise<Darkroom> {
  for (let attempt = 0; ; attempt++) {
    const found = await api.get(than);
    if (found.etag !== than.etag || attempt === 20) {
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

/** Writes to the version that the user has seen. The error is a Changed if there is another one. */
export async function writeSeen<T>(seen: Darkroom, write: (ifMatch: string) => Promise<T>): Promise<T> {
  try {
    return await write(seen.etag ?? "");
  } catch (thrown) {
    if (!(thrown instanceof Problem) || thrown.status !== 412) {
      throw thrown;
    }
    const now = await newer(seen);
    if (now.uid !== seen.uid) {
      throw new Problem(409, "Conflict", "The Darkroom was deleted and created again. Reload the page to edit the new one.");
    }
    throw new Changed(thrown.title, now);
  }
}
