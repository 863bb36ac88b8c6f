import { api, type FetchedImage } from "../api/client";
import { asProblem } from "../api/problem";
import { keyOf, type Darkroom } from "../api/types";
import type { Store } from "../live/store";
import { sourceReadyOf } from "../words/conditions";

/** How many images are kept, and for how long, in milliseconds. */
const maxKept = 200;
const maxAge = 60_000;

/**
 * Small images of probes, requested one at a time: the server grants each caller two, and the other one is for what
 * the user opens. An image is requested again when the result of the probe changes.
 */
export class Thumbnails {
  private readonly kept = new Map<string, FetchedImage>();
  /** Namespaces in which the user may not fetch images. */
  private readonly refused = new Set<string>();
  private last: Promise<unknown> = Promise.resolve();

  /** The image of a Darkroom with a probe; undefined if the user may not fetch it. The error is a Problem if it is not served. */
  async get(darkroom: Darkroom, signal: AbortSignal): Promise<FetchedImage | undefined> {
    const what = whatOf(darkroom);
    const found = this.kept.get(what);
    if (found && Date.now() - Date.parse(found.at) < maxAge) {
      return found;
    }
    const fetched = this.last.then(() => this.fetch(darkroom, what, signal));
    this.last = fetched.catch(() => undefined);
    return fetched;
  }

  private async fetch(darkroom: Darkroom, what: string, signal: AbortSignal): Promise<FetchedImage | undefined> {
    signal.throwIfAborted();
    if (this.refused.has(darkroom.namespace)) {
      return undefined;
    }
    try {
      const image = await api.image(darkroom, new URLSearchParams({ path: darkroom.probe?.path ?? "", w: "64" }), signal);
      this.kept.delete(what);
      this.kept.set(what, image);
      for (const [oldest] of this.kept) {
        if (this.kept.size <= maxKept) {
          break;
        }
        this.kept.delete(oldest);
      }
      return image;
    } catch (thrown) {
      if (asProblem(thrown).status !== 403) {
        throw thrown;
      }
      this.refused.add(darkroom.namespace);
      return undefined;
    }
  }
}

/** Names an image: the same name is the same request. */
export const whatOf = (darkroom: Darkroom): string =>
  `${keyOf(darkroom)} ${darkroom.uid ?? ""} ${darkroom.probe?.path ?? ""} ${sourceReadyOf(darkroom)?.lastTransitionTime ?? ""}`;

const all = new WeakMap<Store, Thumbnails>();

/** The images of one session. */
export function thumbnailsOf(store: Store): Thumbnails {
  const found = all.get(store) ?? new Thumbnails();
  all.set(store, found);
  return found;
}
