import { useEffect, useState } from "react";

/** For how long the page says that a text was copied, in milliseconds. */
const shown = 3_000;

/** Copies a text. Browsers give pages of plain HTTP no clipboard; there the text is selected and copied. */
export async function copyText(text: string): Promise<boolean> {
  try {
    // It is missing on plain HTTP, whatever its type says.
    await (navigator.clipboard as Clipboard | undefined)?.writeText(text);
    if ("clipboard" in navigator) {
      return true;
    }
  } catch {
    // Refused, as in a frame.
  }
  const area = document.createElement("textarea");
  const focused = document.activeElement;
  area.value = text;
  // Within an open dialog, which takes the focus back from anywhere else.
  (document.querySelector("[role=dialog]") ?? document.body).append(area);
  area.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way on plain HTTP
  const done = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) {
    focused.focus();
  }
  return done;
}

/** What was copied a moment ago, if anything, and a way to copy. */
export function useCopy<T extends string = "text">(): [copied: T | undefined, copy: (text: string, as: T) => void] {
  const [copied, setCopied] = useState<{ as: T }>();
  useEffect(() => {
    const timer = copied && setTimeout(() => setCopied(undefined), shown);
    return () => clearTimeout(timer);
  }, [copied]);
  return [copied?.as, (text, as) => void copyText(text).then((done) => done && setCopied({ as }))];
}
