import { Tooltip, Truncate } from "@patternfly/react-core";
import { Fragment } from "react";
import { Table, Tbody, Td, Th, Thead, Tr, type ThProps } from "@patternfly/react-table";
import { keyOf, type Darkroom } from "../api/types";
import { Link, paths } from "../router";
import { useNow } from "../useNow";
import { age, atTime } from "../words/age";
import { urlOf } from "../words/domains";
import { phaseOf, PhaseText, sentenceOf } from "../words/phases";
import { placeOf, sourceNames, typeOf } from "../words/sources";
import type { Column, Query } from "./query";

const titles: Record<Column, string> = {
  name: "Name",
  namespace: "Namespace",
  phase: "Phase",
  source: "Source",
  version: "Version",
  replicas: "Ready",
  age: "Age",
};

export function DarkroomTable({
  darkrooms,
  query,
  onChange,
}: {
  darkrooms: Darkroom[];
  query: Query;
  onChange: (part: Partial<Query>) => void;
}) {
  const now = useNow();
  const order: Column[] = ["name", "namespace", "phase", "source", "version", "replicas", "age"];
  const sort = (column: Column): ThProps["sort"] => ({
    sortBy: { index: order.indexOf(query.sort), direction: query.descending ? "desc" : "asc" },
    onSort: (_, __, direction) => onChange({ sort: column, descending: direction.startsWith("d") }),
    columnIndex: order.indexOf(column),
  });
  const head = (column: Column) => (
    <Th sort={sort(column)} modifier="nowrap">
      {titles[column]}
    </Th>
  );
  return (
    <Table aria-label="Darkrooms" gridBreakPoint="grid-lg" variant="compact" className="dr-table">
      <Thead>
        <Tr>
          {head("name")}
          {head("namespace")}
          {head("phase")}
          {head("source")}
          {head("version")}
          <Th modifier="nowrap">Domains</Th>
          {head("replicas")}
          {head("age")}
        </Tr>
      </Thead>
      <Tbody>
        {darkrooms.map((darkroom) => (
          <Row key={keyOf(darkroom)} darkroom={darkroom} now={now} />
        ))}
      </Tbody>
    </Table>
  );
}

function Row({ darkroom, now }: { darkroom: Darkroom; now: number }) {
  const { name, namespace, source, status } = darkroom;
  const wanted = darkroom.autoscaling ? status.replicas : (darkroom.replicas ?? 1);
  return (
    <Tr>
      <Td dataLabel={titles.name}>
        <Link to={paths.detail(darkroom)} className="dr-name">
          {name}
        </Link>
      </Td>
      <Td dataLabel={titles.namespace}>{namespace}</Td>
      <Td dataLabel={titles.phase}>
        <Tooltip content={sentenceOf(darkroom)}>
          <span>
            <PhaseText phase={phaseOf(darkroom)} />
          </span>
        </Tooltip>
      </Td>
      <Td dataLabel={titles.source}>
        <div>{sourceNames[typeOf(source)].name}</div>
        <div className="dr-quiet dr-place">
          <Truncate content={placeOf(source) || "–"} />
        </div>
      </Td>
      <Td dataLabel={titles.version}>{status.version ?? darkroom.version ?? "–"}</Td>
      <Td dataLabel="Domains">
        <Domains darkroom={darkroom} />
      </Td>
      <Td dataLabel={titles.replicas}>
        {status.readyReplicas}/{wanted}
      </Td>
      <Td dataLabel={titles.age}>
        <time dateTime={darkroom.createdAt} title={atTime(darkroom.createdAt)}>
          {age(darkroom.createdAt, now)}
        </time>
      </Td>
    </Tr>
  );
}

/** The hosts that are served; the first two, so that rows stay alike. */
function Domains({ darkroom }: { darkroom: Darkroom }) {
  const { domains } = darkroom.status;
  if (domains.length === 0) {
    return <span className="dr-quiet">–</span>;
  }
  return (
    <div className="dr-domains">
      {domains.slice(0, 2).map((host) => (
        <a key={host} href={urlOf(darkroom, host)} target="_blank" rel="noreferrer" className="dr-break">
          <Labels of={host} />
        </a>
      ))}
      {domains.length > 2 && <Link to={paths.detail(darkroom)}>and {domains.length - 2} more</Link>}
    </div>
  );
}

/** A host that breaks after its dots, where it has to break. */
function Labels({ of: host }: { of: string }) {
  return host.split(".").map((label, i) => (
    <Fragment key={i}>
      {i > 0 && (
        <>
          .<wbr />
        </>
      )}
      {label}
    </Fragment>
  ));
}
