import { Alert, Button, Form, FormGroup, ModalBody, ModalFooter, ModalHeader, TextInput } from "@patternfly/react-core";
import { Dialog } from "../layout/Dialog";
import { useState } from "react";
import { api } from "../api/client";
import { asProblem, type Problem } from "../api/problem";
import type { Darkroom } from "../api/types";
import { Command } from "../actions/Command";
import { deleteCommandOf } from "../actions/actions";
import { writeSeen } from "../form/versions";
import { navigate, paths } from "../router";

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
    <Dialog variant="small" onClose={onClose} aria-labelledby="delete-title" aria-describedby="delete-text">
      <ModalHeader title={`Delete ${of.name}?`} titleIconVariant="warning" titleScreenReaderText="Warning alert:" labelId="delete-title" />
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
            <Alert component="p" isInline variant="danger" title={problem.status === 403 ? "Permission denied" : "Deletion failed"} role="alert">
              {problem.message}
            </Alert>
          )}
          <p id="delete-text">
            This deletes its pods and routes, and its domains stop serving images. The images at the source are not deleted.
          </p>
          <FormGroup label={<>Type <strong>{of.name}</strong> to confirm</>} fieldId="delete-name">
            <TextInput id="delete-name" value={typed} onChange={(_, value) => setTyped(value)} autoComplete="off" spellCheck={false} />
          </FormGroup>
          <Command id="delete-command" text={deleteCommandOf(of)} />
        </Form>
      </ModalBody>
      <ModalFooter>
        <Button variant="danger" type="submit" form="delete-form" isDisabled={!fits || busy} isLoading={busy}>
          Delete
        </Button>
        <Button variant="link" onClick={onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Dialog>
  );
}
