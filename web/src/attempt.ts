/** Uses the storage of the browser. One that is full or turned off keeps nothing; the page works without. */
export function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
