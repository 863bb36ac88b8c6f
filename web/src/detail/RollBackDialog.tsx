import { Alert, Button, ModalBody, ModalFooter, ModalHeader, Stack, StackItem } from "@patternfly/react-core";
import { Dialog } from "../layout/Dialog";
import { useState } from "react";
import { Command } from "../actions/Command";
import { api } from "../api/client";
import { asProblem, type Problem } from "../api/problem";
import type { Darkroom, Revision } from "../api/types";
import { DiffView } from "../diff/DiffView";
import { writeSeen } from "../form/versions";
import { useStore } from "../live/useLive";
import { changesTo, rollBackCommandOf } from "./revisions";

/** Shows what a roll-back changes, and performs it. */
export function RollBackDialog({ darkroom, revision, onClose }: { darkroom: Darkroom; revision: Revision; onClose: (done?: string) => void }) {
  const store = useStore();
  // The version that the user saw: what others change meanwhile is not overwritten.
  const [seen] = useState(darkroom);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const lines = changesTo(seen, revision);
  const submit = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      store.put(await writeSeen(seen, (ifMatch) => api.rollBack(seen, revision.revision, ifMatch)));
      onClose(`Rolled back to the settings of revision ${revision.revision}`);
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setBusy(false);
    }
  };
  return (
    <Dialog variant="medium" onClose={() => onClose()} aria-labelledby="roll-back-title" aria-describedby="roll-back-text">
      <ModalHeader title={`Roll back ${darkroom.name} to revision ${revision.revision}?`} labelId="roll-back-title" />
      <ModalBody>
        <Stack hasGutter>
          {problem && (
            <StackItem>
              <Alert component="p" isInline variant="danger" title={problem.status === 412 ? "Darkroom changed" : "Request failed"} role="alert">
                {problem.message}
              </Alert>
            </StackItem>
          )}
          <StackItem>
            <p id="roll-back-text">
              All settings become those of the revision. Labels and annotations of the Darkroom stay, and the operator makes a new revision.
              {revision.secretsDiffer && ` Inline keys or literal values of variables, which are never shown, are restored too.`}
            </p>
          </StackItem>
          {lines.length > 0 && (
            <StackItem>
              <DiffView lines={lines} label="Settings" />
            </StackItem>
          )}
          <StackItem>
            <Command id="roll-back-command" text={rollBackCommandOf(darkroom, revision)} />
          </StackItem>
        </Stack>
      </ModalBody>
      <ModalFooter>
        <Button isDisabled={busy} isLoading={busy} onClick={() => void submit()}>
          Roll back
        </Button>
        <Button variant="link" onClick={() => onClose()}>
          Cancel
        </Button>
      </ModalFooter>
    </Dialog>
  );
}
