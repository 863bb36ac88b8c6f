import { Alert, Button, Checkbox, TextInput, ToggleGroup, ToggleGroupItem } from "@patternfly/react-core";
import { useEffect, useRef, useState } from "react";
import { api } from "../api/client";
import type { Key } from "../api/types";
import { MissingRight } from "../layout/MissingRight";
import { matching, maxLines, partsOf } from "./log";
import { useLog } from "./useLog";
import { useSending } from "../useSending";
import { plural } from "../words/format";

/** The log of a pod: live, searchable, and as a file. */
export function PodLog({ of, pod, hasRestarted, hasGate }: { of: Key; pod: string; hasRestarted: boolean; hasGate: boolean }) {
  const [container, setContainer] = useState("darkroom");
  const [follow, setFollow] = useState(true);
  const [previous, setPrevious] = useState(false);
  const [search, setSearch] = useState("");
  const [round, setRound] = useState(0);
  const { lines, ended, problem } = useLog(of, pod, { container, follow: follow && !previous, previous }, round);
  const found = matching(lines, search);
  const saving = useSending(() => download(of, pod, container, previous));
  const shown = search === "" ? counted(lines.length) : `${found.length} of ${counted(lines.length)}`;
  const failed = problem ?? saving.problem;
  return (
    <div className="dr-stack">
      <div className="dr-row">
        {hasGate && (
          <ToggleGroup aria-label="Container">
            <ToggleGroupItem text="Darkroom" isSelected={container === "darkroom"} onChange={() => setContainer("darkroom")} />
            <ToggleGroupItem text="Gate" isSelected={container === "gate"} onChange={() => setContainer("gate")} />
          </ToggleGroup>
        )}
        <TextInput type="search" aria-label="Search the log" placeholder="Search" value={search} onChange={(_, value) => setSearch(value)} className="dr-log__search" />
        <Checkbox id="log-follow" label="Follow" isChecked={follow && !previous} isDisabled={previous} onChange={(_, value) => setFollow(value)} />
        {hasRestarted && <Checkbox id="log-previous" label="Before the last restart" isChecked={previous} onChange={(_, value) => setPrevious(value)} />}
        <Button variant="secondary" isDisabled={saving.busy} isLoading={saving.busy} onClick={saving.run}>
          Download
        </Button>
      </div>
      {problem?.status === 403 && <MissingRight to="logs" namespace={of.namespace} />}
      {failed && problem?.status !== 403 && (
        <Alert component="p" isInline variant="warning" title={problem ? "The log cannot be read" : "Download failed"} role="alert">
          {failed.message}
        </Alert>
      )}
      <Lines lines={found} search={search} label={`Log of ${pod}`} />
      <div className="dr-row dr-row--apart">
        <span role="status" className="dr-quiet">
          {ended && follow && !previous ? `${shown}, no longer following` : shown}
        </span>
        {ended && (
          <Button variant="link" isInline onClick={() => setRound(round + 1)}>
            {follow && !previous ? "Follow again" : "Reload"}
          </Button>
        )}
      </div>
    </div>
  );
}

const counted = (n: number): string => (n >= maxLines ? `the last ${maxLines} lines` : plural(n, "line"));

/** The lines. The lines stay scrolled to the end while the end is visible. */
function Lines({ lines, search, label }: { lines: readonly string[]; search: string; label: string }) {
  const box = useRef<HTMLPreElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    if (box.current && atEnd.current) {
      box.current.scrollTop = box.current.scrollHeight;
    }
  }, [lines]);
  return (
    // Focusable, so that users can scroll it by keyboard. New lines are not announced, because there may be many.
    <pre
      ref={box}
      className="dr-code dr-log"
      role="log"
      aria-live="off"
      aria-label={label}
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        atEnd.current = scrollHeight - scrollTop - clientHeight < 20;
      }}
    >
      {search === "" ? lines.join("\n") : lines.slice(-1000).flatMap((line, i) => partsOf(`${line}\n`, search).map((part, at) => (at % 2 === 0 ? part : <mark key={`${i} ${at}`}>{part}</mark>)))}
    </pre>
  );
}

async function download(of: Key, pod: string, container: string, previous: boolean): Promise<void> {
  const log = await api.log(of, pod, { container, previous, lines: maxLines });
  const url = URL.createObjectURL(log);
  const link = document.createElement("a");
  link.href = url;
  link.download = `${pod}-${container}.log`;
  link.click();
  URL.revokeObjectURL(url);
}
