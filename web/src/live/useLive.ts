import { createContext, use, useEffect, useState, useSyncExternalStore } from "react";
import { readAgain } from "../api/reads";
import type { Darkroom, Key } from "../api/types";
import { follow } from "./follow";
import { Store, type Connection, type Schedule, type Snapshot } from "./store";

/** The minimum time between two renders caused by events, in milliseconds. */
const pace = 200;

/** Limits how often a function runs. */
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

function useSelected<T>(select: (snapshot: Snapshot) => T): T {
  const store = useStore();
  return useSyncExternalStore(store.subscribe, () => select(store.read()));
}

export const useSnapshot = (): Snapshot => useSelected((snapshot) => snapshot);

/** One Darkroom. Renders only when that Darkroom changes. */
export function useDarkroom(key: Key): Darkroom | undefined {
  const store = useStore();
  return useSyncExternalStore(store.subscribe, () => (store.read().synced ? store.get(key) : undefined));
}

/** Whether the initial list is complete. */
export const useSynced = (): boolean => useSelected(({ synced }) => synced);

export const useConnection = (): Connection => useSelected(({ connection }) => connection);

const noStore = () => () => undefined;

/** Whether the connection is lost. It also works without a store, for example at sign-in. */
export function useIsLost(): boolean {
  const store = use(LiveContext);
  return useSyncExternalStore(store?.subscribe ?? noStore, () => store?.read().connection === "lost");
}

/** Creates a store that follows the server. */
export function useFollowing(): Store {
  const [store] = useState(() => new Store(paced()));
  useEffect(() => {
    const following = new AbortController();
    void follow(
      "/events/stream",
      {
        opened: () => {
          if (store.read().connection === "lost") {
            readAgain();
          }
          store.connect("live");
        },
        event: (event) => store.take(event),
        lost: () => store.connect("lost"),
        refused: (problem) => store.connect("refused", problem),
      },
      following.signal,
    );
    return () => following.abort();
  }, [store]);
  return store;
}
