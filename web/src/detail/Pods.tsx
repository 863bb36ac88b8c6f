import { Button, Skeleton } from "@patternfly/react-core";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import ExclamationTriangleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-triangle-icon";
import InProgressIcon from "@patternfly/react-icons/dist/esm/icons/in-progress-icon";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import { Suspense, useState } from "react";
import { lazyView } from "../lazyView";
import { api } from "../api/client";
import { keyOf, type Darkroom, type Pod } from "../api/types";
import { ProblemState } from "../layout/ProblemState";
import { useLoaded } from "../useLoaded";
import { Age } from "../words/AgeText";
import { separate } from "../words/reasons";
import { StatusText } from "../words/StatusText";

const PodDialog = lazyView(() => import("./PodDialog"));

/** How often the pods are read while they are visible, in milliseconds. */
const every = 2_000;

/** The pods, as they come and go. */
export function Pods({ darkroom, mayReadLogs }: { darkroom: Darkroom; mayReadLogs: boolean }) {
  const [opened, setOpened] = useState<Pod>();
  const { value: pods, problem, reload } = useLoaded(`pods ${keyOf(darkroom)}`, (signal) => api.pods(darkroom, signal), { every });
  if (!pods) {
    return problem ? <ProblemState problem={problem} onRetry={reload} isSmall missing={{ to: "pods", namespace: darkroom.namespace }} /> : <Skeleton height="3rem" screenreaderText="Loading pods" />;
  }
  return (
    <>
      {pods.length === 0 ? <p className="dr-quiet">No pods</p> : <PodTable pods={pods} mayReadLogs={mayReadLogs} onOpen={setOpened} />}
      {opened && (
        <Suspense>
          <PodDialog darkroom={darkroom} pod={opened} mayReadLogs={mayReadLogs} onClose={() => setOpened(undefined)} />
        </Suspense>
      )}
    </>
  );
}

function PodTable({ pods, mayReadLogs, onOpen }: { pods: Pod[]; mayReadLogs: boolean; onOpen: (pod: Pod) => void }) {
  return (
    <Table aria-label="Pods" variant="compact" gridBreakPoint="grid-md">
      <Thead>
        <Tr>
          <Th width={35}>Name</Th>
          <Th>State</Th>
          <Th>Restarts</Th>
          <Th>Node</Th>
          <Th>Address</Th>
          <Th>Age</Th>
        </Tr>
      </Thead>
      <Tbody>
        {pods.map((pod) => (
          <Tr key={pod.name}>
            <Td dataLabel="Name" className="dr-break">
              <Button variant="link" isInline className="dr-break" onClick={() => onOpen(pod)} aria-label={mayReadLogs ? `Log and events of ${pod.name}` : `Events of ${pod.name}`}>
                {pod.name}
              </Button>
            </Td>
            <Td dataLabel="State">
              <State pod={pod} />
            </Td>
            <Td dataLabel="Restarts">{pod.restarts}</Td>
            <Td dataLabel="Node">{pod.node ?? "–"}</Td>
            <Td dataLabel="Address">{pod.ip ?? "–"}</Td>
            <Td dataLabel="Age">
              <Age since={pod.startedAt} />
            </Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}

function State({ pod }: { pod: Pod }) {
  const [icon, status, word] = pod.ready
    ? ([CheckCircleIcon, "success", "Ready"] as const)
    : pod.reason
      ? ([ExclamationTriangleIcon, "warning", separate(pod.reason)] as const)
      : ([InProgressIcon, "info", pod.phase === "Running" ? "Starting" : pod.phase] as const);
  return (
    <>
      <StatusText icon={icon} status={status}>
        {word}
      </StatusText>
      {!pod.ready && pod.message && <div className="dr-quiet dr-break">{pod.message}</div>}
    </>
  );
}
