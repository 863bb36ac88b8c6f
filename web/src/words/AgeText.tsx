import { useSyncExternalStore } from "react";
import { everySecond } from "../clock";
import { age, atTime } from "./age";

/** How long ago something was. It ticks by itself, and renders only when its text changes. */
export function Age({ since, before = "", after = "", title, className }: { since: string | undefined; before?: string; after?: string; title?: string; className?: string }) {
  const text = useSyncExternalStore(everySecond, () => age(since, Date.now()));
  return (
    <time dateTime={since} title={title ?? atTime(since)} className={className}>
      {since ? before + text + after : text}
    </time>
  );
}
