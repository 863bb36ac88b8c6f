import { Label } from "@patternfly/react-core";
import { useSyncExternalStore } from "react";
import { everySecond } from "../clock";
import { useConnection, useStore, useSynced } from "../live/useLive";
import type { Darkroom } from "../api/types";
import { spell, waitingFor } from "../words/waiting";

/** How long all Darkrooms have been waiting for the operator, in milliseconds; negative if one is not waiting. */
const waitingForAll = (darkrooms: readonly Darkroom[]): number =>
  darkrooms.length === 0 ? -1000 : Math.min(...darkrooms.map((one) => waitingFor(one, Date.now()) ?? -1000));

/** Shows whether the page is up to date: live, disconnected, or with an operator that does not respond. */
export function Freshness() {
  const store = useStore();
  const connection = useConnection();
  const synced = useSynced();
  const seconds = useSyncExternalStore(everySecond, () => {
    const { darkrooms, since } = store.read();
    const late = connection === "lost" ? Date.now() - since : waitingForAll(darkrooms);
    return Math.floor(late / 1000);
  });
  const [color, text, title] =
    connection === "lost"
      ? (["yellow", `No connection for ${spell(seconds)}`, "The page may be out of date. Reconnecting…"] as const)
      : seconds >= 3
        ? (["blue", `Operator behind for ${spell(seconds)}`, "The operator has not handled the last changes. Check that it is running."] as const)
        : (["green", "Live", undefined] as const);
  return (
    <span role="status" title={title} className="dr-fresh">
      {(connection === "lost" || (synced && connection === "live")) && (
        <Label isCompact color={color} className={color === "green" ? "dr-live" : undefined}>
          {text}
        </Label>
      )}
    </span>
  );
}
