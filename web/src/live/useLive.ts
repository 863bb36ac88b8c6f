import { createContext, use, useEffect, useState, useSyncExternalStore } from "react";
import { tellSignedOut } from "../api/client";
import type { Darkroom, Key } from "../api/types";
import { follow, type Position } from "./follow";
import { Store, type Connection, type Schedule, type Snapshot } from "./store";


/** The least time between two renders caused by events, in milliseconds. */
const pace = 200;

/** Runs in an animation frame, and not more often than the pace. Hidden pages have no frames: they wait a second. */
export function paced(): Schedule {
  let last = -Infinity;
  return (run) => {
    let done = false;
    const once = () => {
      if (!done) {
        done = true;
        last = performance.now();
        run();
      }
    };
    setTimeout(() => requestAnimationFrame(once), Math.max(0, last + pace - performance.now()));
    setTimeout(once, 1_000);
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

/**
 * Creates a store that follows the server while the page is visible; it begins again with each round. Hidden pages
 * have no stream: over HTTP/1.1 browsers open six connections per server, and a seventh tab would wait forever.
 */
export function useFollowing(round: number): Store {
  const [store] = useState(() => new Store(paced()));
  useEffect(() => {
    const position: Position = {};
    let following: AbortController | undefined;
    const stop = () => {
      following?.abort();
      following = undefined;
    };
    const start = () => {
      if (following) {
        return;
      }
      following = new AbortController();
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
        position,
      );
    };
    const onVisibility = () => (document.visibilityState === "hidden" ? stop() : start());
    onVisibility();
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      document.removeEventListener("visibilitychange", onVisibility);
      stop();
    };
  }, [store, round]);
  return store;
}
