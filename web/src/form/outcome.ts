import type { Outcome } from "../api/types";
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

/** What the cluster would make of a Darkroom: problems first. */
export function findingsOf({ hosts, secrets, pods: ofPods }: Outcome): Finding[] {
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
  findings.push({ tone, title: t(title), detail: t(detail) });
  const order: Tone[] = ["bad", "neutral", "busy", "good"];
  return findings.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone));
}
