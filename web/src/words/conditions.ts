import type { Condition, Darkroom } from "../api/types";
import { describeReason, separate } from "./reasons";
import { msg, t, type Message } from "./t";

export type Tone = "good" | "bad" | "busy" | "neutral";

export interface Finding {
  title: string;
  detail: string;
  tone: Tone;
}

interface Meaning {
  yes: Message;
  no: Message;
  unknown?: Message;
  /** How True and False are shown. */
  tones: [yes: Tone, no: Tone];
  /** Left out when False: it would report only that nothing is wrong. */
  quiet?: boolean;
}

/** Every condition type that the API can report; words.test.ts compares the list with api/v1alpha1. */
export const meanings: Record<string, Meaning> = {
  // Ready pods do not prove that images are served: only SourceReady does.
  Ready: { yes: msg("All pods are ready"), no: msg("Not ready"), unknown: msg("Not known whether it is ready"), tones: ["good", "bad"] },
  SourceReady: {
    yes: msg("Images are served"),
    no: msg("Images are not served"),
    unknown: msg("Not known whether images are served"),
    tones: ["good", "bad"],
  },
  CredentialsReady: { yes: msg("Credentials found"), no: msg("Credentials missing"), tones: ["good", "bad"] },
  DomainsReady: { yes: msg("All hosts are routed"), no: msg("Not all hosts are routed"), unknown: msg("Not known whether all hosts are routed"), tones: ["good", "bad"] },
  Preflight: {
    yes: msg("The change is checked"),
    no: msg("A change is held back: its pods do not serve images"),
    unknown: msg("A change is held back until it is checked"),
    tones: ["good", "bad"],
  },
  Deployed: { yes: msg("Release installed"), no: msg("Release not installed"), tones: ["good", "bad"] },
  Initialized: { yes: msg("Seen by the operator"), no: msg("Not yet seen by the operator"), tones: ["good", "busy"] },
  ReleaseFailed: { yes: msg("The last install or upgrade failed"), no: msg("The last install or upgrade succeeded"), tones: ["bad", "good"], quiet: true },
  Irreconcilable: { yes: msg("Cannot be installed as specified"), no: msg("Can be installed as specified"), tones: ["bad", "good"], quiet: true },
  Contested: { yes: msg("Another writer keeps changing an object"), no: msg("No other writer changes its objects"), tones: ["bad", "good"], quiet: true },
  Stalled: { yes: msg("Stalled: needs a change"), no: msg("Not stalled"), tones: ["bad", "good"], quiet: true },
  Reconciling: { yes: msg("Applying changes"), no: msg("Up to date"), tones: ["busy", "good"], quiet: true },
  Paused: { yes: msg("Reconciliation is paused"), no: msg("Managed by the operator"), tones: ["neutral", "good"], quiet: true },
};

/** Reasons for which a condition that is not True is no fault: work in progress, or what the user asked for. */
const harmless: Record<string, Tone> = {
  Pending: "busy",
  ProbePending: "busy",
  PreflightWaiting: "busy",
  PreflightRunning: "busy",
  Deploying: "busy",
  NotRouted: "busy",
  AwaitingGateway: "busy",
  Terminating: "busy",
  ScaledToZero: "neutral",
  Paused: "neutral",
};

/** Describes a condition. Types without words are shown as they are. */
export function findingOf(condition: Condition, all: readonly Condition[] = []): Finding {
  const { type, status, reason = "" } = condition;
  const detail = condition.message ?? describeReason(reason);
  const meaning = meanings[type];
  if (!meaning) {
    return { title: `${separate(type)}: ${status}`, detail, tone: "neutral" };
  }
  if (status !== "True" && status !== "False") {
    return { title: meaning.unknown ? t(meaning.unknown) : t("{condition}: unknown", { condition: separate(type) }), detail, tone: harmless[reason] ?? "neutral" };
  }
  const [ifTrue, ifFalse] = meaning.tones;
  if (status === "False") {
    // SourceReady has the verdict on the change then, while the previous pods keep serving.
    const held = type === "SourceReady" && all.some((other) => other.type === "Preflight" && other.status === "False");
    return { title: held ? t("The change does not serve images") : t(meaning.no), detail, tone: (ifFalse === "bad" ? harmless[reason] : undefined) ?? ifFalse };
  }
  if (type === "Ready" && reason === "ScaledToZero") {
    return { title: t("Scaled to zero"), detail, tone: "neutral" };
  }
  return { title: t(meaning.yes), detail, tone: ifTrue };
}

/** Conditions worth a line: those that report only that nothing is wrong are left out. */
export function worthTelling(conditions: readonly Condition[]): Condition[] {
  return conditions.filter(({ type, status }) => !(meanings[type]?.quiet && status === "False"));
}

/** Why a Darkroom is not ready, as a CamelCase reason; undefined if it is ready or reports none. */
export function reasonOf({ status }: Pick<Darkroom, "status">): string | undefined {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  return ready && ready.status !== "True" ? ready.reason : undefined;
}

/** Whether images are served, as far as that is checked. Ready pods do not prove it. */
export function servingOf({ probe, status }: Pick<Darkroom, "probe" | "status">): string {
  if (!probe) {
    return t("Images not checked");
  }
  const source = status.conditions?.find(({ type }) => type === "SourceReady");
  return source?.status === "True" ? t("Image served") : source?.status === "False" ? t("Image not served") : t("Image not checked yet");
}
