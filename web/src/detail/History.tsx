import { Button, EmptyState, EmptyStateBody, Skeleton } from "@patternfly/react-core";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import InfoCircleIcon from "@patternfly/react-icons/dist/esm/icons/info-circle-icon";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import { useState } from "react";
import { api } from "../api/client";
import { keyOf, type Access, type Darkroom, type Revision } from "../api/types";
import { ProblemState } from "../layout/ProblemState";
import { useLoaded } from "../useLoaded";
import { Age, ago } from "../words/AgeText";
import { number } from "../words/format";
import { StatusText } from "../words/StatusText";
import { t } from "../words/t";
import { changesTo, describeStatus } from "./revisions";
import { RollBackDialog } from "./RollBackDialog";

interface Props {
  darkroom: Darkroom;
  access: Access | undefined;
  onDone: (text: string) => void;
}

/** The revisions of a Darkroom, each of which it can be rolled back to. */
export default function History({ darkroom, access, onDone }: Props) {
  const { value: revisions, problem, reload } = useLoaded(keyOf(darkroom), (signal) => api.revisions(darkroom, signal), 10_000);
  const [chosen, setChosen] = useState<Revision>();
  if (!revisions) {
    return problem ? (
      <ProblemState problem={problem} onRetry={reload} isSmall missing={{ to: "revisions", namespace: darkroom.namespace }} />
    ) : (
      <Skeleton height="6rem" screenreaderText={t("Loading the history")} />
    );
  }
  if (revisions.length === 0) {
    return (
      <EmptyState titleText={t("No revisions")} headingLevel="h2" variant="sm">
        <EmptyStateBody>{t("The first one is made when the Darkroom is installed.")}</EmptyStateBody>
      </EmptyState>
    );
  }
  const refusal = access?.update === false ? t("You do not have permission to update this Darkroom") : darkroom.deletedAt ? t("The Darkroom is being deleted") : undefined;
  return (
    <>
      <Table aria-label={t("Revisions")} variant="compact" gridBreakPoint="grid-md">
        <Thead>
          <Tr>
            <Th>{t("Revision")}</Th>
            <Th>{t("Status")}</Th>
            <Th>{t("Created")}</Th>
            <Th>{t("Darkroom version")}</Th>
            <Th>{t("Compared with now")}</Th>
            <Th screenReaderText={t("Roll back")} />
          </Tr>
        </Thead>
        <Tbody>
          {revisions.map((revision) => (
            <Row key={revision.revision} darkroom={darkroom} revision={revision} refusal={refusal} onChoose={() => setChosen(revision)} />
          ))}
        </Tbody>
      </Table>
      {chosen && (
        <RollBackDialog
          darkroom={darkroom}
          revision={chosen}
          onClose={(done) => {
            setChosen(undefined);
            if (done) {
              onDone(done);
            }
          }}
        />
      )}
    </>
  );
}

const icons: Record<string, { icon: typeof CheckCircleIcon; status: "success" | "danger" }> = {
  deployed: { icon: CheckCircleIcon, status: "success" },
  failed: { icon: ExclamationCircleIcon, status: "danger" },
};

function Row({ darkroom, revision, refusal, onChoose }: { darkroom: Darkroom; revision: Revision; refusal: string | undefined; onChoose: () => void }) {
  const { settings, status, secretsDiffer } = revision;
  const changed = changesTo(darkroom, revision).filter(({ kind }) => kind !== "same").length;
  const isSame = changed === 0 && !secretsDiffer;
  const comparison = !settings
    ? t("Settings not recorded")
    : isSame
      ? t("Same settings")
      : changed === 0
        ? t("Other credentials or literal values")
        : t("{n, plural, one {# line differs} other {# lines differ}}", { n: changed });
  return (
    <Tr>
      <Td dataLabel={t("Revision")}>{number(revision.revision)}</Td>
      <Td dataLabel={t("Status")}>
        <StatusText {...(icons[status] ?? { icon: InfoCircleIcon, status: undefined })}>{describeStatus(status)}</StatusText>
      </Td>
      <Td dataLabel={t("Created")}>
        <Age since={revision.createdAt} text={ago} />
      </Td>
      <Td dataLabel={t("Darkroom version")}>{settings ? (settings.version ?? t("default")) : ""}</Td>
      <Td dataLabel={t("Compared with now")}>{comparison}</Td>
      <Td dataLabel={t("Roll back")}>
        {settings && !isSame && (
          <Button variant="secondary" size="sm" aria-label={t("Roll back to revision {revision}", { revision: revision.revision })} isDisabled={Boolean(refusal)} title={refusal} onClick={onChoose}>
            {t("Roll back")}
          </Button>
        )}
      </Td>
    </Tr>
  );
}
