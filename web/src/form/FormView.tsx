import { Breadcrumb, BreadcrumbItem, Bullseye, Button, PageSection, Spinner, Title } from "@patternfly/react-core";
import { useState } from "react";
import { api } from "../api/client";
import { keyOf, type Darkroom, type Key } from "../api/types";
import { useSettings } from "../settings";
import { ProblemState } from "../layout/ProblemState";
import { Link, navigate, paths } from "../router";
import { useLoaded } from "../useLoaded";
import { Editor } from "./Editor";
import { emptyInput, toInput } from "./model";

/** The form for a new Darkroom, or for one that there is. */
export default function FormView({ edited }: { edited?: Key }) {
  return (
    <>
      <PageSection type="breadcrumb">
        <Breadcrumb aria-label="Where you are">
          <BreadcrumbItem render={({ className }) => <Link to={paths.list} className={className}>Darkrooms</Link>} />
          {edited && (
            <BreadcrumbItem render={({ className }) => <Link to={paths.detail(edited)} className={className}>{edited.name}</Link>} />
          )}
          <BreadcrumbItem isActive>{edited ? "Edit" : "Create"}</BreadcrumbItem>
        </Breadcrumb>
      </PageSection>
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
  const { namespaces } = useSettings();
  const [initial] = useState(() => emptyInput(namespaces[0] ?? "default"));
  return <Editor initial={initial} />;
}

function Edit({ edited }: { edited: Key }) {
  // Read anew, not taken from live events: what is edited must be one version, with its ETag.
  const { value, problem, reload } = useLoaded<Darkroom>(keyOf(edited), (signal) => api.get(edited, signal));
  const [round, setRound] = useState(0);
  if (problem) {
    return (
      <ProblemState problem={problem} onRetry={reload}>
        <Button variant="link" onClick={() => navigate(paths.list)}>
          All Darkrooms
        </Button>
      </ProblemState>
    );
  }
  if (!value) {
    return (
      <Bullseye>
        <Spinner aria-label="Loading" />
      </Bullseye>
    );
  }
  return (
    <Editor
      key={round}
      initial={toInput(value)}
      loaded={value}
      onReload={() => {
        reload();
        setRound(round + 1);
      }}
    />
  );
}
