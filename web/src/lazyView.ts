import { lazy, type ComponentType, type LazyExoticComponent } from "react";
import { api } from "./api/client";

/** The time of the last reload by the page itself, in milliseconds since 1970, stored in sessionStorage. */
const key = "darkroom-reloaded";
/** The minimum time between two reloads by the page itself, in milliseconds. */
const interval = 60_000;
/** The interval at which the page checks whether the server is back, in milliseconds. */
const pause = 2_000;

/** Views whose code is not loaded yet: filled by lazyView, emptied by loadInIdleTime. */
const waiting: (() => Promise<unknown>)[] = [];

/**
 * A view whose code is loaded in idle time, or when it is first shown. If that fails, because the server is unavailable
 * or a new version of it has replaced the file, the page is reloaded once the server responds: browsers do not request
 * a module again. If the page has just been reloaded, or the user has left the view, the Boundary above the view shows
 * the failure.
 */
export function lazyView<Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>): LazyExoticComponent<ComponentType<Props>> {
  waiting.push(load);
  return lazy(() => load().catch(reload));
}

const idle = (run: () => void): unknown => ("requestIdleCallback" in window ? requestIdleCallback(run, { timeout: 10_000 }) : setTimeout(run, 1_000));

/** Loads the code of all views, one after the other, so that they can be shown without the server. */
export function loadInIdleTime(): void {
  const next = () => {
    void waiting
      .shift()?.()
      // Loading is tried again when the view is shown.
      .catch(() => undefined)
      .then(() => idle(next));
  };
  idle(next);
}

async function reload(failure: unknown): Promise<never> {
  const { pathname } = location;
  while (!(await answers())) {
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  try {
    if (location.pathname !== pathname || Date.now() - Number(sessionStorage.getItem(key)) < interval) {
      throw failure;
    }
    sessionStorage.setItem(key, String(Date.now()));
  } catch {
    // Without storage it could reload forever.
    throw failure;
  }
  location.reload();
  return new Promise(() => undefined);
}

/** Whether the server responds; the ways to sign in are public. */
const answers = (): Promise<boolean> =>
  api.waysToSignIn().then(
    () => true,
    () => false,
  );
