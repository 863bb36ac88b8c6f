import { FormSelect, FormSelectOption } from "@patternfly/react-core";
import { memo, type ReactNode } from "react";
import { keyOf, type Darkroom } from "../api/types";
import { Link, paths } from "../router";
import { Age } from "../words/AgeText";
import { reasonOf } from "../words/conditions";
import { urlOf } from "../words/domains";
import { phaseOf, PhaseText, sentenceOf, type Phase } from "../words/phases";
import { describeReason } from "../words/reasons";
import { placeOf, sourceNames } from "../words/sources";
import { typeOf } from "../model/model";
import { useWaiting } from "../words/waiting";
import { ProbeImage } from "./ProbeImage";
import { columns, type Column, type Query } from "./query";

const titles: Record<Column, string> = {
  name: "Name",
  namespace: "Namespace",
  phase: "Phase",
  source: "Source",
  replicas: "Ready",
  age: "Age",
};

interface Props {
  darkrooms: Darkroom[];
  query: Query;
  onChange: (part: Partial<Query>) => void;
}

/** The order of the list on a phone, where the table has no header. */
export function Sort({ query, onChange }: Pick<Props, "query" | "onChange">) {
  return (
    <FormSelect aria-label="Sort by" value={query.sort} onChange={(_, sort) => onChange({ sort: sort as Column, descending: false })}>
      {columns.map((column) => (
        <FormSelectOption key={column} value={column} label={`Sort by ${titles[column].toLowerCase()}`} />
      ))}
    </FormSelect>
  );
}

/**
 * PatternFly's table has 28 kB of code and 20 kB of styles, compressed, which the first load has no room for. Roles are
 * explicit, because browsers drop the roles of tables that are displayed as cards.
 */
export function DarkroomTable({ darkrooms, query, onChange }: Props) {
  return (
    <table aria-label="Darkrooms" role="table" className="dr-table">
      <thead role="rowgroup">
        <tr role="row">
          <Head query={query} onChange={onChange} />
        </tr>
      </thead>
      <tbody role="rowgroup" id="rows" tabIndex={-1}>
        {darkrooms.map((darkroom) => (
          <Row key={keyOf(darkroom)} darkroom={darkroom} />
        ))}
      </tbody>
    </table>
  );
}

const Head = memo(function Head({ query, onChange }: Pick<Props, "query" | "onChange">) {
  const head = (column: Column) => {
    const sorted = query.sort === column;
    return (
      <th role="columnheader" className={`dr-table__${column}`} aria-sort={sorted ? (query.descending ? "descending" : "ascending") : "none"}>
        <button type="button" onClick={() => onChange({ sort: column, descending: sorted && !query.descending })}>
          {titles[column]}
          <span aria-hidden="true">{sorted ? (query.descending ? " ↓" : " ↑") : ""}</span>
        </button>
      </th>
    );
  };
  return (
    <>
      {head("name")}
      {head("namespace")}
      {head("phase")}
      {head("source")}
      <th role="columnheader" className="dr-table__domains">
        Domains
      </th>
      {head("replicas")}
      {head("age")}
    </>
  );
});

/** One Darkroom. Live events replace only changed Darkrooms, so other rows do not render. */
const Row = memo(function Row({ darkroom }: { darkroom: Darkroom }) {
  const { name, namespace, source, status } = darkroom;
  const place = placeOf(source) || "–";
  const cell = (column: Column | "domains", content: ReactNode) => (
    <td role="cell" className={`dr-table__${column}`}>
      {content}
    </td>
  );
  return (
    <tr role="row">
      {cell(
        "name",
        <div className="dr-row dr-row--nowrap">
          <ProbeImage darkroom={darkroom} />
          <Link to={paths.detail(darkroom)} className="dr-name" title={name}>
            {name}
          </Link>
        </div>,
      )}
      {cell(
        "namespace",
        <span className="dr-clip" title={namespace}>
          {namespace}
        </span>,
      )}
      {cell(
        "phase",
        <>
          <PhaseText phase={phaseOf(darkroom)} />
          <Cause darkroom={darkroom} />
        </>,
      )}
      {cell(
        "source",
        <>
          <div>{sourceNames[typeOf(source)].name}</div>
          <div className="dr-quiet dr-place" title={place}>
            {place}
          </div>
        </>,
      )}
      {cell("domains", <Domains darkroom={darkroom} />)}
      {cell("replicas", status.pods ?? "–")}
      {cell("age", <Age since={darkroom.createdAt} />)}
    </tr>
  );
});

const needAttention: readonly Phase[] = ["Failed", "Degraded"];

/** The cause of the phase in two lines. The tooltip shows the full text. */
function Cause({ darkroom }: { darkroom: Darkroom }) {
  const waiting = useWaiting(darkroom);
  if (waiting) {
    return (
      <div className="dr-cause" title={waiting.advice}>
        {waiting.title}
      </div>
    );
  }
  if (!needAttention.includes(phaseOf(darkroom))) {
    return null;
  }
  const reason = reasonOf(darkroom);
  return (
    <div className="dr-cause" title={sentenceOf(darkroom)}>
      {reason ? <><strong>{describeReason(reason)}:</strong> {sentenceOf(darkroom)}</> : sentenceOf(darkroom)}
    </div>
  );
}

/** The first two routed hosts, so that all rows have the same height. */
function Domains({ darkroom }: { darkroom: Darkroom }) {
  const { status } = darkroom;
  const { domains } = status;
  if (domains.length === 0) {
    return <span className="dr-quiet">–</span>;
  }
  return (
    <div className="dr-domains">
      {domains.slice(0, 2).map((host) => (
        <a key={host} href={urlOf(status, host)} title={host} target="_blank" rel="noreferrer">
          {host}
        </a>
      ))}
      {domains.length > 2 && <Link to={paths.detail(darkroom)}>and {domains.length - 2} more</Link>}
    </div>
  );
}
