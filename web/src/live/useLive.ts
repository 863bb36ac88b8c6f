import { createContext, use, useEffect, useState, useSyncExternalStore } from "react";
import { tellSignedOut } from "../api/client";
import type { Darkroom, Key } from "../api/types";
import { keyOf } from "../api/types";
import { follow } from "./follow";
import { Store, type Snapshot } from "./store";

/** For how long a page that nobody sees keeps its stream: browsers allow few per server. */
const hiddenFor = 30_000;

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

/** One Darkroom as it is now, or nothing. */
export function useDarkroom(key: Key): Darkroom | undefined {
  const { darkrooms } = useSnapshot();
  return darkrooms.find((darkroom) => keyOf(darkroom) === keyOf(key));
}

/** Makes a store, and has it follow the server while somebody looks at the page. */
export function useFollowing(): Store {
  const [store] = useState(() => new Store());
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
    const look = () => {
      if (document.visibilityState === "hidden") {
        leaving = setTimeout(stop, hiddenFor);
      } else {
        start();
      }
    };
    start();
    document.addEventListener("visibilitychange", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      clearTimeout(leaving);
      stop();
    };
  }, [store]);
  return store;
}
