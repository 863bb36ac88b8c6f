import { Skeleton } from "@patternfly/react-core";
import { api } from "../api/client";
import { keyOf, type Darkroom } from "../api/types";
import { ProblemState } from "../layout/ProblemState";
import { useLoaded } from "../useLoaded";
import { Code } from "./Code";

/** The manifest that the operator installs. It is loaded again when the specification changes. */
export function Manifest({ darkroom }: { darkroom: Darkroom }) {
  const what = `manifest ${keyOf(darkroom)} ${darkroom.generation ?? 0}`;
  const { value, problem, reload } = useLoaded(what, (signal) => api.manifest(darkroom, signal));
  if (value === undefined) {
    return problem ? <ProblemState problem={problem} onRetry={reload} isSmall /> : <Skeleton height="20rem" screenreaderText="Loading the manifest" />;
  }
  return <Code id="manifest" label="Manifest" copyLabel="Copy manifest" text={value} note="Secrets are shown as REDACTED." />;
}
