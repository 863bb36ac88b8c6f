import { AlertActionLink } from "@patternfly/react-core";
import { useState } from "react";
import { api } from "../api/client";
import { keyOf, type Darkroom, type Revision } from "../api/types";
import { useLoaded } from "../useLoaded";
import { lastOther } from "./revisions";
import { RollBackDialog } from "./RollBackDialog";

/** Rolls back to the previously installed settings, if the user may read them. */
export default function RollBack({ darkroom }: { darkroom: Darkroom }) {
  const { value: revisions = [] } = useLoaded(`revisions ${keyOf(darkroom)} ${darkroom.generation ?? 0}`, (signal) => api.revisions(darkroom, signal));
  const [chosen, setChosen] = useState<Revision>();
  const last = lastOther(darkroom, revisions);
  return (
    <>
      {last && <AlertActionLink onClick={() => setChosen(last)}>Roll back to revision {last.revision}</AlertActionLink>}
      {chosen && <RollBackDialog darkroom={darkroom} revision={chosen} onClose={() => setChosen(undefined)} />}
    </>
  );
}
