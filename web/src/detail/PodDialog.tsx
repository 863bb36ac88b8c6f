import { ModalBody, ModalHeader, Tab, TabContent, Tabs, TabTitleText, Tooltip } from "@patternfly/react-core";
import { Dialog } from "../layout/Dialog";
import { useState } from "react";
import type { Darkroom, Pod } from "../api/types";
import { missingRight } from "../layout/MissingRight";
import { Events } from "./Events";
import { PodLog } from "./PodLog";

const parts = { log: "Log", events: "Events" };

/** Log and events of one pod. */
export default function PodDialog({ darkroom, pod, mayReadLogs, onClose }: { darkroom: Darkroom; pod: Pod; mayReadLogs: boolean; onClose: () => void }) {
  const [part, setPart] = useState<keyof typeof parts>(mayReadLogs ? "log" : "events");
  const noLog = mayReadLogs ? undefined : <Tooltip content={missingRight("logs", darkroom.namespace)} />;
  return (
    <Dialog elementToFocus=".pf-v6-c-modal-box__body button" variant="large" onClose={onClose} aria-labelledby="pod-title">
      <ModalHeader title={`Pod ${pod.name}`} labelId="pod-title" />
      <ModalBody>
        <Tabs activeKey={part} onSelect={(_, key) => setPart(key as keyof typeof parts)} aria-label="Log or events" className="dr-tabs">
          {Object.entries(parts).map(([name, title]) => (
            <Tab
              key={name}
              eventKey={name}
              title={<TabTitleText>{title}</TabTitleText>}
              tabContentId={`pod-${name}`}
              isAriaDisabled={name === "log" && !mayReadLogs}
              tooltip={name === "log" ? noLog : undefined}
            />
          ))}
        </Tabs>
        <TabContent id={`pod-${part}`} eventKey={part} activeKey={part} aria-label={parts[part]}>
          {part === "log" ? <PodLog of={darkroom} pod={pod.name} hasRestarted={pod.restarts > 0} hasGate={darkroom.gate !== undefined} /> : <Events darkroom={darkroom} pod={pod.name} />}
        </TabContent>
      </ModalBody>
    </Dialog>
  );
}
