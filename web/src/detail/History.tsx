import { Button, EmptyState, EmptyStateBody, ModalBody, ModalFooter, ModalHeader } from "@patternfly/react-core";
import { useState, type ReactNode } from "react";
import { api } from "../api/client";
import { keyOf, type Access, type Darkroom, type Revision } from "../api/types";
import { DiffView } from "../diff/DiffView";
import { DataTable } from "../layout/DataTable";
import { Dialog } from "../layout/Dialog";
import { Loading } from "../layout/Loading";
import { ProblemState } from "../layout/ProblemState";
import { shortName } from "../layout/UserMenu";
import { useLoaded } from "../useLoaded";
import { Age, ago } from "../words/AgeText";
import { plural } from "../words/format";
import type { Tone } from "../words/conditions";
import { StatusText } from "../words/StatusText";
import { signs } from "../words/ToneIcon";
import { changeOf, changesTo, describeStatus, lostKeysOf } from "./revisions";
import { RollBackDialog } from "./RollBackDialog";

interface Props {
  darkroom: Darkroom;
  access: Access | undefined;
}

/** The revisions of a Darkroom, with rollback. */
export default function History({ darkroom, access }: Props) {
  const { value: revisions, problem, reload } = useLoaded(`revisions ${keyOf(darkroom)} ${darkroom.generation ?? 0}`, (signal) => api.revisions(darkroom, signal), { every: 10_000, keep: true });
  const [chosen, setChosen] = useState<Revision>();
  const [compared, setCompared] = useState<Revision>();
  if (!revisions) {
    return problem ? (
      <ProblemState problem={problem} onRetry={reload} isSmall missing={{ to: "revisions", namespace: darkroom.namespace }} />
    ) : (
      <Loading height="6rem" label="Loading the history" />
    );
  }
  if (revisions.length === 0) {
    return (
      <EmptyState titleText="No revisions" headingLevel="h2" variant="sm">
        <EmptyStateBody>The first revision is created when the Darkroom is installed.</EmptyStateBody>
      </EmptyState>
    );
  }
  const refused = access?.update === false ? "You do not have permission to update this Darkroom" : darkroom.deletedAt ? "The Darkroom is being deleted" : undefined;
  const cellsOf = (revision: Revision, before: Revision | undefined): ReactNode[] => {
    const { settings, status, changedBy, createdAt, revision: number } = revision;
    const refusal = refused ?? lostKeysOf(darkroom, revision);
    const changed = changesTo(darkroom, revision).filter(({ kind }) => kind !== "same").length;
    const comparison = !settings ? "Settings not recorded" : changed === 0 ? "Same settings" : plural(changed, "line differs", "lines differ");
    return [
      number,
      <StatusText {...signs[tones[status] ?? "neutral"]}>
        {describeStatus(status)}
      </StatusText>,
      changeOf(revision, before) || (number === 1 ? "Installed" : "–"),
      <>
        <Age since={createdAt} text={ago} />
        {changedBy && (
          <div className="dr-quiet dr-break" title={changedBy}>
            {authorOf(changedBy)}
          </div>
        )}
      </>,
      changed > 0 ? (
        <Button variant="link" isInline aria-label={`${comparison}: compare revision ${number} with now`} onClick={() => setCompared(revision)}>
          {comparison}
        </Button>
      ) : (
        comparison
      ),
      changed > 0 && (
        <Button variant="secondary" size="sm" aria-label={`Roll back to revision ${number}`} isDisabled={Boolean(refusal)} title={refusal} onClick={() => setChosen(revision)}>
          Roll back
        </Button>
      ),
    ];
  };
  return (
    <>
      <DataTable
        label="Revisions"
        columns={{ Revision: {}, Status: {}, Change: { width: 25, breaks: true }, Created: { width: 20 }, "Since then": {}, "Roll back": { isUntitled: true } }}
        rows={revisions.map((revision, at) => ({ key: String(revision.revision), cells: cellsOf(revision, revisions[at + 1]) }))}
      />
      {chosen && <RollBackDialog darkroom={darkroom} revision={chosen} onClose={() => setChosen(undefined)} />}
      {compared && <Comparison darkroom={darkroom} revision={compared} onClose={() => setCompared(undefined)} />}
    </>
  );
}

const tones: Record<string, Tone> = { deployed: "good", failed: "bad" };

/** The differences between a revision and now, for users without permission to roll back. */
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

/** The author of a change and the client. Only field managers of the page and the API contain the user. */
const authorOf = (manager: string): string =>
  manager.replace(/^darkroom-(page|apiserver)(?::(.*))?$/, (_, way: string, user?: string) => (user ? `${shortName(user)} · ` : "") + (way === "page" ? "page" : "API"));
