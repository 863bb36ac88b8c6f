import { useEffect } from "react";
import { navigate, paths } from "../router";
import { inDialog, sequences, submitKeys, takesKeys } from "./keys";
import { useSingleKeys } from "./setting";

/** The element of the view with a shortcut, unless it is disabled. */
const elementOf = (keys: string): HTMLElement | null => document.querySelector<HTMLElement>(`#main [aria-keyshortcuts="${keys}"]:not([aria-disabled="true"])`);

function go(to: string): void {
  if (location.pathname !== to) {
    navigate(to);
  }
}

function focus(field: HTMLElement | null): void {
  field?.focus();
  if (field instanceof HTMLInputElement) {
    field.select();
  }
}

/** The keyboard shortcuts of all views. */
export function useShortcuts(onHelp: () => void): void {
  useSubmitKeys();
  const on = useSingleKeys();
  useEffect(() => {
    if (!on) {
      return undefined;
    }
    const actions: Record<string, () => void> = {
      "?": onHelp,
      "/": () => focus(elementOf("/")),
      n: () => go(paths.create),
      e: () => elementOf("e")?.click(),
      "g l": () => go(paths.list),
      "g h": () => go(paths.hosts),
    };
    const { press, forget } = sequences();
    const onKey = (event: KeyboardEvent) => {
      const modified = event.ctrlKey || event.metaKey || event.altKey;
      // The editor is in a shadow root: the target of the event is its host.
      if (modified || event.repeat || event.isComposing || event.defaultPrevented || takesKeys(event.composedPath()[0]) || inDialog()) {
        forget();
        return;
      }
      if (event.key === "Shift") {
        return;
      }
      const keys = press(event.key);
      if (Object.hasOwn(actions, keys)) {
        // Or the character would be typed into the field that gets the focus.
        event.preventDefault();
        actions[keys]?.();
      }
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [on, onHelp]);
}

/** Ctrl+Enter or Command+Enter presses the main button of a form, also from within a field. */
function useSubmitKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || event.ctrlKey === event.metaKey || event.altKey || event.shiftKey || event.repeat || inDialog()) {
        return;
      }
      const button = elementOf(submitKeys);
      if (button) {
        event.preventDefault();
        event.stopPropagation();
        button.click();
      }
    };
    // Before the editor, which would insert a line.
    document.addEventListener("keydown", onKey, true);
    return () => document.removeEventListener("keydown", onKey, true);
  }, []);
}
