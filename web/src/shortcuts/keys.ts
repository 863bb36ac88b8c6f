import { msg, type Message } from "../words/t";
/** A shortcut, as the dialog lists it. */
export interface Shortcut {
  /** Keys that are pressed one after the other, each with its modifiers. */
  keys: string[][];
  text: Message;
}

/** The key that modifies Enter: Command on Apple's keyboards. */
const modifier = /Mac|iPhone|iPad/.test(typeof navigator === "undefined" ? "" : navigator.userAgent) ? "⌘" : "Ctrl";

/** Shortcuts of characters alone, which can be turned off. */
export const singleKeys: readonly Shortcut[] = [
  { keys: [["?"]], text: msg("Show the keyboard shortcuts") },
  { keys: [["/"]], text: msg("Search") },
  { keys: [["n"]], text: msg("Create a Darkroom") },
  { keys: [["e"]], text: msg("Edit the Darkroom that is shown") },
  { keys: [["g"], ["l"]], text: msg("Go to the Darkrooms") },
  { keys: [["g"], ["h"]], text: msg("Go to the hosts") },
];

/** Shortcuts that always work. */
export const otherKeys: readonly Shortcut[] = [
  { keys: [[modifier, "Enter"]], text: msg("Review changes, or save them") },
  { keys: [["Esc"]], text: msg("Close a dialog or a menu") },
];

/** The value of aria-keyshortcuts of a button that Ctrl+Enter presses. */
export const submitKeys = "Control+Enter Meta+Enter";

/** Types of inputs that take no text. */
const notText = ["button", "checkbox", "radio", "range", "reset", "submit"];

/** Whether keys pressed at an element have a meaning there: in a field, a menu or a list. */
export function takesKeys(target: EventTarget | undefined): boolean {
  if (!(target instanceof Element)) {
    return false;
  }
  if (target instanceof HTMLInputElement) {
    return !notText.includes(target.type);
  }
  return target.matches("textarea, select") || target.closest('[contenteditable]:not([contenteditable="false"]), [role="textbox"], [role="menu"], [role="listbox"]') !== null;
}

/** Whether a dialog is open. It has the keyboard to itself. */
export const inDialog = (): boolean => document.querySelector('[role="dialog"], [role="alertdialog"]') !== null;

/** For how long a sequence waits for its next key, in milliseconds. */
const patience = 1500;

/** Joins the keys of sequences: g, then l, is "g l". */
export function sequences(now: () => number = Date.now): { press: (key: string) => string; forget: () => void } {
  let began: number | undefined;
  return {
    press: (key) => {
      const second = began !== undefined && now() - began < patience;
      began = !second && key === "g" ? now() : undefined;
      return second ? `g ${key}` : key;
    },
    forget: () => {
      began = undefined;
    },
  };
}
