import { ActionGroup, Alert, Button, EmptyState, EmptyStateBody, Form, Title } from "@patternfly/react-core";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import { useEffect, useRef } from "react";
import type { Problem } from "../api/problem";
import { DiffView } from "../diff/DiffView";
import type { ObjectChange } from "../diff/objects";
import { Folded } from "../layout/Folded";
import { plural } from "../words/format";
import { ToneIcon } from "../words/ToneIcon";
import type { DarkroomInput } from "../api/types";
import { findingsOf, settingsOf, uncheckedOf } from "./outcome";
import type { Reviewed } from "./useSaving";

/** The effect of saving on the cluster, before anything is stored. */
export function Review({
  reviewed,
  before,
  input,
  busy,
  problem,
  onSave,
  onBack,
}: {
  reviewed: Reviewed;
  /** The stored settings; none for a new Darkroom. */
  before: DarkroomInput | undefined;
  input: DarkroomInput;
  busy: boolean;
  problem: Problem | undefined;
  onSave: () => void;
  onBack: () => void;
}) {
  const isNew = before === undefined;
  const settings = before ? settingsOf(before, input) : [];
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
        <Title headingLevel="h2">{isNew ? `Review the new Darkroom ${input.name ?? ""} in the namespace ${input.namespace ?? ""}` : "Review changes"}</Title>
      </div>
      {settings.length > 0 && (
        <ul className="dr-settings" aria-label="Changed settings">
          {settings.map(({ name, was, is }) => (
            <li key={name} className="dr-break">
              <strong>{name}</strong> <del>{was}</del> → <ins>{is}</ins>
            </li>
          ))}
        </ul>
      )}
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
      <p className="dr-quiet">Valid for the cluster; nothing is stored yet. {uncheckedOf(input)}</p>
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

/** The changed objects, folded. */
function Objects({ changes }: { changes: readonly ObjectChange[] }) {
  const counts = (["created", "changed", "deleted"] as const)
    .map((action) => [action, changes.filter((change) => change.action === action).length] as const)
    .filter(([, n]) => n > 0);
  return (
    <Folded title={counts.map(([action, n]) => `${plural(n, "object")} will be ${action}`).join(", ")} isIndented>
      {changes.map(({ name, action, lines }) => (
        <Folded key={name} title={`${name} will be ${action}`}>
          <DiffView lines={lines} label={name} />
        </Folded>
      ))}
    </Folded>
  );
}
