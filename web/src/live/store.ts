import type { Problem } from "../api/problem";
import { keyOf, type Darkroom, type Key } from "../api/types";
import type { ServerEvent } from "./parser";

export type Connection = "connecting" | "live" | "lost" | "refused";

/** What is known of the Darkrooms at one moment. It is replaced as a whole, never changed. */
export interface Snapshot {
  darkrooms: readonly Darkroom[];
  /** Whether all that there is has come. */
  synced: boolean;
  /** Whether the caller may watch all namespaces. */
  all: boolean;
  connection: Connection;
  problem: Problem | undefined;
}

/**
 * Store keeps the Darkrooms as live events tell of them. Between `reset` and `synced` what
 * was known stays to be seen, so that the page does not flicker after a break.
 */
export class Store {
  private known = new Map<string, Darkroom>();
  private coming: Map<string, Darkroom> | undefined;
  private listeners = new Set<() => void>();
  private snapshot: Snapshot = { darkrooms: [], synced: false, all: true, connection: "connecting", problem: undefined };

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  read = (): Snapshot => this.snapshot;

  get(key: Key): Darkroom | undefined {
    return this.known.get(keyOf(key));
  }

  take({ event, data }: ServerEvent): void {
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
          this.publish({});
        }
      }
    }
  }

  /** Takes an answer to a write, which may be known before its event comes. */
  put(darkroom: Darkroom): void {
    const before = this.known.get(keyOf(darkroom));
    if (before?.uid === darkroom.uid && Number(before?.resourceVersion) > Number(darkroom.resourceVersion)) {
      return;
    }
    this.known.set(keyOf(darkroom), darkroom);
    this.publish({});
  }

  connect(connection: Connection, problem?: Problem): void {
    this.publish({ connection, problem });
  }

  private publish(change: Partial<Snapshot>): void {
    const darkrooms = [...this.known.values()];
    this.snapshot = { ...this.snapshot, ...change, darkrooms };
    for (const listener of this.listeners) {
      listener();
    }
  }
}
