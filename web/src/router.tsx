import { useLayoutEffect, useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent, type RefObject } from "react";
import type { Key } from "./api/types";

/**
 * The views of the page. All except the list are below /ui/, where the API has no route. wouter provides routes and
 * links, but neither the focus nor the scroll position of a view, which depend on the entry of the history.
 */
export type Route =
  | { view: "list" }
  | { view: "create" }
  | { view: "explain" }
  | { view: "detail" | "edit"; key: Key }
  | { view: "unknown" };

export const paths = {
  list: "/",
  create: "/ui/create",
  explain: (url?: string): string => "/ui/explain" + (url ? `?${new URLSearchParams({ url }).toString()}` : ""),
  detail: ({ namespace, name }: Key): string => `/ui/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`,
  /** The form, optionally at a field. */
  edit: (key: Key, field?: string): string => paths.detail(key) + "/edit" + (field ? `?${new URLSearchParams({ field }).toString()}` : ""),
};

/** The decoded parts of a path; undefined if one is invalid, such as %ff. */
function decoded(parts: string[]): string[] | undefined {
  try {
    return parts.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

export function routeOf(pathname: string): Route {
  const parts = decoded(pathname.split("/").filter(Boolean));
  if (!parts) {
    return { view: "unknown" };
  }
  if (parts.length === 0) {
    return { view: "list" };
  }
  const [ui, namespace, name, edit] = parts;
  if (ui === "ui" && namespace !== undefined) {
    if (parts.length === 2 && (namespace === "create" || namespace === "explain")) {
      return { view: namespace };
    }
    if (name !== undefined && (parts.length === 3 || (parts.length === 4 && edit === "edit"))) {
      return { view: edit ? "edit" : "detail", key: { namespace, name } };
    }
  }
  return { view: "unknown" };
}

const changed = "darkroom:navigated";

function subscribe(listener: () => void): () => void {
  window.addEventListener("popstate", listener);
  window.addEventListener(changed, listener);
  return () => {
    window.removeEventListener("popstate", listener);
    window.removeEventListener(changed, listener);
  };
}

/** The scroll position of each history entry, by the key in history.state. */
const scrolls = new Map<number, number>();
let entry = 0;

const entryOf = (state: unknown): number => (typeof state === "object" && state !== null && "entry" in state ? Number(state.entry) : 0);
const main = (): HTMLElement | null => document.getElementById("main");
const keepScroll = (): void => {
  scrolls.set(entry, main()?.scrollTop ?? 0);
};

// On popstate, the old view is still rendered.
window.addEventListener("popstate", (event: PopStateEvent) => {
  keepScroll();
  entry = entryOf(event.state);
});

/** Opens an address of the page; `replace` replaces the current history entry. */
export function navigate(to: string, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(history.state, "", to);
  } else {
    keepScroll();
    entry = Date.now();
    history.pushState({ entry }, "", to);
  }
  window.dispatchEvent(new Event(changed));
}

/**
 * Scrolls a new view to its top, or to its previous position if the user went back, and moves the focus to its heading,
 * because the focused link is gone. It follows the view, so that the view is rendered when its effect runs. `shownRef`
 * contains the previous view; it outlives both.
 */
export function Arrival({ pathname, shownRef }: { pathname: string; shownRef: RefObject<string> }): null {
  useLayoutEffect(() => {
    if (shownRef.current === pathname) {
      return;
    }
    shownRef.current = pathname;
    const element = main();
    const heading = element?.querySelector("h1");
    heading?.setAttribute("tabindex", "-1");
    (heading ?? element)?.focus({ preventScroll: true });
    if (element) {
      element.scrollTop = scrolls.get(entry) ?? 0;
    }
  }, [pathname, shownRef]);
  return null;
}

export const usePathname = (): string => useSyncExternalStore(subscribe, () => location.pathname);
export const useSearch = (): string => useSyncExternalStore(subscribe, () => location.search);

/** Follows a link within the page, unless the browser is asked to open it elsewhere. */
function followLink(event: MouseEvent<HTMLElement>, to: string): void {
  if (event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    navigate(to);
  }
}

/** The properties of a button of PatternFly that is a link within the page. */
export const linkTo = (to: string) => ({ component: "a" as const, href: to, onClick: (event: MouseEvent<HTMLElement>) => followLink(event, to) });

export function Link({ to, ...rest }: { to: string } & AnchorHTMLAttributes<HTMLAnchorElement>) {
  return <a {...rest} href={to} onClick={(event) => followLink(event, to)} />;
}
