import type { Outcome, SourceOutcome } from "../api/types";
import type { Tone } from "../words/conditions";
import { list } from "../words/format";
import { msg, t, type Message } from "../words/t";

/** A line of the outcome of saving. */
export interface Finding {
  tone: Tone;
  title: string;
  detail: string;
}

const pods: Record<Outcome["pods"], { tone: Tone; title: Message; detail: Message }> = {
  create: { tone: "neutral", title: msg("Pods are created"), detail: msg("The Darkroom has none yet.") },
  keep: { tone: "good", title: msg("Pods are not replaced"), detail: msg("Their template does not change.") },
  roll: { tone: "neutral", title: msg("Pods are replaced"), detail: msg("Gradually: the old pods serve until new ones are ready.") },
  unknown: { tone: "neutral", title: msg("Pods may be replaced"), detail: msg("They are, if a credential differs from the stored one, which cannot be read.") },
};

/** Explanations of the reasons. */
const sourceDetails: Record<SourceOutcome["reason"], Message> = {
  answered: msg("Whether it serves images is not checked; set an image to check with."),
  imageServed: msg("It serves the image to check with."),
  redirected: msg("It redirects to another host, which was not checked."),
  nameNotFound: msg("Its name does not exist in DNS."),
  connectionRefused: msg("It refuses connections. Check host and port."),
  timeout: msg("It did not answer within 3 seconds. A firewall or a NetworkPolicy may be in the way."),
  certificate: msg("Its certificate is not trusted."),
  httpStatus: msg("It does not serve the image to check with."),
  noConnection: msg("The connection failed."),
  address: msg("Addresses of the machine, of the link and of metadata services are not requested."),
  proxy: msg("The proxy of the API server did not respond."),
  off: msg("The API server is configured not to check sources."),
  outsideCluster: msg("The API server does not run in the cluster."),
  notAccepted: msg("You may not save this Darkroom, or it was changed in the meantime."),
  limit: msg("Too many sources were checked in a short time."),
};

/** Whether the source answers the API server. It is a hint: pods may reach more, or less. */
function ofSource({ state, reason, host = "", status }: SourceOutcome): Finding {
  const detail = t(sourceDetails[reason]);
  switch (state) {
    case "reachable":
      return { tone: "good", title: t("The source {host} answers", { host }), detail };
    case "unreachable":
      return {
        tone: "bad",
        title: status ? t("The source {host} answers {status}", { host, status }) : t("The source {host} does not answer", { host }),
        detail: t("{detail} This was checked from the API server; you can save anyway.", { detail }),
      };
    case "notChecked":
      return { tone: "neutral", title: t("The source was not checked"), detail };
  }
}

/** What the cluster would make of a Darkroom: problems first. */
export function findingsOf({ hosts, secrets, source, pods: ofPods }: Outcome): Finding[] {
  const findings: Finding[] = [];
  for (const { host, owner } of hosts.filter(({ state }) => state === "taken")) {
    findings.push({
      tone: "bad",
      title: t("{host} is taken", { host }),
      detail: owner
        ? t("The Darkroom {owner} claimed it first and keeps it. This one is not served there.", { owner })
        : t("Another Darkroom claimed it first and keeps it. This one is not served there."),
    });
  }
  for (const { name, state, keys } of secrets) {
    const missing = list(keys.filter((key) => key.state === "missing").map((key) => key.name));
    if (state === "missing") {
      findings.push({ tone: "bad", title: t("The Secret {name} does not exist", { name }), detail: missing ? t("Create it with the keys {keys}.", { keys: missing }) : t("Create it before you save.") });
    } else if (missing) {
      findings.push({ tone: "bad", title: t("The Secret {name} lacks keys", { name }), detail: t("Add {keys}.", { keys: missing }) });
    } else if (state === "unknown") {
      findings.push({ tone: "neutral", title: t("The Secret {name} was not checked", { name }), detail: t("You may not read it, or there are too many.") });
    } else {
      findings.push({ tone: "good", title: t("The Secret {name} exists", { name }), detail: keys.length > 0 ? t("It has {keys}.", { keys: list(keys.map((key) => key.name)) }) : "" });
    }
  }
  const served = hosts.filter(({ state }) => state !== "taken").map(({ host }) => host);
  if (served.length > 0) {
    findings.push({ tone: "good", title: t("{n, plural, one {The host is free} other {The hosts are free}}", { n: served.length }), detail: list(served) });
  }
  const { tone, title, detail } = pods[ofPods];
  findings.push(ofSource(source), { tone, title: t(title), detail: t(detail) });
  const order: Tone[] = ["bad", "neutral", "busy", "good"];
  return findings.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone));
}
