import { Alert, Button, Form, ModalBody, ModalFooter, ModalHeader } from "@patternfly/react-core";
import type { ReactNode } from "react";
import { CopyButton } from "../detail/CopyButton";
import { Dialog } from "../layout/Dialog";
import { Folded } from "../layout/Folded";
import { useSending } from "../useSending";

const titles: Record<number, string> = { 403: "Permission denied", 409: "Darkroom replaced", 412: "Darkroom changed" };

interface Props {
  title: string;
  effect: ReactNode;
  /** The equivalent kubectl command, folded. */
  command: string;
  /** The label of the button. */
  act: string;
  isDanger?: boolean;
  isDisabled?: boolean;
  isWide?: boolean;
  /** Performs the action, and closes the dialog. */
  run: () => Promise<void>;
  onClose: () => void;
  children?: ReactNode;
}

/** Explains and performs a change. Errors are shown in the dialog. */
export function Confirm({ title, effect, command, act, isDanger = false, isDisabled = false, isWide = false, run, onClose, children }: Props) {
  const { busy, problem, run: submit } = useSending(run);
  return (
    <Dialog variant={isWide ? "medium" : "small"} onClose={onClose} aria-labelledby="confirm-title" aria-describedby="confirm-text">
      <ModalHeader title={title} labelId="confirm-title" {...(isDanger ? { titleIconVariant: "warning", titleScreenReaderText: "Warning alert:" } : {})} />
      <ModalBody>
        <Form
          id="confirm-form"
          onSubmit={(event) => (isDisabled || busy ? event.preventDefault() : submit(event))}
        >
          {problem && (
            <Alert component="p" isInline variant="danger" title={titles[problem.status] ?? "Request failed"} role="alert">
              {problem.message}
            </Alert>
          )}
          <p id="confirm-text">{effect}</p>
          {children}
          {command && (
            <Folded title="The same with kubectl">
              <div className="dr-row dr-row--nowrap dr-row--top">
                {/* Focusable, so that it can be scrolled by keyboard. */}
                <pre className="dr-code dr-code--command" tabIndex={0} role="region" aria-label="kubectl command">
                  {command}
                </pre>
                <CopyButton text={command} label="Copy kubectl command" />
              </div>
            </Folded>
          )}
        </Form>
      </ModalBody>
      <ModalFooter>
        <Button variant={isDanger ? "danger" : "primary"} type="submit" form="confirm-form" isDisabled={isDisabled || busy} isLoading={busy}>
          {act}
        </Button>
        <Button variant="link" onClick={onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Dialog>
  );
}
