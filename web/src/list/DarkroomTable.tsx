import { Checkbox, FormSelect, FormSelectOption } from "@patternfly/react-core";
import { Table, Tbody, Td, Th, Thead, Tr, type ThProps } from "@patternfly/react-table";
import { memo } from "react";
import { keyOf, type Darkroom } from "../api/types";
import { Link, paths } from "../router";
import { Age } from "../words/AgeText";
import { Breakable } from "../words/Breakable";
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

/** The shares of the columns, in percent. */
const shares = { name: 25, namespace: 15, phase: 20, source: 15, replicas: 10, age: 10 } as const;

interface Props {
  darkrooms: Darkroom[];
  query: Query;
  onChange: (part: Partial<Query>) => void;
  /** The keys of the Darkrooms that are ticked. */
  ticks: ReadonlySet<string>;
  /** Ticks Darkrooms, or not; undefined if there is nothing to do with them. */
  onTick: ((keys: readonly string[], on: boolean) => void) | undefined;
}

/** The order of the list where the table has no head, as on a phone. */
export function Sort({ query, onChange }: Pick<Props, "query" | "onChange">) {
  return (
    <FormSelect aria-label="Sort by" value={query.sort} onChange={(_, sort) => onChange({ sort: sort as Column, descending: false })}>
      {columns.map((column) => (
        <FormSelectOption key={column} value={column} label={`Sort by ${titles[column].toLowerCase()}`} />
      ))}
    </FormSelect>
  );
}

export function DarkroomTable({ darkrooms, query, onChange, ticks, onTick }: Props) {
  const keys = darkrooms.map(keyOf);
  return (
    <Table aria-label="Darkrooms" gridBreakPoint="grid-lg" variant="compact" isStickyHeader className="dr-table">
      <Thead>
        <Tr>
          {onTick && <Th aria-label="Tick all on this page" select={{ isSelected: keys.every((key) => ticks.has(key)), onSelect: (_, on) => onTick(keys, on) }} />}
          <Head query={query} onChange={onChange} />
        </Tr>
      </Thead>
      <Tbody>
        {darkrooms.map((darkroom) => (
          <Row key={keyOf(darkroom)} darkroom={darkroom} dense={query.dense} ticked={ticks.has(keyOf(darkroom))} onTick={onTick} />
        ))}
      </Tbody>
    </Table>
  );
}

const Head = memo(function Head({ query, onChange }: Pick<Props, "query" | "onChange">) {
  const sort = (column: Column): ThProps["sort"] => ({
    sortBy: { index: columns.indexOf(query.sort), direction: query.descending ? "desc" : "asc" },
    onSort: (_, __, direction) => onChange({ sort: column, descending: direction.startsWith("d") }),
    columnIndex: columns.indexOf(column),
  });
  const head = (column: Column) => (
    <Th sort={sort(column)} modifier="nowrap" width={shares[column]}>
      {titles[column]}
    </Th>
  );
  return (
    <>
      {head("name")}
      {head("namespace")}
      {head("phase")}
      {head("source")}
      <Th modifier="nowrap" width={20}>Domains</Th>
      {head("replicas")}
      {head("age")}
    </>
  );
});

/** One Darkroom. Live events replace the Darkrooms that they change, so all other rows are left alone. */
const Row = memo(function Row({ darkroom, dense, ticked, onTick }: { darkroom: Darkroom; dense: boolean; ticked: boolean } & Pick<Props, "onTick">) {
  const { name, namespace, source, status } = darkroom;
  const place = placeOf(source) || "–";
  return (
    <Tr>
      {onTick && (
        // The checkbox of select has the number of the row for a name.
        <Td className="pf-v6-c-table__check">
          <Checkbox id={`tick-${namespace}-${name}`} aria-label={`Tick ${name}`} isChecked={ticked} onChange={(_, on) => onTick([keyOf(darkroom)], on)} />
        </Td>
      )}
      <Td dataLabel={titles.name}>
        <div className="dr-row dr-row--nowrap">
          {!dense && <ProbeImage darkroom={darkroom} />}
          <Link to={paths.detail(darkroom)} className="dr-name" title={name}>
            {name}
          </Link>
        </div>
      </Td>
      <Td dataLabel={titles.namespace}>
        <span className="dr-clip" title={namespace}>
          {namespace}
        </span>
      </Td>
      <Td dataLabel={titles.phase}>
        <PhaseText phase={phaseOf(darkroom)} />
        {!dense && <Cause darkroom={darkroom} />}
      </Td>
      <Td dataLabel={titles.source}>
        <div>{sourceNames[typeOf(source)].name}</div>
        {!dense && (
          <div className="dr-quiet dr-place" title={place}>
            {place}
          </div>
        )}
      </Td>
      <Td dataLabel="Domains">
        <Domains darkroom={darkroom} />
      </Td>
      <Td dataLabel={titles.replicas}>{status.pods ?? "–"}</Td>
      <Td dataLabel={titles.age}>
        <Age since={darkroom.createdAt} />
      </Td>
    </Tr>
  );
});

const needAttention: readonly Phase[] = ["Failed", "Degraded"];

/** What to know of the phase, in two lines; the title has all of it. */
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

/** The first two routed hosts, so that rows stay alike. */
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
          <Breakable text={host} />
        </a>
      ))}
      {domains.length > 2 && <Link to={paths.detail(darkroom)}>and {domains.length - 2} more</Link>}
    </div>
  );
}
