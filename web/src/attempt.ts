/** Accesses the browser's storage. If storage is full or disabled, nothing is stored, and the page still works. */
export function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
