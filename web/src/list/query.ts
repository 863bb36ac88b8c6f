import type { Darkroom } from "../api/types";
import { reasonOf } from "../words/conditions";
import { phaseNames, phaseOf } from "../words/phases";
import { describeReason, separate } from "../words/reasons";
import { placeOf, sourceNames } from "../words/sources";
import { typeOf } from "../model/model";
import { facetNames, facets, fits, versionOf, type Chosen, type FacetName } from "./facets";

export const columns = ["name", "namespace", "source", "phase", "replicas", "age"] as const;
export type Column = (typeof columns)[number];

/** The query of the list. It is in the URL, so that views can be shared. */
export interface Query extends Chosen {
  search: string;
  sort: Column;
  descending: boolean;
  page: number;
  perPage: number;
}

const defaultPerPage = 50;
/** Phases are sorted by urgency. */
const defaultSort: Column = "phase";

/** The filters of a list without any. */
export const noFilters = { search: "", ...chosenBy(() => []) } satisfies Partial<Query>;

function chosenBy(values: (name: FacetName) => string[]): Chosen {
  return Object.fromEntries(facetNames.map((name) => [name, values(name)])) as Chosen;
}

export function parseQuery(search: string): Query {
  const params = new URLSearchParams(search);
  const sort = params.get("sort") ?? "";
  const name = sort.replace(/^-/, "") as Column;
  const number = (key: string, otherwise: number) => {
    const n = Number(params.get(key));
    return Number.isInteger(n) && n > 0 ? n : otherwise;
  };
  return {
    search: params.get("q") ?? "",
    ...chosenBy((name) => {
      const { parameter, all } = facets[name];
      return params.getAll(parameter).filter((value) => all?.includes(value) ?? true);
    }),
    sort: columns.includes(name) ? name : defaultSort,
    descending: sort.startsWith("-"),
    page: number("page", 1),
    perPage: Math.min(number("per", defaultPerPage), 100),
  };
}

/** The opposite of parseQuery; defaults are omitted. */
export function formatQuery(query: Query): string {
  const params = new URLSearchParams();
  if (query.search) {
    params.set("q", query.search);
  }
  for (const name of facetNames) {
    for (const value of query[name]) {
      params.append(facets[name].parameter, value);
    }
  }
  const sort = (query.descending ? "-" : "") + query.sort;
  if (sort !== defaultSort) {
    params.set("sort", sort);
  }
  if (query.page > 1) {
    params.set("page", String(query.page));
  }
  if (query.perPage !== defaultPerPage) {
    params.set("per", String(query.perPage));
  }
  const text = params.toString();
  return text ? `?${text}` : "";
}

export const isFiltered = (query: Query): boolean =>
  query.search !== "" || facetNames.some((name) => query[name].length > 0);

/** Counts the Darkrooms with each value of a facet that match the other filters. */
export function countBy(name: FacetName, darkrooms: readonly Darkroom[], query: Query): Map<string, number> {
  const counts = new Map<string, number>();
  for (const darkroom of darkrooms) {
    if (matches(darkroom, { ...query, [name]: [] })) {
      for (const value of facets[name].of(darkroom)) {
        counts.set(value, (counts.get(value) ?? 0) + 1);
      }
    }
  }
  return counts;
}

/** The Darkrooms that match the query, in its order. */
export function select(darkrooms: readonly Darkroom[], query: Query): Darkroom[] {
  const sign = query.descending ? -1 : 1;
  return darkrooms
    .filter((darkroom) => matches(darkroom, query))
    .sort((a, b) => sign * compare(a, b, query.sort) || byName(a, b));
}

function matches(darkroom: Darkroom, query: Query): boolean {
  if (!fits(darkroom, query)) {
    return false;
  }
  const words = query.search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    return true;
  }
  const text = [
    darkroom.name,
    darkroom.namespace,
    ...[darkroom.source, ...(darkroom.additionalSources ?? [])].map(placeOf),
    sourceNames[typeOf(darkroom.source)].name,
    versionOf(darkroom),
    ...darkroom.status.domains,
    ...darkroom.subDomains,
    describeReason(reasonOf(darkroom) ?? ""),
    separate(reasonOf(darkroom) ?? ""),
  ]
    .join(" ")
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

// Names are lower-case ASCII, so slow collation is not needed.
export const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const byName = (a: Darkroom, b: Darkroom): number => order(a.name, b.name) || order(a.namespace, b.namespace);

function compare(a: Darkroom, b: Darkroom, column: Column): number {
  switch (column) {
    case "name":
      return order(a.name, b.name);
    case "namespace":
      return order(a.namespace, b.namespace);
    case "source":
      return typeOf(a.source).localeCompare(typeOf(b.source)) || placeOf(a.source).localeCompare(placeOf(b.source));
    case "phase":
      return phaseNames.indexOf(phaseOf(a)) - phaseNames.indexOf(phaseOf(b));
    case "replicas":
      return a.status.readyReplicas - b.status.readyReplicas;
    case "age":
      // The youngest first, in the order of their ages.
      return Date.parse(b.createdAt ?? "") - Date.parse(a.createdAt ?? "");
  }
}
