import type { EventSourceMessage } from "eventsource-parser";
import type { Problem } from "../api/problem";
import { keyOf, type Darkroom, type Key } from "../api/types";

export type Connection = "connecting" | "live" | "lost" | "refused";

/** An immutable snapshot of the known Darkrooms. */
export interface Snapshot {
  darkrooms: readonly Darkroom[];
  /** Whether the initial list is complete. */
  synced: boolean;
  /** Whether the caller may watch all namespaces. */
  all: boolean;
  connection: Connection;
  /** Time of the last change of connection, in milliseconds since 1970. */
  since: number;
  problem: Problem | undefined;
}

/** Runs a function later. */
export type Schedule = (run: () => void) => void;

/**
 * Store keeps the Darkrooms in step with live events. Between `reset` and `synced` it keeps
 * the previous list, so that the page does not flicker after a break.
 *
 * Events change it at once, but listeners are called only as often as the schedule allows:
 * a busy cluster sends more events than a list can render.
 */
export class Store {
  private known = new Map<string, Darkroom>();
  private coming: Map<string, Darkroom> | undefined;
  private listeners = new Set<() => void>();
  private due = false;
  private snapshot: Snapshot = { darkrooms: [], synced: false, all: true, connection: "connecting", since: 0, problem: undefined };

  constructor(private readonly schedule: Schedule = (run) => run()) {}

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  read = (): Snapshot => this.snapshot;

  get(key: Key): Darkroom | undefined {
    return this.known.get(keyOf(key));
  }

  take({ event, data }: EventSourceMessage): void {
    switch (event) {
      case "reset":
        this.coming = new Map();
        return;
      case "synced": {
        const { all } = JSON.parse(data) as { all: boolean };
        this.known = this.coming ?? this.known;
        this.coming = undefined;
        this.publish({ synced: true, all });
        return;
      }
      case "added":
      case "modified":
      case "deleted": {
        const darkroom = JSON.parse(data) as Darkroom;
        const target = this.coming ?? this.known;
        if (event === "deleted") {
          target.delete(keyOf(darkroom));
        } else {
          target.set(keyOf(darkroom), darkroom);
        }
        if (!this.coming) {
          this.publishSoon();
        }
      }
    }
  }

  /** Takes the response to a write, which may arrive before the event. */
  put(darkroom: Darkroom): void {
    const before = this.known.get(keyOf(darkroom));
    if (before?.uid === darkroom.uid && Number(before?.resourceVersion) > Number(darkroom.resourceVersion)) {
      return;
    }
    this.known.set(keyOf(darkroom), darkroom);
    this.publish({});
  }

  connect(connection: Connection, problem?: Problem): void {
    this.publish({ connection, problem, ...(connection === this.snapshot.connection ? {} : { since: Date.now() }) });
  }

  private publishSoon(): void {
    if (!this.due) {
      this.due = true;
      this.schedule(() => {
        this.due = false;
        this.publish({});
      });
    }
  }

  private publish(change: Partial<Snapshot>): void {
    const darkrooms = [...this.known.values()];
    this.snapshot = { ...this.snapshot, ...change, darkrooms };
    for (const listener of this.listeners) {
      listener();
    }
  }
}
