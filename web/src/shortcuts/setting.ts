import { useSyncExternalStore } from "react";

const stored = "darkroom-single-keys";
const listeners = new Set<() => void>();

/** Whether shortcuts of single characters are on. Speech input and slips of the hand can press keys unintentionally. */
export const singleKeysOn = (): boolean => localStorage.getItem(stored) !== "off";

export function setSingleKeys(on: boolean): void {
  if (on) {
    localStorage.removeItem(stored);
  } else {
    localStorage.setItem(stored, "off");
  }
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useSingleKeys = (): boolean => useSyncExternalStore(subscribe, singleKeysOn);

/** The shortcut of an element, for aria-keyshortcuts; none while shortcuts are off. */
export function useKeyHint(key: string): string | undefined {
  return useSingleKeys() ? key : undefined;
}
