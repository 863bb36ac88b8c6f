import { useSyncExternalStore } from "react";
import type { Darkroom } from "../api/types";
import { everySecond } from "../clock";

/** The time after which the user should check the operator, in milliseconds. */
export const normalWait = 60_000;

/** The time at which the page first saw each unhandled generation, in milliseconds since 1970. */
const firstSeen = new Map<string, number>();

/** Whether the operator has not handled the last change yet: the status describes an earlier generation. */
export const isBehind = ({ generation = 0, status }: Pick<Darkroom, "generation" | "status">): boolean => (status.observedGeneration ?? generation) < generation || status.phase === undefined;

/** How long a change has been waiting, in milliseconds; undefined if the operator has handled it. */
export function waitingFor(darkroom: Darkroom, now: number): number | undefined {
  const { uid = "", generation = 0 } = darkroom;
  const change = `${uid} ${generation}`;
  if (!isBehind(darkroom)) {
    firstSeen.delete(change);
    return undefined;
  }
  // Not from creationTimestamp, because the browser's clock may be wrong.
  const since = firstSeen.get(change) ?? now;
  firstSeen.set(change, since);
  return Math.max(0, now - since);
}

export interface Waiting {
  title: string;
  /** What to check if it takes long. */
  advice: string | undefined;
}

/** A time in words: 20 s, 3 min. It is coarse, because screen readers announce each change. */
export const spell = (seconds: number): string =>
  seconds < 10 ? "a few seconds" : seconds < 120 ? `${Math.floor(seconds / 10) * 10} s` : `${Math.floor(seconds / 60)} min`;

/** Describes a change that the operator has not handled; undefined in the first seconds, which are normal. */
export function useWaiting(darkroom: Darkroom): Waiting | undefined {
  const seconds = useSyncExternalStore(everySecond, () => Math.floor((waitingFor(darkroom, Date.now()) ?? -1000) / 1000));
  if (seconds < 3) {
    return undefined;
  }
  return {
    title: `Waiting for the operator for ${spell(seconds)}`,
    advice:
      seconds * 1000 < normalWait
        ? undefined
        : "The status below is from before the last change. Check that the operator is running: kubectl get pods -A -l app.kubernetes.io/name=darkroom-operator",
  };
}
