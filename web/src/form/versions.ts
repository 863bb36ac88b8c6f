import { api, type Options } from "../api/client";
import { asProblem, Problem } from "../api/problem";
import type { Darkroom, DarkroomInput, DarkroomPatch } from "../api/types";
import { same } from "../model/merge";
import { toInput } from "../model/model";
import { withoutSecrets } from "./drafts";

/** Reads until the version differs, because reads may lag behind. */
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
    /** The current Darkroom. */
    readonly theirs: Darkroom,
  ) {
    super(412, title, "Another user changed this Darkroom in the meantime. Check the change, then try again.");
  }
}

/** Writes to the version that the user saw, unless the write has already succeeded. Throws Changed if there is a newer version. */
async function ifUnchanged<T>(seen: Darkroom, write: (ifMatch: string) => Promise<T>, isDone: (now: Darkroom) => Promise<boolean>): Promise<T | Darkroom> {
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
    if (await isDone(now)) {
      return now;
    }
    throw new Changed(thrown.title, now);
  }
}

/** An input as the server returns it. */
const shownOf = (input: DarkroomInput): DarkroomPatch => withoutSecrets(input).input;

type Write = (ifMatch: string, dryRun: boolean) => Promise<Darkroom>;

/** Whether a value contains all fields of another one. */
const has = (now: unknown, sent: unknown): boolean =>
  typeof sent === "object" && sent !== null ? Object.entries(sent).every(([name, value]) => has((now as Record<string, unknown> | undefined)?.[name], value)) : (now ?? null) === (sent ?? null);

/**
 * Whether a write is done, possibly by a request whose response was lost: the sent values are stored, and the write
 * would neither remove anything nor change anything that is never shown.
 */
async function isDone(now: Darkroom, sent: DarkroomPatch, write: Write): Promise<boolean> {
  const then = has(now, sent) ? await write(now.etag ?? "", true).catch(() => undefined) : undefined;
  return then !== undefined && then.generation === now.generation && same(toInput(then), toInput(now));
}

/** Writes to the version that the user saw, unless the write has already succeeded. */
export const writeSeen = (seen: Darkroom, sent: DarkroomPatch, write: Write): Promise<Darkroom> =>
  ifUnchanged(seen, (ifMatch) => write(ifMatch, false), (now) => isDone(now, sent, write));

export const patchSeen = (seen: Darkroom, patch: DarkroomPatch): Promise<Darkroom> => writeSeen(seen, patch, (ifMatch, dryRun) => api.patch(seen, patch, ifMatch, dryRun));

export const replaceSeen = (seen: Darkroom, input: DarkroomInput, dryRun: boolean): Promise<Darkroom> =>
  writeSeen(seen, shownOf(input), (ifMatch, again) => api.replace(seen, input, ifMatch, { dryRun: dryRun || again }));

/** Creates a Darkroom, unless that has already succeeded. */
export async function createOnce(input: DarkroomInput, options: Options): Promise<Darkroom> {
  try {
    return await api.create(input, options);
  } catch (thrown) {
    const { name = "", namespace = "" } = input;
    const now = asProblem(thrown).status === 409 ? await api.get({ namespace, name }).catch(() => undefined) : undefined;
    if (now && (await isDone(now, shownOf(input), (ifMatch) => api.replace(now, input, ifMatch, { dryRun: true })))) {
      return now;
    }
    throw thrown;
  }
}

/** Deletes the version that the user saw, unless it is already deleted or terminating. */
export async function removeSeen(seen: Darkroom): Promise<void> {
  try {
    await ifUnchanged(seen, (ifMatch) => api.remove(seen, ifMatch), (now) => Promise.resolve(now.deletedAt !== undefined));
  } catch (thrown) {
    if (asProblem(thrown).status !== 404) {
      throw thrown;
    }
  }
}
