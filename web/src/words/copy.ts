import { useEffect, useState } from "react";

/** How long the page confirms a copy, in milliseconds. */
const shown = 3_000;

/** The text that was just copied, and a function to copy. */
export function useCopy<T extends string = "text">(): [copied: T | undefined, copy: (text: string, as: T) => void] {
  const [copied, setCopied] = useState<{ as: T }>();
  useEffect(() => {
    const timer = copied && setTimeout(() => setCopied(undefined), shown);
    return () => clearTimeout(timer);
  }, [copied]);
  return [copied?.as, (text, as) => void navigator.clipboard.writeText(text).then(() => setCopied({ as }), () => undefined)];
}
