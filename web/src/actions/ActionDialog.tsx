import {
  Alert,
  Button,
  Form,
  FormGroup,
  FormHelperText,
  HelperText,
  HelperTextItem,
    ModalBody,
  ModalFooter,
  ModalHeader,
  TextInput,
} from "@patternfly/react-core";
import { Dialog } from "../layout/Dialog";
import { useState } from "react";
import { asProblem, type Problem } from "../api/problem";
import type { Darkroom } from "../api/types";
import { useStore } from "../live/useLive";
import { commandOf, words, type ActionName } from "./actions";
import { Command } from "./Command";
import { perform, timestamp } from "./perform";

const maxReplicas = 1000;

/** Explains an action, shows its kubectl command, and performs it. */
export function ActionDialog({ action, darkroom, onClose }: { action: ActionName; darkroom: Darkroom; onClose: (done?: string) => void }) {
  const store = useStore();
  // The version that the user saw: what others change meanwhile is not overwritten.
  const [seen] = useState(darkroom);
  const [now] = useState(timestamp);
  const [typed, setTyped] = useState(String(darkroom.replicas ?? 1));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const { ask, effect, act, done } = words[action];
  const replicas = Number(typed);
  const fits = action !== "scale" || (/^\d+$/.test(typed) && replicas <= maxReplicas);
  const submit = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      store.put(await perform(action, seen, now, replicas));
      onClose(done);
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setBusy(false);
    }
  };
  return (
    <Dialog variant="small" onClose={() => onClose()} aria-labelledby="action-title" aria-describedby="action-text">
      <ModalHeader title={ask(darkroom.name)} labelId="action-title" />
      <ModalBody>
        <Form
          id="action-form"
          onSubmit={(event) => {
            event.preventDefault();
            if (fits && !busy) {
              void submit();
            }
          }}
        >
          {problem && (
            <Alert component="p" isInline variant="danger" title={titleOf(problem)} role="alert">
              {problem.message}
            </Alert>
          )}
          <p id="action-text">{effect}</p>
          {action === "scale" && <Replicas typed={typed} fits={fits} onChange={setTyped} />}
          <Command id="action-command" text={commandOf(action, darkroom, now, fits ? replicas : (darkroom.replicas ?? 1))} />
        </Form>
      </ModalBody>
      <ModalFooter>
        <Button type="submit" form="action-form" isDisabled={!fits || busy} isLoading={busy}>
          {act}
        </Button>
        <Button variant="link" onClick={() => onClose()}>
          Cancel
        </Button>
      </ModalFooter>
    </Dialog>
  );
}

const titles: Record<number, string> = { 403: "Permission denied", 409: "Darkroom replaced", 412: "Darkroom changed" };
const titleOf = ({ status }: Problem): string => titles[status] ?? "Request failed";

function Replicas({ typed, fits, onChange }: { typed: string; fits: boolean; onChange: (typed: string) => void }) {
  const help = !fits ? `Must be from 0 to ${maxReplicas}` : Number(typed) === 0 ? "Scaled to zero: no images are served" : "The pods of the Darkroom";
  return (
    <FormGroup label="Number of pods" fieldId="action-replicas" isRequired>
      <TextInput
        id="action-replicas"
        type="number"
        min={0}
        max={maxReplicas}
        value={typed}
        validated={fits ? "default" : "error"}
        aria-describedby="action-replicas-help"
        onChange={(_, value) => onChange(value)}
      />
      <FormHelperText>
        <HelperText id="action-replicas-help" isLiveRegion>
          <HelperTextItem variant={fits ? "default" : "error"}>{help}</HelperTextItem>
        </HelperText>
      </FormHelperText>
    </FormGroup>
  );
}
