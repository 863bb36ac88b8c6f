import { useState } from "react";
import type { Darkroom } from "../api/types";
import { PlainField } from "../layout/PlainField";
import { toast } from "../layout/toasts";
import { useStore } from "../live/useLive";
import { commandOf, opposites, words, type ActionName } from "./actions";
import { Confirm } from "./Confirm";
import { perform, timestamp } from "./perform";

const maxReplicas = 1000;

/** Explains an action, performs it, and offers to undo it if another action does. */
export function ActionDialog({ action, darkroom, onClose }: { action: ActionName; darkroom: Darkroom; onClose: () => void }) {
  const store = useStore();
  // The version that the user saw, so that concurrent changes are not overwritten.
  const [seen] = useState(darkroom);
  const [now] = useState(timestamp);
  const [typed, setTyped] = useState(String(darkroom.replicas ?? 1));
  const { ask, effect, act, done } = words[action];
  const { replicas: before = 1 } = seen;
  const replicas = Number(typed);
  const fits = action !== "scale" || (/^\d+$/.test(typed) && replicas <= maxReplicas);
  const hint = !fits ? `Must be from 0 to ${maxReplicas}` : replicas === 0 ? "Scaled to zero: no images are served" : "The pods of the Darkroom";
  const run = async () => {
    const changed = await perform(action, seen, now, replicas);
    store.put(changed);
    onClose();
    const opposite = opposites[action];
    toast(done, opposite && { label: "Undo", run: async () => store.put(await perform(opposite, changed, now, before)) });
  };
  return (
    <Confirm title={ask(darkroom.name)} effect={effect} act={act} command={commandOf(action, darkroom, now, fits ? replicas : before)} isDisabled={!fits} run={run} onClose={onClose}>
      {action === "scale" && <PlainField id="action-replicas" label="Number of pods" type="number" min={0} max={maxReplicas} isRequired value={typed} isWrong={!fits} hint={hint} onChange={setTyped} />}
    </Confirm>
  );
}
