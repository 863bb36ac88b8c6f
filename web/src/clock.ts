/** How far the server's clock is ahead of the browser's, in milliseconds. */
let ahead = 0;

/**
 * The current time in milliseconds since 1970, by the server's clock, because ages are computed from times that the
 * cluster wrote.
 */
export const now = (): number => Date.now() + ahead;

/** Compares the clocks. The header Date has whole seconds, and responses take time, so small differences are ignored. */
export function compareClocks({ headers }: Pick<Response, "headers">): void {
  const difference = Date.parse(headers.get("Date") ?? "") - Date.now();
  ahead = Math.abs(difference) > 5_000 ? difference : 0;
}

/** One timer for all ages on the page; it runs only while something is subscribed. */
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Calls a listener every second while the page is visible, until the returned function is called. */
export function everySecond(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    if (document.visibilityState === "visible") {
      listeners.forEach((call) => call());
    }
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}
