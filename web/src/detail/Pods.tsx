import { Button } from "@patternfly/react-core";
import { Suspense, useState } from "react";
import { lazyView } from "../lazyView";
import { api } from "../api/client";
import { keyOf, type Darkroom, type Pod } from "../api/types";
import { DataTable } from "../layout/DataTable";
import { Loading } from "../layout/Loading";
import { ProblemState } from "../layout/ProblemState";
import { useLoaded } from "../useLoaded";
import { Age } from "../words/AgeText";
import { separate } from "../words/reasons";
import { StatusText } from "../words/StatusText";
import { signs } from "../words/ToneIcon";

const PodDialog = lazyView(() => import("./PodDialog"));

/** How often the pods are read while they are visible, in milliseconds. */
const every = 2_000;

/** The pods, refreshed at intervals. */
export function Pods({ darkroom, mayReadLogs }: { darkroom: Darkroom; mayReadLogs: boolean }) {
  const [opened, setOpened] = useState<Pod>();
  const { value: pods, problem, reload } = useLoaded(`pods ${keyOf(darkroom)}`, (signal) => api.pods(darkroom, signal), { every });
  if (!pods) {
    return problem ? <ProblemState problem={problem} onRetry={reload} isSmall missing={{ to: "pods", namespace: darkroom.namespace }} /> : <Loading height="3rem" label="Loading pods" />;
  }
  return (
    <>
      {pods.length === 0 ? (
        <p className="dr-quiet">No pods</p>
      ) : (
        <DataTable
          label="Pods"
          columns={{ Name: { width: 35, breaks: true }, State: {}, Restarts: {}, Node: {}, Address: {}, Age: {} }}
          rows={pods.map((pod) => ({
            key: pod.name,
            cells: [
              <Button variant="link" isInline className="dr-break" onClick={() => setOpened(pod)} aria-label={mayReadLogs ? `Log and events of ${pod.name}` : `Events of ${pod.name}`}>
                {pod.name}
              </Button>,
              <State pod={pod} />,
              pod.restarts,
              pod.node ?? "–",
              pod.ip ?? "–",
              <Age since={pod.startedAt} />,
            ],
          }))}
        />
      )}
      {opened && (
        <Suspense>
          <PodDialog darkroom={darkroom} pod={opened} mayReadLogs={mayReadLogs} onClose={() => setOpened(undefined)} />
        </Suspense>
      )}
    </>
  );
}

function State({ pod }: { pod: Pod }) {
  const [tone, word] = pod.ready
    ? (["good", "Ready"] as const)
    : pod.reason
      ? (["warning", separate(pod.reason)] as const)
      : (["busy", pod.phase === "Running" ? "Starting" : pod.phase] as const);
  return (
    <>
      <StatusText {...signs[tone]}>{word}</StatusText>
      {!pod.ready && pod.message && <div className="dr-quiet dr-break">{pod.message}</div>}
    </>
  );
}
