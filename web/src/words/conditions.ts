import type { Condition } from "../api/types";

export type Tone = "good" | "bad" | "busy" | "neutral";

export interface Finding {
  title: string;
  detail: string;
  tone: Tone;
}

/** What a condition means when it is True, when False, and whether True is good. */
const meanings: Record<string, { yes: string; no: string; good: boolean; quiet?: boolean }> = {
  Ready: { yes: "Pictures are served", no: "Pictures are not served as asked for", good: true },
  DomainsReady: { yes: "Every host is routed", no: "Not every host is routed", good: true },
  Deployed: { yes: "The release is installed", no: "No release is installed", good: true },
  Initialized: { yes: "The operator has seen it", no: "The operator has not seen it", good: true },
  ReleaseFailed: { yes: "The last change could not be installed", no: "The last change was installed", good: false, quiet: true },
  Irreconcilable: { yes: "The operator cannot install it as it is", no: "The operator can install it", good: false, quiet: true },
  Paused: { yes: "The operator leaves it alone", no: "The operator looks after it", good: false, quiet: true },
};

/** Reasons that mean: wait, nothing is wrong yet. */
const passing = new Set(["Pending", "Deploying", "NotRouted", "Terminating"]);

/** A condition in words. Those that are not known are shown as they are. */
export function findingOf(condition: Condition): Finding {
  const meaning = meanings[condition.type];
  const words = separate(condition.reason ?? "");
  if (!meaning) {
    return { title: `${separate(condition.type)}: ${condition.status}`, detail: condition.message ?? words, tone: "neutral" };
  }
  const detail = condition.message ?? words;
  if (condition.status === "Unknown") {
    return { title: `${separate(condition.type)}: not known`, detail, tone: "neutral" };
  }
  const yes = condition.status === "True";
  const fine = yes === meaning.good;
  let tone: Tone = fine ? "good" : "bad";
  if (!fine && (passing.has(condition.reason ?? "") || condition.type === "Paused")) {
    tone = condition.type === "Paused" ? "neutral" : "busy";
  }
  return { title: yes ? meaning.yes : meaning.no, detail, tone };
}

/** Conditions worth a line: those that say only that nothing is wrong are left out. */
export function worthTelling(conditions: readonly Condition[]): Condition[] {
  return conditions.filter((condition) => !(meanings[condition.type]?.quiet && condition.status === "False"));
}

/** Splits a CamelCase word: ImagePullFailed becomes "Image pull failed". */
export function separate(word: string): string {
  const spaced = word.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2");
  return spaced.charAt(0) + spaced.slice(1).replace(/\b[A-Z][a-z]/g, (pair) => pair.toLowerCase());
}
