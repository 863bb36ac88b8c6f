import { Button } from "@patternfly/react-core";
import { useSyncExternalStore } from "react";
import { keyOf, type Darkroom } from "../api/types";
import { everySecond } from "../clock";
import { linkTo, paths } from "../router";
import { phaseOf } from "../words/phases";
import { describeReason } from "../words/reasons";
import { normalWait, waitingFor } from "../words/waiting";
import { countBy, parseQuery, type Query } from "./query";

/** The number of Darkrooms that need attention, by reason, as filters. Darkrooms that wait for the operator are linked. */
export function Attention({ darkrooms, onChange }: { darkrooms: readonly Darkroom[]; onChange: (part: Partial<Query>) => void }) {
  const late = useSyncExternalStore(everySecond, () =>
    darkrooms
      .filter((darkroom) => (waitingFor(darkroom, Date.now()) ?? 0) > normalWait)
      .map(keyOf)
      .join(" "),
  );
  const waiting = darkrooms.filter((darkroom) => late.split(" ").includes(keyOf(darkroom)));
  const troubled = darkrooms.filter((darkroom) => ["Failed", "Degraded"].includes(phaseOf(darkroom)));
  if (troubled.length + waiting.length === 0) {
    return null;
  }
  const counts = countBy("reasons", troubled, parseQuery(""));
  return (
    <div className="dr-row dr-attention" role="group" aria-label="Needs attention">
      <strong>Needs attention ({new Set([...troubled, ...waiting]).size}):</strong>
      {[...counts]
        .sort(([, a], [, b]) => b - a)
        .map(([reason, n]) => (
          <Button key={reason} variant="link" isInline onClick={() => onChange({ phases: [], reasons: [reason] })}>
            {describeReason(reason)} ({n})
          </Button>
        ))}
      {waiting[0] && (
        <span>
          Waiting for the operator ({waiting.length}):{" "}
          <Button variant="link" isInline {...linkTo(paths.detail(waiting[0]))}>
            {waiting[0].name}
          </Button>
          {waiting.length > 1 && ` and ${waiting.length - 1} more`}
        </span>
      )}
    </div>
  );
}
