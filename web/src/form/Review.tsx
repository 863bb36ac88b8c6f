import { ActionGroup, Alert, Button, EmptyState, EmptyStateBody, ExpandableSection, Form, Title } from "@patternfly/react-core";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import { useEffect, useRef, useState } from "react";
import type { Problem } from "../api/problem";
import { DiffView } from "../diff/DiffView";
import type { ObjectChange } from "../diff/objects";
import { plural } from "../words/format";
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
      {reviewed.manifests.length > 0 ? (
        <Objects changes={reviewed.manifests} />
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

/** The objects that change, each folded unless it is the only one. */
function Objects({ changes }: { changes: readonly ObjectChange[] }) {
  const [opened, setOpened] = useState<readonly string[]>(changes.length === 1 ? changes.map(({ name }) => name) : []);
  const counts = (["created", "changed", "deleted"] as const)
    .map((action) => [action, changes.filter((change) => change.action === action).length] as const)
    .filter(([, n]) => n > 0);
  return (
    <div className="dr-stack">
      <Title headingLevel="h3">{counts.map(([action, n]) => `${plural(n, "object")} ${action}`).join(", ")}</Title>
      {changes.map(({ name, action, lines }) => {
        const open = opened.includes(name);
        return (
          <ExpandableSection
            key={name}
            toggleText={`${name}: ${action}`}
            isExpanded={open}
            onToggle={(_, next) => setOpened(next ? [...opened, name] : opened.filter((other) => other !== name))}
          >
            {open && <DiffView lines={lines} label={name} />}
          </ExpandableSection>
        );
      })}
    </div>
  );
}
