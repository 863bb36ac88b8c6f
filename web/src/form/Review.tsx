import { ActionGroup, Alert, Button, EmptyState, EmptyStateBody, Form, Title } from "@patternfly/react-core";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import { useEffect, useRef } from "react";
import type { Problem } from "../api/problem";
import { DiffView } from "../diff/DiffView";
import type { Reviewed } from "./useSaving";

/** What saving will change in the cluster, before it does. */
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
        <Title headingLevel="h2">{isNew ? "What will be installed" : "What will change"}</Title>
      </div>
      <Alert component="p" isInline isPlain variant="success" title="The cluster has checked it and would take it. Nothing is stored yet." />
      {problem && (
        <Alert component="p" isInline variant="danger" title={problem.status === 403 ? "You may not do this" : "It could not be saved"} role="alert">
          {problem.message}
        </Alert>
      )}
      {changed ? (
        <DiffView lines={reviewed.manifests} label="Manifests" />
      ) : (
        <EmptyState titleText="The manifests stay as they are" icon={CheckCircleIcon} headingLevel="h3" variant="sm">
          <EmptyStateBody>What you changed shows in no manifest, or only in secrets, which are not shown.</EmptyStateBody>
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
