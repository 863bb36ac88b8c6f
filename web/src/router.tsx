import { useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from "react";
import type { Key } from "./api/types";

/** The views of the page. All but the list lie below /ui/, where the API has no route. */
export type Route =
  | { view: "list" }
  | { view: "create" }
  | { view: "detail" | "edit"; key: Key }
  | { view: "unknown" };

export const paths = {
  list: "/",
  create: "/ui/create",
  detail: ({ namespace, name }: Key): string => `/ui/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`,
  edit: (key: Key): string => paths.detail(key) + "/edit",
};

export function routeOf(pathname: string): Route {
  const parts = pathname.split("/").filter(Boolean).map(decodeURIComponent);
  if (parts.length === 0) {
    return { view: "list" };
  }
  const [ui, namespace, name, edit] = parts;
  if (ui === "ui" && namespace !== undefined) {
    if (parts.length === 2 && namespace === "create") {
      return { view: "create" };
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

/** Goes to an address of the page, or changes what the present one says. */
export function navigate(to: string, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(null, "", to);
  } else {
    history.pushState(null, "", to);
    const main = document.getElementById("main");
    if (main) {
      main.scrollTop = 0;
    }
  }
  window.dispatchEvent(new Event(changed));
}

export const usePathname = (): string => useSyncExternalStore(subscribe, () => location.pathname);
export const useSearch = (): string => useSyncExternalStore(subscribe, () => location.search);

/** Takes a click on a link, unless the browser is to open it elsewhere. */
export function followLink(event: MouseEvent<HTMLElement>, to: string): void {
  if (event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    navigate(to);
  }
}

export function Link({ to, ...rest }: { to: string } & AnchorHTMLAttributes<HTMLAnchorElement>) {
  return <a {...rest} href={to} onClick={(event) => followLink(event, to)} />;
}
