import { useState } from "react";
import type { Darkroom } from "../api/types";
import { deleteCommandOf } from "../actions/actions";
import { Confirm } from "../actions/Confirm";
import { draftAgain } from "../form/drafts";
import { removeSeen } from "../form/versions";
import { PlainField } from "../layout/PlainField";
import { toast } from "../layout/toasts";
import { navigate, paths } from "../router";

/** Confirms a deletion by the name of the Darkroom. */
export function DeleteDialog({ of, onClose }: { of: Darkroom; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [seen] = useState(of);
  const run = async () => {
    await removeSeen(seen);
    onClose();
    // The user may have navigated away meanwhile.
    if (location.pathname === paths.detail(seen)) {
      navigate(paths.list);
    }
    // The history and the hidden keys are lost, so the user reviews what is created.
    const again = () => {
      draftAgain(seen);
      navigate(paths.create);
    };
    toast(`${of.name} is being deleted`, { label: "Create it again…", run: again });
  };
  return (
    <Confirm
      title={`Delete ${of.name}?`}
      effect="This deletes its pods and routes, and its domains stop serving images. The images at the source are not deleted."
      act="Delete"
      command={deleteCommandOf(of)}
      isDanger
      isDisabled={typed !== of.name}
      run={run}
      onClose={onClose}
    >
      <PlainField id="delete-name" label={<>Type <strong>{of.name}</strong> to confirm</>} value={typed} onChange={setTyped} />
    </Confirm>
  );
}
