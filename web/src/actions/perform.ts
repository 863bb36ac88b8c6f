import type { Darkroom } from "../api/types";
import { patchSeen } from "../form/versions";
import { patchOf, type ActionName } from "./actions";

/** The current time as actions write it. */
export const timestamp = (): string => `${new Date().toISOString().slice(0, 19)}Z`;

/** Performs an action on the version of a Darkroom that the user has seen. */
export const perform = (action: ActionName, seen: Darkroom, now: string, replicas?: number): Promise<Darkroom> => patchSeen(seen, patchOf(action, now, replicas));
