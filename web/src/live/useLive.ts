import { createContext, use, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { tellSignedOut } from "../api/client";
import type { Darkroom, Key } from "../api/types";
import { follow, type Position } from "./follow";
import { Store, type Connection, type Schedule, type Snapshot } from "./store";

/** The least time between two renders caused by events, in milliseconds. */
const pace = 200;

/** Runs not more often than the pace. */
export function paced(): Schedule {
  let last = -Infinity;
  return (run) => {
    const once = () => {
      last = performance.now();
      run();
    };
    setTimeout(once, Math.max(0, last + pace - performance.now()));
  };
}

export const LiveContext = createContext<Store | undefined>(undefined);

/** The store of the page. */
export function useStore(): Store {
  const store = use(LiveContext);
  if (!store) {
    throw new Error("no LiveContext above");
  }
  return store;
}

export const useSnapshot = (): Snapshot => {
  const store = useStore();
  return useSyncExternalStore(store.subscribe, store.read);
};

/** One Darkroom as it is now. It renders only when that one changes. */
export function useDarkroom(key: Key): Darkroom | undefined {
  const store = useStore();
  return useSyncExternalStore(store.subscribe, () => (store.read().synced ? store.get(key) : undefined));
}

/** Whether the initial list is complete. */
export function useSynced(): boolean {
  const store = useStore();
  return useSyncExternalStore(store.subscribe, () => store.read().synced);
}

export function useConnection(): Connection {
  const store = useStore();
  return useSyncExternalStore(store.subscribe, () => store.read().connection);
}

function onVisibility(listener: () => void): () => void {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
}

/**
 * Creates a store that follows the server while the page is visible; it begins again with each round. Hidden pages
 * have no stream: over HTTP/1.1 browsers open six connections per server, and a seventh tab would wait forever.
 */
export function useFollowing(round: number): Store {
  const [store] = useState(() => new Store(paced()));
  const visible = useSyncExternalStore(onVisibility, () => document.visibilityState !== "hidden");
  /** Where the stream of a round resumes once the page is visible again. */
  const last = useRef<{ round: number; position: Position }>({ round, position: {} });
  useEffect(() => {
    if (!visible) {
      return undefined;
    }
    if (last.current.round !== round) {
      last.current = { round, position: {} };
    }
    const following = new AbortController();
    void follow(
      "/events/stream",
      {
        opened: () => store.connect("live"),
        event: (event) => store.take(event),
        lost: () => store.connect("lost"),
        refused: (problem) => {
          if (problem.status === 401) {
            tellSignedOut();
          }
          store.connect("refused", problem);
        },
      },
      following.signal,
      last.current.position,
    );
    return () => following.abort();
  }, [store, round, visible]);
  return store;
}
