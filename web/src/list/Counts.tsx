import { ToggleGroup, ToggleGroupItem } from "@patternfly/react-core";
import { phaseNames, PhaseText } from "../words/phases";
import type { Query } from "./query";

/** The number of Darkrooms in each phase; a click filters by it. */
export function Counts({
  counts,
  total,
  query,
  onChange,
}: {
  counts: Map<string, number>;
  total: number;
  query: Query;
  onChange: (part: Partial<Query>) => void;
}) {
  const only = query.phases.length === 1 ? query.phases[0] : undefined;
  return (
    <ToggleGroup aria-label="Darkrooms by phase" className="dr-counts">
      <ToggleGroupItem
        key="all"
        text={<Count label="All" n={total} />}
        isSelected={query.phases.length === 0}
        onChange={() => onChange({ phases: [] })}
      />
      {phaseNames
        .filter((phase) => counts.has(phase) || phase === only)
        .map((phase) => (
          <ToggleGroupItem
            key={phase}
            text={<Count label={<PhaseText phase={phase} />} n={counts.get(phase) ?? 0} />}
            isSelected={query.phases.includes(phase)}
            onChange={() => onChange({ phases: only === phase ? [] : [phase] })}
          />
        ))}
    </ToggleGroup>
  );
}

function Count({ label, n }: { label: React.ReactNode; n: number }) {
  return (
    <span className="dr-count">
      {label} <strong>{n}</strong>
    </span>
  );
}
