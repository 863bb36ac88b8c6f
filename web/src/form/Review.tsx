import { ActionGroup, Alert, Button, EmptyState, EmptyStateBody, Form, Title } from "@patternfly/react-core";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import { useEffect, useRef } from "react";
import type { Problem } from "../api/problem";
import { DiffView } from "../diff/DiffView";
import { ToneIcon } from "../words/ToneIcon";
import { findingsOf } from "./outcome";
import type { Reviewed } from "./useSaving";

/** The effect of saving on the cluster, before anything is stored. */
export function Review({
  reviewed,
  isNew,
  busy,
  problem,
  onSave,
  onBack,
}: {
  reviewed: Reviewed;
  isNew: boolean;
  busy: boolean;
  problem: Problem | undefined;
  onSave: () => void;
  onBack: () => void;
}) {
  const heading = useRef<HTMLDivElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const changed = reviewed.manifests.some((line) => line.kind !== "same");
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        onSave();
      }}
    >
      <div ref={heading} tabIndex={-1} className="dr-heading">
        <Title headingLevel="h2">{isNew ? "Review the new Darkroom" : "Review changes"}</Title>
      </div>
      <Alert component="p" isInline isPlain variant="success" title="Validated by the cluster. Nothing is stored yet." />
      <ul className="dr-conditions" aria-label="Outcome">
        {findingsOf(reviewed.outcome).map(({ tone, title, detail }) => (
          <li key={title}>
            <ToneIcon tone={tone} />
            <div>
              <strong>{title}</strong>
              {detail && <div className="dr-quiet dr-break">{detail}</div>}
            </div>
          </li>
        ))}
      </ul>
      {problem && (
        <Alert component="p" isInline variant="danger" title={problem.status === 403 ? "Permission denied" : "Saving failed"} role="alert">
          {problem.message}
        </Alert>
      )}
      {changed ? (
        <DiffView lines={reviewed.manifests} label="Manifests" />
      ) : (
        <EmptyState titleText="No change to the manifests" icon={CheckCircleIcon} headingLevel="h3" variant="sm">
          <EmptyStateBody>Your changes do not affect the installed objects, or only Secrets, whose content is not shown.</EmptyStateBody>
        </EmptyState>
      )}
      <ActionGroup className="dr-actions">
        <Button type="submit" isLoading={busy} isDisabled={busy}>
          {isNew ? "Create" : "Save"}
        </Button>
        <Button variant="secondary" onClick={onBack} isDisabled={busy}>
          Back
        </Button>
      </ActionGroup>
    </Form>
  );
}
