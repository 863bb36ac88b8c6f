import { Button, EmptyState, EmptyStateBody, ModalBody, ModalFooter, ModalHeader, Skeleton } from "@patternfly/react-core";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import InfoCircleIcon from "@patternfly/react-icons/dist/esm/icons/info-circle-icon";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import { useState } from "react";
import { api } from "../api/client";
import { keyOf, type Access, type Darkroom, type Revision } from "../api/types";
import { DiffView } from "../diff/DiffView";
import { Dialog } from "../layout/Dialog";
import { ProblemState } from "../layout/ProblemState";
import { shortName } from "../layout/UserMenu";
import { useLoaded } from "../useLoaded";
import { Age, ago } from "../words/AgeText";
import { plural } from "../words/format";
import { StatusText } from "../words/StatusText";
import { changeOf, changesTo, describeStatus } from "./revisions";
import { RollBackDialog } from "./RollBackDialog";

interface Props {
  darkroom: Darkroom;
  access: Access | undefined;
}

/** The revisions of a Darkroom, each of which it can be rolled back to. */
export default function History({ darkroom, access }: Props) {
  const { value: revisions, problem, reload } = useLoaded(`revisions ${keyOf(darkroom)} ${darkroom.generation ?? 0}`, (signal) => api.revisions(darkroom, signal), { every: 10_000, keep: true });
  const [chosen, setChosen] = useState<Revision>();
  const [compared, setCompared] = useState<Revision>();
  if (!revisions) {
    return problem ? (
      <ProblemState problem={problem} onRetry={reload} isSmall missing={{ to: "revisions", namespace: darkroom.namespace }} />
    ) : (
      <Skeleton height="6rem" screenreaderText="Loading the history" />
    );
  }
  if (revisions.length === 0) {
    return (
      <EmptyState titleText="No revisions" headingLevel="h2" variant="sm">
        <EmptyStateBody>The first one is made when the Darkroom is installed.</EmptyStateBody>
      </EmptyState>
    );
  }
  const refusal = access?.update === false ? "You do not have permission to update this Darkroom" : darkroom.deletedAt ? "The Darkroom is being deleted" : undefined;
  return (
    <>
      <Table aria-label="Revisions" variant="compact" gridBreakPoint="grid-md">
        <Thead>
          <Tr>
            <Th modifier="nowrap">Revision</Th>
            <Th>Status</Th>
            <Th width={25}>Change</Th>
            <Th>By</Th>
            <Th>Created</Th>
            <Th modifier="nowrap">Compared with now</Th>
            <Th screenReaderText="Roll back" />
          </Tr>
        </Thead>
        <Tbody>
          {revisions.map((revision, at) => (
            <Row key={revision.revision} darkroom={darkroom} revision={revision} before={revisions[at + 1]} refusal={refusal} onChoose={() => setChosen(revision)} onCompare={() => setCompared(revision)} />
          ))}
        </Tbody>
      </Table>
      {chosen && <RollBackDialog darkroom={darkroom} revision={chosen} onClose={() => setChosen(undefined)} />}
      {compared && <Comparison darkroom={darkroom} revision={compared} onClose={() => setCompared(undefined)} />}
    </>
  );
}

const icons: Record<string, { icon: typeof CheckCircleIcon; status: "success" | "danger" }> = {
  deployed: { icon: CheckCircleIcon, status: "success" },
  failed: { icon: ExclamationCircleIcon, status: "danger" },
};

/** What a roll-back to a revision would change, for those who only read. */
function Comparison({ darkroom, revision, onClose }: { darkroom: Darkroom; revision: Revision; onClose: () => void }) {
  return (
    <Dialog variant="medium" onClose={onClose} aria-labelledby="comparison-title">
      <ModalHeader title={`Revision ${revision.revision} and now`} labelId="comparison-title" />
      <ModalBody>
        <DiffView lines={changesTo(darkroom, revision)} label="From now to the revision" />
      </ModalBody>
      <ModalFooter>
        <Button variant="secondary" onClick={onClose}>
          Close
        </Button>
      </ModalFooter>
    </Dialog>
  );
}

/** Who changed a Darkroom, and how: field managers of the page and the API have the user; those of other clients have none. */
const authorOf = (manager = "–"): string =>
  manager.replace(/^darkroom-(page|apiserver)(?::(.*))?$/, (_, way: string, user?: string) => (user ? `${shortName(user)} · ` : "") + (way === "page" ? "page" : "API"));

interface RowProps {
  darkroom: Darkroom;
  revision: Revision;
  before: Revision | undefined;
  refusal: string | undefined;
  onChoose: () => void;
  onCompare: () => void;
}

function Row({ darkroom, revision, before, refusal, onChoose, onCompare }: RowProps) {
  const { settings, status, changedBy } = revision;
  const changed = changesTo(darkroom, revision).filter(({ kind }) => kind !== "same").length;
  const comparison = !settings ? "Settings not recorded" : changed === 0 ? "Same settings" : plural(changed, "line differs", "lines differ");
  return (
    <Tr>
      <Td dataLabel="Revision">{revision.revision}</Td>
      <Td dataLabel="Status">
        <StatusText {...(icons[status] ?? { icon: InfoCircleIcon, status: undefined })}>{describeStatus(status)}</StatusText>
      </Td>
      <Td dataLabel="Change" className="dr-break">
        {changeOf(revision, before) || (revision.revision === 1 ? "Installed" : "–")}
      </Td>
      <Td dataLabel="By" className="dr-break" title={changedBy}>
        {authorOf(changedBy)}
      </Td>
      <Td dataLabel="Created">
        <Age since={revision.createdAt} text={ago} />
      </Td>
      <Td dataLabel="Compared with now">
        {changed > 0 ? (
          <Button variant="link" isInline aria-label={`${comparison}: compare revision ${revision.revision} with now`} onClick={onCompare}>
            {comparison}
          </Button>
        ) : (
          comparison
        )}
      </Td>
      <Td>
        {changed > 0 && (
          <Button variant="secondary" size="sm" aria-label={`Roll back to revision ${revision.revision}`} isDisabled={Boolean(refusal)} title={refusal} onClick={onChoose}>
            Roll back
          </Button>
        )}
      </Td>
    </Tr>
  );
}
