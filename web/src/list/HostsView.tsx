import { Checkbox, EmptyState, PageSection, Pagination, Title } from "@patternfly/react-core";
import { Fragment, useMemo, useState } from "react";
import { keyOf, type Darkroom } from "../api/types";
import { useSnapshot } from "../live/useLive";
import { Crumbs } from "../layout/Crumbs";
import { DataTable } from "../layout/DataTable";
import { ProblemState } from "../layout/ProblemState";
import { Link, navigate, paths, usePathname, useSearch } from "../router";
import { useSettings } from "../settings";
import { Breakable } from "../words/Breakable";
import { urlOf } from "../words/domains";
import { PhaseText, phaseOf } from "../words/phases";
import type { Tone } from "../words/conditions";
import { StatusText } from "../words/StatusText";
import { signs } from "../words/ToneIcon";
import { hostsOf, searchHosts, type HostClaim, type HostState } from "./hosts";
import { Search } from "./Search";
import { Loading } from "./states";
import { plural } from "../words/format";

const perPage = 50;

/** The hosts of all Darkrooms that the user can see, live. Search and filter are in the URL. */
export default function HostsView() {
  const { darkrooms, synced, connection, problem } = useSnapshot();
  const { baseDomain } = useSettings();
  const pathname = usePathname();
  const params = new URLSearchParams(useSearch());
  const search = params.get("q") ?? "";
  const conflictsOnly = params.has("conflicts");
  const [wanted, setPage] = useState(1);
  const claims = useMemo(() => hostsOf(darkrooms, baseDomain), [darkrooms, baseDomain]);
  const found = useMemo(() => searchHosts(claims, search, conflictsOnly), [claims, search, conflictsOnly]);
  const page = Math.min(wanted, Math.max(1, Math.ceil(found.length / perPage)));
  const change = (q: string, conflicts: boolean) => {
    const next = new URLSearchParams({ ...(q ? { q } : {}), ...(conflicts ? { conflicts: "" } : {}) }).toString();
    navigate(pathname + (next && `?${next}`), { replace: true });
  };
  return (
    <>
      <Crumbs here="Hosts" />
      <PageSection>
        <Title headingLevel="h1">Hosts</Title>
      </PageSection>
      <PageSection isFilled aria-label="Hosts">
        {connection === "refused" && problem ? (
          <ProblemState problem={problem} onRetry={() => location.reload()} />
        ) : !synced ? (
          <Loading lost={connection === "lost"} />
        ) : (
          <div className="dr-stack">
            <div className="dr-row">
              <Search label="Search by host, namespace or name" placeholder="Host, namespace, name" value={search} onChange={(q) => change(q, conflictsOnly)} />
              <Checkbox id="hosts-conflicts" label="Conflicts only" isChecked={conflictsOnly} onChange={(_, only) => change(search, only)} />
              <span role="status" className="dr-quiet">
                {plural(found.length, "host")}
              </span>
            </div>
            {found.length === 0 ? <EmptyState titleText="No matching hosts" headingLevel="h2" variant="sm" /> : <Hosts claims={found.slice((page - 1) * perPage, page * perPage)} />}
            {found.length > perPage && (
              <Pagination itemCount={found.length} page={page} perPage={perPage} onSetPage={(_, next) => setPage(next)} perPageOptions={[]} variant="bottom" isStatic />
            )}
          </div>
        )}
      </PageSection>
    </>
  );
}

const states: Record<HostState, { tone: Tone; word: string }> = {
  routed: { tone: "good", word: "Routed" },
  conflict: { tone: "bad", word: "Conflict" },
  waiting: { tone: "busy", word: "Not routed" },
};

function Hosts({ claims }: { claims: HostClaim[] }) {
  return (
    <DataTable
      label="Hosts"
      columns={{ Host: { breaks: true }, Darkroom: {}, State: {}, Phase: {} }}
      rows={claims.map(({ host, darkroom, state, others }) => ({
        key: `${host} ${keyOf(darkroom)}`,
        cells: [
          state === "routed" ? (
            <a href={urlOf(darkroom.status, host)} target="_blank" rel="noreferrer">
              <Breakable text={host} />
            </a>
          ) : (
            <Breakable text={host} />
          ),
          <To darkroom={darkroom} />,
          <>
            <StatusText {...signs[states[state].tone]}>{states[state].word}</StatusText>
            {others.length > 0 && (
              <div className="dr-quiet">
                Also claimed by{" "}
                {others.map((other, at) => (
                  <Fragment key={keyOf(other)}>
                    {at > 0 && ", "}
                    <To darkroom={other} />
                  </Fragment>
                ))}
              </div>
            )}
          </>,
          <PhaseText phase={phaseOf(darkroom)} />,
        ],
      }))}
    />
  );
}

const To = ({ darkroom }: { darkroom: Darkroom }) => <Link to={paths.detail(darkroom)}>{keyOf(darkroom)}</Link>;
