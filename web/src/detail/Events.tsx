import { EmptyState, EmptyStateBody, Icon, Skeleton } from "@patternfly/react-core";
import ExclamationTriangleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-triangle-icon";
import InfoCircleIcon from "@patternfly/react-icons/dist/esm/icons/info-circle-icon";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import { api } from "../api/client";
import { keyOf, type Darkroom } from "../api/types";
import { ProblemState } from "../layout/ProblemState";
import { useLoaded } from "../useLoaded";
import { useNow } from "../useNow";
import { age, atTime } from "../words/age";
import { separate } from "../words/conditions";

/** What happened to a Darkroom, the latest first. */
export function Events({ darkroom }: { darkroom: Darkroom }) {
  const now = useNow();
  const { value: events, problem, reload } = useLoaded(keyOf(darkroom), (signal) => api.events(darkroom, signal), 5_000);
  if (!events) {
    return problem ? <ProblemState problem={problem} onRetry={reload} isSmall /> : <Skeleton height="6rem" screenreaderText="Loading events" />;
  }
  if (events.length === 0) {
    return (
      <EmptyState titleText="Nothing is remembered" headingLevel="h2" variant="sm">
        <EmptyStateBody>The cluster forgets events after an hour or so.</EmptyStateBody>
      </EmptyState>
    );
  }
  return (
    <Table aria-label="Events" variant="compact" gridBreakPoint="grid-md">
      <Thead>
        <Tr>
          <Th width={20}>What</Th>
          <Th width={50}>Message</Th>
          <Th>Times</Th>
          <Th>Last seen</Th>
        </Tr>
      </Thead>
      <Tbody>
        {events.map((event, i) => (
          <Tr key={`${event.reason} ${event.firstSeen ?? ""} ${i}`}>
            <Td dataLabel="What">
              <span className="dr-phase">
                <Icon status={event.type === "Warning" ? "warning" : undefined} isInline>
                  {event.type === "Warning" ? <ExclamationTriangleIcon aria-label="Warning" /> : <InfoCircleIcon aria-hidden />}
                </Icon>
                {separate(event.reason)}
              </span>
            </Td>
            <Td dataLabel="Message" className="dr-break">
              {event.message}
            </Td>
            <Td dataLabel="Times">{event.count}</Td>
            <Td dataLabel="Last seen">
              <time dateTime={event.lastSeen} title={atTime(event.lastSeen)}>
                {age(event.lastSeen, now)} ago
              </time>
            </Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}
