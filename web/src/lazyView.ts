import { lazy, type ComponentType, type LazyExoticComponent } from "react";

/** When the page last reloaded itself, in milliseconds since 1970, as sessionStorage keeps it. */
const key = "darkroom-reloaded";
/** The page reloads itself no more often than this, in milliseconds. */
const interval = 60_000;

/**
 * A view whose code is loaded when it is first shown. If that fails, because the network
 * changed or another version of the server has replaced the file, the page is reloaded:
 * browsers do not request a module again. If it was reloaded a moment ago, the Boundary
 * above the view shows the failure.
 */
export const lazyView = <Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>): LazyExoticComponent<ComponentType<Props>> =>
  lazy(() => load().catch(reload));

function reload(failure: unknown): Promise<never> {
  try {
    if (Date.now() - Number(sessionStorage.getItem(key)) < interval) {
      throw failure;
    }
    sessionStorage.setItem(key, String(Date.now()));
  } catch {
    // Without storage it could reload for ever.
    throw failure;
  }
  location.reload();
  return new Promise(() => undefined);
}
