import { lazy, type ComponentType, type LazyExoticComponent } from "react";
import { api } from "./api/client";

/** When the page last reloaded itself, in milliseconds since 1970, as sessionStorage keeps it. */
const key = "darkroom-reloaded";
/** The page reloads itself no more often than this, in milliseconds. */
const interval = 60_000;
/** How often the page looks whether the server is back, in milliseconds. */
const pause = 2_000;

/** Views whose code is still to be loaded: filled by lazyView, emptied by loadInIdleTime. */
const waiting: (() => Promise<unknown>)[] = [];

/**
 * A view whose code is loaded in idle time, or when it is first shown. If that fails, because the server is away or
 * another version of it has replaced the file, the page is reloaded once the server answers: browsers do not request a
 * module again. If it was reloaded a moment ago, or the user has left the view, the Boundary above it shows the failure.
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
      // It is tried again when the view is shown.
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

/** Whether the server is there; it tells anyone how to sign in. */
const answers = (): Promise<boolean> =>
  api.waysToSignIn().then(
    () => true,
    () => false,
  );
