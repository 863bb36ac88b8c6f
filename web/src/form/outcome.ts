import type { DarkroomInput, Outcome } from "../api/types";
import { differences, show } from "../model/merge";
import { valueAt } from "../model/model";
import type { Finding, Tone } from "../words/conditions";
import { list } from "../words/format";

/** A setting that changes, with its values in words. */
export interface Setting {
  name: string;
  was: string;
  is: string;
}

/** The changed settings of an existing Darkroom. */
export const settingsOf = (before: DarkroomInput, after: DarkroomInput): Setting[] =>
  differences([], before, after).map((path) => ({ name: path.join("."), was: show(valueAt(before, path)), is: show(valueAt(after, path)) }));

/** The effect on clients. */
const pods: Record<Outcome["pods"], Finding> = {
  create: { tone: "neutral", title: "Images will be served once the first pod is ready", detail: "" },
  keep: { tone: "neutral", title: "Visitors will not notice", detail: "The pods are not replaced." },
  roll: { tone: "neutral", title: "The pods will be replaced without downtime", detail: "The old pods serve images until new ones are ready." },
  unknown: { tone: "neutral", title: "The pods may be replaced, without downtime", detail: "They are replaced if a credential differs from the stored one, which cannot be read." },
};

/** Limits of the validation. */
export const uncheckedOf = ({ probe }: DarkroomInput): string =>
  probe
    ? `Not checked before saving: whether the source has the images. New pods serve only after they have served ${probe.path}.`
    : "Not checked at all: whether the source has the images. Set an image to check with, and new pods serve only after they have served it.";

/** The effects of saving, problems first. */
export function findingsOf({ hosts, secrets, pods: ofPods }: Outcome): Finding[] {
  const findings: Finding[] = [];
  for (const { host, owner } of hosts.filter(({ state }) => state === "taken")) {
    findings.push({
      tone: "bad",
      title: `${host} is taken`,
      detail: owner
        ? `The Darkroom ${owner} holds it and keeps it. This Darkroom is not served there.`
        : "Another Darkroom holds it and keeps it. This Darkroom is not served there.",
    });
  }
  const unknown = hosts.filter(({ state }) => state === "unknown").map(({ host }) => host);
  if (unknown.length > 0) {
    findings.push({ tone: "warning", title: "Cannot determine which Darkroom holds the hosts", detail: `${list(unknown)}. The API server may not read the Leases of hosts.` });
  }
  for (const { name, state, keys } of secrets) {
    const missing = list(keys.filter((key) => key.state === "missing").map((key) => key.name));
    if (state === "missing") {
      findings.push({ tone: "bad", title: `The Secret ${name} does not exist`, detail: missing ? `Create it with the keys ${missing}.` : "Create it before you save." });
    } else if (missing) {
      findings.push({ tone: "bad", title: `The Secret ${name} lacks keys`, detail: `Add ${missing}.` });
    } else if (state === "unknown") {
      findings.push({ tone: "neutral", title: `The Secret ${name} was not checked`, detail: "You may not read it, or there are too many." });
    } else {
      findings.push({ tone: "good", title: `The Secret ${name} exists`, detail: keys.length > 0 ? `It contains ${list(keys.map((key) => key.name))}.` : "" });
    }
  }
  const free = hosts.filter(({ state }) => state === "free").map(({ host }) => host);
  if (free.length > 0) {
    findings.push({ tone: "good", title: free.length === 1 ? "The host is free" : "The hosts are free", detail: list(free) });
  }
  findings.push(pods[ofPods]);
  const order: Tone[] = ["bad", "warning", "neutral", "busy", "good"];
  return findings.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone));
}
