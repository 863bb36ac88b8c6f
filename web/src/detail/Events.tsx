import { EmptyState, EmptyStateBody } from "@patternfly/react-core";
import { api } from "../api/client";
import { keyOf, type Darkroom } from "../api/types";
import { DataTable } from "../layout/DataTable";
import { Loading } from "../layout/Loading";
import { ProblemState } from "../layout/ProblemState";
import { useLoaded } from "../useLoaded";
import { Age, ago } from "../words/AgeText";
import { describeReason } from "../words/reasons";
import { StatusText } from "../words/StatusText";
import { signs } from "../words/ToneIcon";

/** The events of a Darkroom or of one of its pods, the latest first. */
export function Events({ darkroom, pod }: { darkroom: Darkroom; pod?: string }) {
  const load = (signal: AbortSignal) => (pod ? api.podEvents(darkroom, pod, signal) : api.events(darkroom, signal));
  const { value: events, problem, reload } = useLoaded(`events ${keyOf(darkroom)} ${pod ?? ""}`, load, { every: 5_000 });
  if (!events) {
    return problem ? <ProblemState problem={problem} onRetry={reload} isSmall missing={{ to: "events", namespace: darkroom.namespace }} /> : <Loading height="6rem" label="Loading events" />;
  }
  if (events.length === 0) {
    return (
      <EmptyState titleText="No recent events" headingLevel="h2" variant="sm">
        <EmptyStateBody>Kubernetes keeps events for about an hour.</EmptyStateBody>
      </EmptyState>
    );
  }
  return (
    <DataTable
      label="Events"
      columns={{ Reason: { width: 20 }, Message: { width: 50, breaks: true }, Count: {}, "Last seen": {} }}
      rows={events.map(({ type, reason, message, count, firstSeen, lastSeen }, i) => ({
        key: `${reason} ${firstSeen ?? ""} ${i}`,
        cells: [
          <StatusText {...signs[type === "Warning" ? "warning" : "neutral"]} label={type === "Warning" ? "Warning" : undefined}>
            {describeReason(reason)}
          </StatusText>,
          message,
          count,
          <Age since={lastSeen} text={ago} />,
        ],
      }))}
    />
  );
}
