import { Bullseye, Spinner } from "@patternfly/react-core";
import { useEffect, useState } from "react";
import { useIsLost } from "../live/useLive";

/** The delay before a panel names what it is waiting for, in milliseconds. */
const soon = 800;

/** A placeholder while content is loading. */
export function Loading({ label = "Loading", height }: { label?: string; height?: string }) {
  const isLost = useIsLost();
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), soon);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Bullseye style={{ minHeight: height }} className="dr-row">
      <Spinner aria-label={label} size="lg" />
      <span role="status" className="dr-quiet">
        {isLost ? "No connection to the server. Reconnecting…" : isLate && `${label}…`}
      </span>
    </Bullseye>
  );
}
