import { createContext, use, useEffect, useState, useSyncExternalStore } from "react";
import { tellSignedOut } from "../api/client";
import type { Darkroom, Key } from "../api/types";
import { follow } from "./follow";
import { Store, type Connection, type Schedule, type Snapshot } from "./store";

/** How long a hidden page keeps its stream, in milliseconds: browsers allow few per server. */
const hiddenFor = 30_000;

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

/** Creates a store that follows the server while the page is visible; it begins again with each round. */
export function useFollowing(round: number): Store {
  const [store] = useState(() => new Store(paced()));
  useEffect(() => {
    let following: AbortController | undefined;
    let leaving: ReturnType<typeof setTimeout> | undefined;
    const start = () => {
      clearTimeout(leaving);
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
      );
    };
    const stop = () => {
      following?.abort();
      following = undefined;
    };
    const onVisibility = () => {
      if (document.visibilityState === "hidden") {
        leaving = setTimeout(stop, hiddenFor);
      } else {
        start();
      }
    };
    start();
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      document.removeEventListener("visibilitychange", onVisibility);
      clearTimeout(leaving);
      stop();
    };
  }, [store, round]);
  return store;
}
