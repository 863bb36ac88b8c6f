import { useSyncExternalStore } from "react";
import { everySecond, now } from "../clock";
import { age, atTime } from "./age";

interface Props {
  since: string | undefined;
  /** The text around the age. */
  text?: (age: string) => string;
  title?: string;
  className?: string;
}

/** The age of something. It updates itself, and renders only when its text changes. */
export function Age({ since, text = (age) => age, title, className }: Props) {
  const shown = useSyncExternalStore(everySecond, () => age(since, now()));
  return (
    <time dateTime={since} title={title ?? atTime(since)} className={className}>
      {since ? text(shown) : shown}
    </time>
  );
}

/** The text of an age in the past. */
export const ago = (age: string): string => `${age} ago`;
