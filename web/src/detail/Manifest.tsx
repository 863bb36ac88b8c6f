import { Skeleton } from "@patternfly/react-core";
import { api } from "../api/client";
import { keyOf, type Darkroom } from "../api/types";
import { ProblemState } from "../layout/ProblemState";
import { useLoaded } from "../useLoaded";
import { Code } from "./Code";

/** What the operator installs. It is read anew when what is wanted changes. */
export function Manifest({ darkroom }: { darkroom: Darkroom }) {
  const what = `${keyOf(darkroom)} ${darkroom.generation ?? 0}`;
  const { value, problem, reload } = useLoaded(what, (signal) => api.manifest(darkroom, signal));
  if (value === undefined) {
    return problem ? <ProblemState problem={problem} onRetry={reload} isSmall /> : <Skeleton height="20rem" screenreaderText="Loading the manifest" />;
  }
  return <Code label="Manifest" text={value} note="REDACTED stands for secrets." />;
}
