import type { Condition, Darkroom } from "../api/types";
import { sentence } from "./format";
import { describeReason, separate } from "./reasons";

export type Tone = "good" | "warning" | "bad" | "busy" | "neutral";

export interface Finding {
  title: string;
  detail: string;
  tone: Tone;
}

interface Meaning {
  yes: string;
  no: string;
  unknown?: string;
  /** The tones of True and False. */
  tones: [yes: Tone, no: Tone];
  /** The status with which the condition is omitted, because nothing is wrong. */
  quiet?: "True" | "False";
}

/** Every condition type that the API can report; words.test.ts compares the list with api/v1alpha1. */
export const meanings: Record<string, Meaning> = {
  // Ready pods do not prove that images are served: only SourceReady does.
  Ready: { yes: "All pods are ready", no: "Not ready", unknown: "Unknown whether it is ready", tones: ["good", "bad"] },
  SourceReady: {
    yes: "Images are served",
    no: "Images are not served",
    unknown: "Unknown whether images are served",
    tones: ["good", "bad"],
  },
  CredentialsReady: { yes: "Credentials found", no: "Credentials missing", tones: ["good", "bad"] },
  DomainsReady: { yes: "All hosts are routed", no: "Not all hosts are routed", unknown: "Unknown whether all hosts are routed", tones: ["good", "bad"] },
  Deployed: { yes: "Release installed", no: "Release not installed", tones: ["good", "bad"] },
  Initialized: { yes: "Seen by the operator", no: "Not yet seen by the operator", tones: ["good", "busy"], quiet: "True" },
  ReleaseFailed: { yes: "The last install or upgrade failed", no: "The last install or upgrade succeeded", tones: ["bad", "good"], quiet: "False" },
  Irreconcilable: { yes: "Cannot be installed as specified", no: "Can be installed as specified", tones: ["bad", "good"], quiet: "False" },
  Contested: { yes: "Another writer keeps changing an object", no: "No other writer changes its objects", tones: ["bad", "good"], quiet: "False" },
  RolloutQueued: { yes: "Waits for the rollouts of other Darkrooms", no: "Does not wait for other Darkrooms", tones: ["busy", "good"], quiet: "False" },
  Stalled: { yes: "Stalled: needs a change", no: "Not stalled", tones: ["bad", "good"], quiet: "False" },
  Reconciling: { yes: "Applying changes", no: "Up to date", tones: ["busy", "good"], quiet: "False" },
  Paused: { yes: "Reconciliation is paused", no: "Managed by the operator", tones: ["neutral", "good"], quiet: "False" },
};

/** Any controller can add conditions, even one with the type constructor. */
const meaningOf = (type: string): Meaning | undefined => (Object.hasOwn(meanings, type) ? meanings[type] : undefined);

/** Reasons with which a condition that is not True is harmless: work in progress, or intended. */
const harmless: Record<string, Tone> = {
  Pending: "busy",
  ProbePending: "busy",
  Deploying: "busy",
  NotRouted: "busy",
  AwaitingGateway: "busy",
  CertificateMissing: "busy",
  AwaitingAddress: "neutral",
  Terminating: "busy",
  ScaledToZero: "neutral",
  Paused: "neutral",
};

const toneOf = (reason: string): Tone | undefined => (Object.hasOwn(harmless, reason) ? harmless[reason] : undefined);

/** Describes a condition. Types without words are shown as they are. */
export function findingOf(condition: Condition): Finding {
  const { type, status, reason = "" } = condition;
  const detail = sentence(condition.message ?? describeReason(reason));
  const meaning = meaningOf(type);
  if (!meaning) {
    return { title: `${separate(type)}: ${status}`, detail, tone: "neutral" };
  }
  if (status !== "True" && status !== "False") {
    return { title: meaning.unknown ?? `${separate(type)}: unknown`, detail, tone: toneOf(reason) ?? "neutral" };
  }
  const [ifTrue, ifFalse] = meaning.tones;
  if (status === "False") {
    return { title: type === "SourceReady" && oldPodsServe(condition) ? "New pods do not serve images" : meaning.no, detail, tone: (ifFalse === "bad" ? toneOf(reason) : undefined) ?? ifFalse };
  }
  if (type === "Ready" && reason === "ScaledToZero") {
    return { title: "Scaled to zero", detail, tone: "neutral" };
  }
  return { title: meaning.yes, detail, tone: ifTrue };
}

/** Omits conditions that report only that nothing is wrong. */
export function worthTelling(conditions: readonly Condition[]): Condition[] {
  return conditions.filter(({ type, status }) => meaningOf(type)?.quiet !== status);
}

/** Why a Darkroom is not ready, as a CamelCase reason; undefined if it is ready or reports none. */
export function reasonOf({ status }: Pick<Darkroom, "status">): string | undefined {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  return ready && ready.status !== "True" ? ready.reason : undefined;
}

/** Whether only new pods fail the image check. The previous pods still serve. */
export const oldPodsServe = ({ reason }: Pick<Condition, "reason">): boolean => reason === "NewPodsNotServing";

/** The result of the image check, and since when. */
export const sourceReadyOf = ({ status }: Pick<Darkroom, "status">): Condition | undefined => status.conditions?.find(({ type }) => type === "SourceReady");

/** Whether images are served, as far as that is checked. Ready pods do not prove it. */
export function servingOf({ probe, status }: Pick<Darkroom, "probe" | "status">): string {
  if (!probe) {
    return "Images not checked";
  }
  const source = sourceReadyOf({ status });
  return source?.status === "True" ? "Image served" : source?.status === "False" ? "Image not served" : "Image not checked yet";
}
