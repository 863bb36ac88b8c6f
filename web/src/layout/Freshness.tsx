import { Label } from "@patternfly/react-core";
import { useConnection, useSynced } from "../live/useLive";

/** Whether what the page shows is up to date. */
export function Freshness() {
  const connection = useConnection();
  const synced = useSynced();
  const lost = connection === "lost" && synced;
  return (
    <span role="status" title={lost ? "The page may be out of date. Reconnecting…" : undefined}>
      {lost ? (
        <Label isCompact color="yellow">
          Connection lost
        </Label>
      ) : (
        connection === "live" &&
        synced && (
          <Label isCompact color="green" className="dr-live">
            Live
          </Label>
        )
      )}
    </span>
  );
}
