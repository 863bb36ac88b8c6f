import { useEffect, useState } from "react";

/** For how long the page says that a text was copied, in milliseconds. */
const shown = 3_000;

/** What was copied a moment ago, if anything, and a way to copy. */
export function useCopy<T extends string = "text">(): [copied: T | undefined, copy: (text: string, as: T) => void] {
  const [copied, setCopied] = useState<{ as: T }>();
  useEffect(() => {
    const timer = copied && setTimeout(() => setCopied(undefined), shown);
    return () => clearTimeout(timer);
  }, [copied]);
  return [copied?.as, (text, as) => void navigator.clipboard.writeText(text).then(() => setCopied({ as }), () => undefined)];
}
