import { Button } from "@patternfly/react-core";
import type { Darkroom } from "../api/types";
import { reasonOf } from "../words/conditions";
import { phaseOf } from "../words/phases";
import { describeReason } from "../words/reasons";
import type { Query } from "./query";

/** How many Darkrooms need attention, by reason; a click shows them. */
export function Attention({ darkrooms, onChange }: { darkrooms: readonly Darkroom[]; onChange: (part: Partial<Query>) => void }) {
  const troubled = darkrooms.filter((darkroom) => ["Failed", "Degraded"].includes(phaseOf(darkroom)));
  if (troubled.length === 0) {
    return null;
  }
  const counts = new Map<string, number>();
  for (const reason of troubled.map(reasonOf)) {
    if (reason) {
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
    }
  }
  return (
    <div className="dr-row dr-attention" role="group" aria-label="Needs attention">
      <strong>Needs attention ({troubled.length}):</strong>
      {[...counts]
        .sort(([, a], [, b]) => b - a)
        .map(([reason, n]) => (
          <Button key={reason} variant="link" isInline onClick={() => onChange({ phases: [], reasons: [reason] })}>
            {describeReason(reason)} ({n})
          </Button>
        ))}
    </div>
  );
}
