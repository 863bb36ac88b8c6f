import { useState } from "react";
import { Confirm } from "../actions/Confirm";
import { api } from "../api/client";
import type { Darkroom, Revision } from "../api/types";
import { DiffView } from "../diff/DiffView";
import { writeSeen } from "../form/versions";
import { toast } from "../layout/toasts";
import { useStore } from "../live/useLive";
import { changesTo, rollBackCommandOf } from "./revisions";

/** Shows the changes of a rollback, and performs it. */
export function RollBackDialog({ darkroom, revision, onClose }: { darkroom: Darkroom; revision: Revision; onClose: () => void }) {
  const store = useStore();
  // The version that the user saw, so that concurrent changes are not overwritten.
  const [seen] = useState(darkroom);
  const lines = changesTo(seen, revision);
  const run = async () => {
    store.put(await writeSeen(seen, revision.settings ?? {}, (ifMatch, dryRun) => api.rollBack(seen, revision.revision, ifMatch, dryRun)));
    onClose();
    toast(`Rolled back to the settings of revision ${revision.revision}`);
  };
  return (
    <Confirm
      title={`Roll back ${darkroom.name} to revision ${revision.revision}?`}
      effect={
        <>
          Replaces all settings with the settings of the revision. Labels, annotations, inline keys and literal values of variables are kept. The operator creates a new revision.
        </>
      }
      act="Roll back"
      command={rollBackCommandOf(darkroom, revision)}
      isWide
      run={run}
      onClose={onClose}
    >
      {lines.length > 0 && <DiffView lines={lines} label="Settings" />}
    </Confirm>
  );
}
