import { sourceTypes, type Darkroom } from "../api/types";
import { reasonOf } from "../words/conditions";
import { phaseNames, phaseOf, phases, type Phase } from "../words/phases";
import { describeReason } from "../words/reasons";
import { sourceNames } from "../words/sources";
import { typeOf } from "../model/model";

/** A property that Darkrooms are filtered by. */
interface Facet {
  title: string;
  /** The parameter in the URL of the list. */
  parameter: string;
  /** All values, in the order of the menu. */
  of: (darkroom: Darkroom) => string[];
  /** All values in the order of the menu. By default the values of the Darkrooms, sorted. */
  all?: readonly string[];
  describe?: (value: string) => string;
  /** The group of a value, such as the key of a label. By default all values are one group. */
  group?: (value: string) => string;
}

/** The running version of a Darkroom, or else the desired one. */
export const versionOf = ({ status, version }: Darkroom): string => status.version ?? version ?? "";

export const facetNames = ["phases", "reasons", "sources", "namespaces", "labels"] as const;
export type FacetName = (typeof facetNames)[number];

/** The buttons above the list choose the phase; the other facets have menus. */
export const menuNames = ["reasons", "sources", "namespaces", "labels"] as const satisfies readonly FacetName[];

const present = (value: string | undefined): string[] => (value ? [value] : []);

export const facets: Record<FacetName, Facet> = {
  phases: { title: "Phase", parameter: "phase", of: (darkroom) => [phaseOf(darkroom)], all: phaseNames, describe: (phase) => phases[phase as Phase].name },
  reasons: { title: "Reason", parameter: "reason", of: (darkroom) => present(reasonOf(darkroom)), describe: describeReason },
  sources: {
    title: "Source",
    parameter: "source",
    of: (darkroom) => [typeOf(darkroom.source)],
    all: sourceTypes,
    describe: (type) => sourceNames[type as keyof typeof sourceNames].name,
  },
  namespaces: { title: "Namespace", parameter: "namespace", of: (darkroom) => [darkroom.namespace] },
  labels: {
    title: "Label",
    parameter: "label",
    of: ({ labels }) => Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`),
    group: (label) => label.slice(0, label.indexOf("=")),
  },
};

/** A value of a facet in words. */
export const describeValue = (name: FacetName, value: string): string => facets[name].describe?.(value) ?? value;

/** The chosen values of each facet; none means that it does not filter. */
export type Chosen = Record<FacetName, string[]>;

/** Whether a Darkroom has one of the chosen values of each facet and group. */
export const fits = (darkroom: Darkroom, chosen: Chosen): boolean =>
  facetNames.every((name) => {
    const wanted = chosen[name];
    if (wanted.length === 0) {
      return true;
    }
    const { of, group = () => "" } = facets[name];
    const values = of(darkroom);
    return wanted.every((value) => wanted.some((other) => group(other) === group(value) && values.includes(other)));
  });
