import type { Outcome } from "../api/types";
import type { Tone } from "../words/conditions";
import { list } from "../words/format";

/** A line of the outcome of saving. */
export interface Finding {
  tone: Tone;
  title: string;
  detail: string;
}

const pods: Record<Outcome["pods"], Finding> = {
  create: { tone: "neutral", title: "Pods are created", detail: "The Darkroom has none yet." },
  keep: { tone: "good", title: "Pods are not replaced", detail: "Their template does not change." },
  roll: { tone: "neutral", title: "Pods are replaced", detail: "Gradually: the old pods serve until new ones are ready." },
  unknown: { tone: "neutral", title: "Pods may be replaced", detail: "They are, if a credential differs from the stored one, which cannot be read." },
};

/** What the cluster would make of a Darkroom: problems first. */
export function findingsOf({ hosts, secrets, pods: ofPods }: Outcome): Finding[] {
  const findings: Finding[] = [];
  for (const { host, owner } of hosts.filter(({ state }) => state === "taken")) {
    findings.push({
      tone: "bad",
      title: `${host} is taken`,
      detail: owner
        ? `The Darkroom ${owner} claimed it first and keeps it. This one is not served there.`
        : "Another Darkroom claimed it first and keeps it. This one is not served there.",
    });
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
      findings.push({ tone: "good", title: `The Secret ${name} exists`, detail: keys.length > 0 ? `It has ${list(keys.map((key) => key.name))}.` : "" });
    }
  }
  const served = hosts.filter(({ state }) => state !== "taken").map(({ host }) => host);
  if (served.length > 0) {
    findings.push({ tone: "good", title: served.length === 1 ? "The host is free" : "The hosts are free", detail: list(served) });
  }
  findings.push(pods[ofPods]);
  const order: Tone[] = ["bad", "neutral", "busy", "good"];
  return findings.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone));
}
