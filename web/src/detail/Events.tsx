import { EmptyState, EmptyStateBody, Skeleton } from "@patternfly/react-core";
import ExclamationTriangleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-triangle-icon";
import InfoCircleIcon from "@patternfly/react-icons/dist/esm/icons/info-circle-icon";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import { api } from "../api/client";
import { keyOf, type Darkroom, type DarkroomEvent } from "../api/types";
import { ProblemState } from "../layout/ProblemState";
import { useLoaded } from "../useLoaded";
import { Age, ago } from "../words/AgeText";
import { describeReason } from "../words/reasons";
import { StatusText } from "../words/StatusText";

/** The events of a Darkroom, or of one of its pods, the latest first. */
export function Events({ darkroom, pod }: { darkroom: Darkroom; pod?: string }) {
  const load = (signal: AbortSignal) => (pod ? api.podEvents(darkroom, pod, signal) : api.events(darkroom, signal));
  const { value: events, problem, reload } = useLoaded(`events ${keyOf(darkroom)} ${pod ?? ""}`, load, { every: 5_000 });
  if (!events) {
    return problem ? <ProblemState problem={problem} onRetry={reload} isSmall missing={{ to: "events", namespace: darkroom.namespace }} /> : <Skeleton height="6rem" screenreaderText="Loading events" />;
  }
  if (events.length === 0) {
    return (
      <EmptyState titleText="No recent events" headingLevel="h2" variant="sm">
        <EmptyStateBody>Kubernetes keeps events for about an hour.</EmptyStateBody>
      </EmptyState>
    );
  }
  return (
    <Table aria-label="Events" variant="compact" gridBreakPoint="grid-md">
      <Thead>
        <Tr>
          <Th width={20}>Reason</Th>
          <Th width={50}>Message</Th>
          <Th>Count</Th>
          <Th>Last seen</Th>
        </Tr>
      </Thead>
      <Tbody>
        {events.map((event, i) => (
          <Tr key={`${event.reason} ${event.firstSeen ?? ""} ${i}`}>
            <Td dataLabel="Reason">
              <Reason of={event} />
            </Td>
            <Td dataLabel="Message" className="dr-break">
              {event.message}
            </Td>
            <Td dataLabel="Count">{event.count}</Td>
            <Td dataLabel="Last seen">
              <Age since={event.lastSeen} text={ago} />
            </Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}

function Reason({ of: { type, reason } }: { of: DarkroomEvent }) {
  const isWarning = type === "Warning";
  return (
    <StatusText icon={isWarning ? ExclamationTriangleIcon : InfoCircleIcon} status={isWarning ? "warning" : undefined} label={isWarning ? "Warning" : undefined}>
      {describeReason(reason)}
    </StatusText>
  );
}
