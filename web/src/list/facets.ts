import { sourceTypes, type Darkroom } from "../api/types";
import { reasonOf } from "../words/conditions";
import { phaseNames, phaseOf } from "../words/phases";
import { describeReason } from "../words/reasons";
import { sourceNames, typeOf } from "../words/sources";

/** A property that Darkrooms are filtered by. */
interface Facet {
  title: string;
  /** The parameter in the URL of the list. */
  parameter: string;
  /** The values of a Darkroom. */
  of: (darkroom: Darkroom) => string[];
  /** All values, in the order of the menu; without them those of the Darkrooms are sorted. */
  all?: readonly string[];
  describe?: (value: string) => string;
}

/** The version of a Darkroom that runs, or that is to run. */
export const versionOf = ({ status, version }: Darkroom): string => status.version ?? version ?? "";

export const facets = {
  phases: { title: "Phase", parameter: "phase", of: (darkroom) => [phaseOf(darkroom)], all: phaseNames },
  reasons: { title: "Reason", parameter: "reason", of: (darkroom) => present(reasonOf(darkroom)), describe: describeReason },
  sources: {
    title: "Source",
    parameter: "source",
    of: (darkroom) => [typeOf(darkroom.source)],
    all: sourceTypes,
    describe: (type) => sourceNames[type as keyof typeof sourceNames].name,
  },
  namespaces: { title: "Namespace", parameter: "namespace", of: (darkroom) => [darkroom.namespace] },
  versions: { title: "Version", parameter: "version", of: (darkroom) => present(versionOf(darkroom)) },
  labels: { title: "Label", parameter: "label", of: ({ labels }) => Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`) },
} as const satisfies Record<string, Facet>;

export type FacetName = keyof typeof facets;
export const facetNames = Object.keys(facets) as FacetName[];
export const facetOf = (name: FacetName): Facet => facets[name];

/** The chosen values of each facet; none means that it does not filter. */
export type Chosen = Record<FacetName, string[]>;

const present = (value: string | undefined): string[] => (value ? [value] : []);

/**
 * Whether a Darkroom has one of the chosen values of each facet. Of labels it must have one
 * for each chosen key, like a selector of Kubernetes.
 */
export function fits(darkroom: Darkroom, chosen: Chosen): boolean {
  return facetNames.every((name) => {
    const wanted = chosen[name];
    if (wanted.length === 0) {
      return true;
    }
    const values = facets[name].of(darkroom);
    if (name !== "labels") {
      return wanted.some((value) => values.includes(value));
    }
    const keyOf = (label: string) => label.slice(0, label.indexOf("="));
    return wanted.every((label) => wanted.some((other) => keyOf(other) === keyOf(label) && values.includes(other)));
  });
}
