import type { Outcome, SourceOutcome } from "../api/types";
import type { Tone } from "../words/conditions";

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

/** Explanations of the reasons. */
const sourceDetails: Record<SourceOutcome["reason"], string> = {
  answered: "Whether it serves images is not checked; set an image to check with.",
  imageServed: "It serves the image to check with.",
  redirected: "It redirects to another host, which was not checked.",
  nameNotFound: "Its name does not exist in DNS.",
  connectionRefused: "It refuses connections. Check host and port.",
  timeout: "It did not answer within 3 seconds. A firewall or a NetworkPolicy may be in the way.",
  certificate: "Its certificate is not trusted.",
  httpStatus: "It does not serve the image to check with.",
  noConnection: "The connection failed.",
  address: "Addresses of the machine, of the link and of metadata services are not requested.",
  proxy: "The proxy of the API server did not respond.",
  off: "The API server is configured not to check sources.",
  outsideCluster: "The API server does not run in the cluster.",
  notAccepted: "You may not save this Darkroom, or it was changed in the meantime.",
  limit: "Too many sources were checked in a short time.",
};

/** Whether the source answers the API server. It is a hint: pods may reach more, or less. */
function ofSource({ state, reason, host = "", status }: SourceOutcome): Finding {
  const detail = sourceDetails[reason];
  switch (state) {
    case "reachable":
      return { tone: "good", title: `The source ${host} answers`, detail };
    case "unreachable":
      return {
        tone: "bad",
        title: status ? `The source ${host} answers ${status}` : `The source ${host} does not answer`,
        detail: `${detail} This was checked from the API server; you can save anyway.`,
      };
    case "notChecked":
      return { tone: "neutral", title: "The source was not checked", detail };
  }
}

const listed = (names: string[]): string => names.join(", ");

/** What the cluster would make of a Darkroom: problems first. */
export function findingsOf({ hosts, secrets, source, pods: ofPods }: Outcome): Finding[] {
  const findings: Finding[] = [];
  for (const { host, owner } of hosts.filter(({ state }) => state === "taken")) {
    findings.push({
      tone: "bad",
      title: `${host} is taken`,
      detail: `${owner ? `The Darkroom ${owner}` : "Another Darkroom"} claimed it first and keeps it. This one is not served there.`,
    });
  }
  for (const { name, state, keys } of secrets) {
    const missing = listed(keys.filter((key) => key.state === "missing").map((key) => key.name));
    if (state === "missing") {
      findings.push({ tone: "bad", title: `The Secret ${name} does not exist`, detail: missing ? `Create it with the keys ${missing}.` : "Create it before you save." });
    } else if (missing) {
      findings.push({ tone: "bad", title: `The Secret ${name} lacks keys`, detail: `Add ${missing}.` });
    } else if (state === "unknown") {
      findings.push({ tone: "neutral", title: `The Secret ${name} was not checked`, detail: "You may not read it, or there are too many." });
    } else {
      findings.push({ tone: "good", title: `The Secret ${name} exists`, detail: keys.length > 0 ? `It has ${listed(keys.map((key) => key.name))}.` : "" });
    }
  }
  const served = hosts.filter(({ state }) => state !== "taken").map(({ host }) => host);
  if (served.length > 0) {
    findings.push({ tone: "good", title: served.length === 1 ? "The host is free" : "The hosts are free", detail: listed(served) });
  }
  findings.push(ofSource(source), pods[ofPods]);
  const order: Tone[] = ["bad", "neutral", "busy", "good"];
  return findings.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone));
}
