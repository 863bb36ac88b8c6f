import { Alert, Progress } from "@patternfly/react-core";
import { useRef, useState } from "react";
import { Problem } from "../api/problem";
import { keyOf, type Darkroom } from "../api/types";
import { toast } from "../layout/toasts";
import { useStore } from "../live/useLive";
import { counted } from "../words/format";
import { commandOf, opposites, words, type ActionName, type BulkAction } from "./actions";
import { changeAll, partition, type Failure } from "./bulk";
import { Confirm } from "./Confirm";
import { perform, timestamp } from "./perform";

/** Explains an action on several Darkrooms, and performs it on each. */
export default function BulkDialog({ action, darkrooms, onClose }: { action: BulkAction; darkrooms: readonly Darkroom[]; onClose: () => void }) {
  const store = useStore();
  // Those that the user saw: later ones are not changed.
  const [{ possible, refused }] = useState(() => partition(action, darkrooms));
  const [now] = useState(timestamp);
  const [running, setRunning] = useState<{ of: number; done: number }>();
  const [failures, setFailures] = useState<Failure[]>([]);
  const stopped = useRef(false);
  /** Those that were changed, as they are then: undo changes no other version. */
  const changed = useRef<Darkroom[]>([]);
  const { ask, effect, act, done } = words[action];
  const pending = failures.length > 0 ? failures.map(({ darkroom }) => darkroom) : possible;

  const run = async () => {
    setFailures([]);
    setRunning({ of: pending.length, done: 0 });
    const failed = await changeAll(
      pending,
      async (seen) => {
        const next = await perform(action, seen, now);
        changed.current.push(next);
        store.put(next);
      },
      () => setRunning((before) => before && { ...before, done: before.done + 1 }),
      () => stopped.current,
    );
    if (stopped.current) {
      return;
    }
    setRunning(undefined);
    setFailures(failed);
    if (failed.length === 0) {
      onClose();
      const opposite = opposites[action];
      toast(`${done} for ${counted(possible.length)}`, opposite && { label: "Undo", run: () => undo(opposite) });
    }
  };
  const undo = async (opposite: ActionName) => {
    const [first, ...others] = await changeAll(changed.current, async (seen) => store.put(await perform(opposite, seen, now)), () => undefined, () => false);
    if (first) {
      const { status, title, message } = first.problem;
      throw new Problem(status, title, `${keyOf(first.darkroom)}${others.length > 0 ? ` and ${others.length} more` : ""}: ${message}`);
    }
  };
  const close = () => {
    stopped.current = true;
    onClose();
  };

  return (
    <Confirm
      title={ask(counted(possible.length))}
      effect={effect}
      act={failures.length > 0 ? `Try ${counted(failures.length)} again` : act}
      command={possible.map((darkroom) => commandOf(action, darkroom, now)).join("\n")}
      isDisabled={possible.length === 0}
      isWide
      canStop
      run={run}
      onClose={close}
    >
      {failures.length > 0 && <Failures failures={failures} of={possible.length} />}
      {[...refused].map(([reason, n]) => (
        <p key={reason} className="dr-quiet">
          {counted(n)} left out. {reason}.
        </p>
      ))}
      {running && <Progress aria-label="Darkrooms changed" value={running.done} max={running.of} label={`${running.done} of ${running.of}`} measureLocation="outside" />}
    </Confirm>
  );
}

function Failures({ failures, of }: { failures: Failure[]; of: number }) {
  return (
    <Alert isInline variant="danger" title={`${failures.length} of ${counted(of)} not changed`} role="alert">
      <ul>
        {failures.map(({ darkroom, problem }) => (
          <li key={keyOf(darkroom)}>
            {keyOf(darkroom)}: {problem.message}
          </li>
        ))}
      </ul>
    </Alert>
  );
}
