import type { Condition, Darkroom } from "../api/types";
import { describeReason } from "../words/reasons";
import { findingOf, oldPodsServe } from "../words/conditions";
import { sentence } from "../words/format";

export type StepState = "done" | "busy" | "failed" | "waiting" | "unchecked";

export interface Step {
  title: string;
  state: StepState;
  detail: string | undefined;
}

/** The steps from a new Darkroom to its first image. */
export function stepsOf({ status, probe, replicas, autoscaling }: Darkroom): Step[] {
  const conditions = status.conditions ?? [];
  const find = (type: string) => conditions.find((condition) => condition.type === type);
  const wanted = autoscaling ? Math.max(1, status.replicas) : (replicas ?? 1);
  const podsReady = wanted > 0 && status.readyReplicas >= wanted;
  const readiness = find("Ready");
  const ready = `${status.readyReplicas} of ${wanted}`;
  // Ready contains the cause of all problems. New pods are not ready until they serve the image, which is not a problem
  // of the pods.
  const isOfOther = ["Deployed", "DomainsReady", "SourceReady"].map(find).some((other) => other?.status === "False" && (other.reason === readiness?.reason || oldPodsServe(other)));
  const blamed = readiness?.status === "True" || isOfOther ? undefined : readiness;
  const source = find("SourceReady");
  const steps: Step[] = [
    { title: "Accepted by the operator", ...stateOf(find("Initialized")) },
    { title: "Objects installed", ...stateOf(find("Deployed")) },
    podsReady
      ? { title: "Pods ready", state: "done", detail: ready }
      : { title: "Pods ready", ...stateOf(blamed), detail: detailOf(blamed) ?? ready },
    { title: "Hosts routed", ...stateOf(find("DomainsReady")) },
    // Ready pods do not prove that images are served.
    probe
      ? { title: "First image served", ...stateOf(source) }
      : { title: "First image served", state: "unchecked", detail: "Not checked: edit the Darkroom to set an image to check with" },
  ];
  // Later steps wait for a failed step.
  const stuck = steps.findIndex(({ state }) => state !== "done");
  return steps.map((step, i) => (i > stuck && stuck >= 0 && step.state === "busy" ? { ...step, state: "waiting", detail: undefined } : step));
}

function stateOf(condition: Condition | undefined): { state: StepState; detail: string | undefined } {
  if (!condition) {
    return { state: "waiting", detail: undefined };
  }
  if (condition.status === "True") {
    return { state: "done", detail: undefined };
  }
  const { tone } = findingOf(condition);
  return { state: tone === "bad" ? "failed" : "busy", detail: detailOf(condition) };
}

const detailOf = (condition: Condition | undefined): string | undefined =>
  condition && condition.status !== "True" ? sentence(condition.message ?? describeReason(condition.reason ?? "")) : undefined;

/** Whether all steps are done, or images are not checked. */
export const hasArrived = (steps: readonly Step[]): boolean => steps.every(({ state }) => state === "done" || state === "unchecked");
