import { Button, Form, FormGroup, FormHelperText, HelperText, ModalBody, ModalFooter, ModalHeader, TextInput } from "@patternfly/react-core";
import { useState } from "react";
import { asProblem, type Problem } from "../api/problem";
import type { Darkroom } from "../api/types";
import { useStore } from "../live/useLive";
import { Alert } from "../patternfly/Alert";
import { HelperTextItem } from "../patternfly/HelperTextItem";
import { Modal } from "../patternfly/Modal";
import { msg, t, type Message } from "../words/t";
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
      onClose(t(done));
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setBusy(false);
    }
  };
  return (
    <Modal isOpen variant="small" onClose={() => onClose()} aria-labelledby="action-title" aria-describedby="action-text">
      <ModalHeader title={t(ask, { name: darkroom.name })} labelId="action-title" />
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
          <p id="action-text">{t(effect)}</p>
          {action === "scale" && <Replicas typed={typed} fits={fits} onChange={setTyped} />}
          <Command id="action-command" text={commandOf(action, darkroom, now, fits ? replicas : (darkroom.replicas ?? 1))} />
        </Form>
      </ModalBody>
      <ModalFooter>
        <Button type="submit" form="action-form" isDisabled={!fits || busy} isLoading={busy}>
          {t(act)}
        </Button>
        <Button variant="link" onClick={() => onClose()}>
          {t("Cancel")}
        </Button>
      </ModalFooter>
    </Modal>
  );
}

const titles: Record<number, Message> = { 403: msg("Permission denied"), 409: msg("Darkroom replaced"), 412: msg("Darkroom changed") };
const titleOf = ({ status }: Problem): string => t(titles[status] ?? msg("Request failed"));

function Replicas({ typed, fits, onChange }: { typed: string; fits: boolean; onChange: (typed: string) => void }) {
  const help = !fits ? t("Must be from {least} to {most}", { least: 0, most: maxReplicas }) : Number(typed) === 0 ? t("Scaled to zero: no images are served") : t("The pods of the Darkroom");
  return (
    <FormGroup label={t("Number of pods")} fieldId="action-replicas" isRequired>
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
