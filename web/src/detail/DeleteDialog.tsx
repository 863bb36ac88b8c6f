import { Button, Form, FormGroup, ModalBody, ModalFooter, ModalHeader, TextInput } from "@patternfly/react-core";
import { useState } from "react";
import { api } from "../api/client";
import { asProblem, type Problem } from "../api/problem";
import type { Darkroom } from "../api/types";
import { Command } from "../actions/Command";
import { deleteCommandOf } from "../actions/actions";
import { writeSeen } from "../form/versions";
import { Alert } from "../patternfly/Alert";
import { Modal } from "../patternfly/Modal";
import { navigate, paths } from "../router";
import { rich, t } from "../words/t";

/** Confirms a deletion by the name of the Darkroom. */
export function DeleteDialog({ of, onClose }: { of: Darkroom; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [seen] = useState(of);
  const fits = typed === of.name;
  const remove = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await writeSeen(seen, (ifMatch) => api.remove(seen, ifMatch));
      onClose();
      navigate(paths.list);
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setBusy(false);
    }
  };
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="delete-title" aria-describedby="delete-text">
      <ModalHeader title={t("Delete {name}?", { name: of.name })} titleIconVariant="warning" titleScreenReaderText={t("Warning alert:")} labelId="delete-title" />
      <ModalBody>
        <Form
          id="delete-form"
          onSubmit={(event) => {
            event.preventDefault();
            if (fits) {
              void remove();
            }
          }}
        >
          {problem && (
            <Alert component="p" isInline variant="danger" title={problem.status === 403 ? t("Permission denied") : t("Deletion failed")} role="alert">
              {problem.message}
            </Alert>
          )}
          <p id="delete-text">
            {t("This deletes its pods and routes, and its domains stop serving images. The images at the source are not deleted.")}
          </p>
          <FormGroup label={rich("Type <strong>{name}</strong> to confirm", { name: of.name })} fieldId="delete-name">
            <TextInput id="delete-name" value={typed} onChange={(_, value) => setTyped(value)} autoComplete="off" spellCheck={false} />
          </FormGroup>
          <Command id="delete-command" text={deleteCommandOf(of)} />
        </Form>
      </ModalBody>
      <ModalFooter>
        <Button variant="danger" type="submit" form="delete-form" isDisabled={!fits || busy} isLoading={busy}>
          {t("Delete")}
        </Button>
        <Button variant="link" onClick={onClose}>
          {t("Cancel")}
        </Button>
      </ModalFooter>
    </Modal>
  );
}
