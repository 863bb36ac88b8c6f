import { PageSection, Title } from "@patternfly/react-core";
import { useState } from "react";
import { api } from "../api/client";
import { keyOf, type Key } from "../api/types";
import { Crumbs } from "../layout/Crumbs";
import { NotLoaded } from "../layout/NotLoaded";
import { useLoaded } from "../useLoaded";
import { useNamespaces } from "../useAccess";
import { readDraft, type Draft } from "./drafts";
import { Editor } from "./Editor";
import { emptyInput, toInput } from "../model/model";

/** A form keeps the version that it was opened with. */
const asOpened = { fresh: Infinity, once: true };

/** The form for a new Darkroom, or for an existing one. */
export default function FormView({ edited }: { edited?: Key }) {
  return (
    <>
      <Crumbs of={edited} here={edited ? "Edit" : "Create"} />
      <PageSection>
        <Title headingLevel="h1">{edited ? `Edit ${edited.name}` : "Create Darkroom"}</Title>
      </PageSection>
      <PageSection isFilled aria-label="Form">
        {edited ? <Edit edited={edited} /> : <Create />}
      </PageSection>
    </>
  );
}

function Create() {
  const { value, problem } = useNamespaces();
  const [draft] = useState(() => readDraft(undefined));
  if (!value && !problem && !draft) {
    return <NotLoaded problem={undefined} />;
  }
  return <New namespace={value?.create[0] ?? ""} draft={draft} />;
}

/** Keeps the initial namespace, although others may become known while the form is open. */
function New({ namespace, draft }: { namespace: string; draft: Draft | undefined }) {
  const [initial] = useState(() => emptyInput(namespace));
  return <Editor initial={initial} draft={draft} />;
}

function Edit({ edited }: { edited: Key }) {
  // Not from live events, because one version is edited.
  /** Counts reloads; each loads the Darkroom again. */
  const [round, setRound] = useState(0);
  const { value, problem, reload } = useLoaded(`edit ${keyOf(edited)} ${round}`, (signal) => api.get(edited, signal), asOpened);
  const [draft, setDraft] = useState(() => readDraft(edited));
  if (!value || problem) {
    return <NotLoaded problem={problem} onRetry={reload} />;
  }
  // A draft of a Darkroom that was replaced does not apply to the new one.
  const base = draft?.base?.uid === value.uid ? draft?.base : undefined;
  return (
    <Editor
      key={round}
      initial={toInput(base ?? value)}
      loaded={base ?? value}
      draft={base ? draft : undefined}
      onReload={() => {
        setDraft(undefined);
        setRound(round + 1);
      }}
    />
  );
}
