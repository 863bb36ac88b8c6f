import type { Access, Darkroom, DarkroomPatch, Key } from "../api/types";
import { phaseOf } from "../words/phases";
import { pausedAnnotation, requestedAnnotation, restartedAnnotation } from "../model/annotations";

/** The actions that change a Darkroom by a patch. */
export const actionNames = ["restart", "scale", "pause", "resume", "retry"] as const;
export type ActionName = (typeof actionNames)[number];

interface Words {
  /** The label of the menu entry. */
  menu: string;
  /** The title of the dialog. */
  ask: (name: string) => string;
  effect: string;
  /** The label of the button. */
  act: string;
  /** The message after the request; the operator has not applied the change yet. */
  done: string;
}

export const words: Record<ActionName, Words> = {
  restart: {
    menu: "Restart pods",
    ask: (name) => `Restart the pods of ${name}?`,
    effect: "The pods are replaced one after another, without downtime. Darkrooms with an image check first start one new pod and check that it serves the image.",
    act: "Restart",
    done: "Restart requested",
  },
  scale: {
    menu: "Scale",
    ask: (name) => `Scale ${name}?`,
    effect: "Sets the number of pods.",
    act: "Scale",
    done: "Number of pods changed",
  },
  pause: {
    menu: "Pause reconciliation",
    ask: (name) => `Pause the reconciliation of ${name}?`,
    effect: "The operator applies no changes and reverts none until you resume. Pods keep running and images are still served.",
    act: "Pause",
    done: "Reconciliation paused",
  },
  resume: {
    menu: "Resume reconciliation",
    ask: (name) => `Resume the reconciliation of ${name}?`,
    effect: "The operator applies all changes that were made during the pause, and reverts manual changes to managed objects.",
    act: "Resume",
    done: "Reconciliation resumed",
  },
  retry: {
    menu: "Retry now",
    ask: (name) => `Retry ${name}?`,
    effect: "The operator reconciles at once instead of at the next retry.",
    act: "Retry",
    done: "Retry requested",
  },
};

/** The actions that undo others. Scaling is undone by scaling to the previous number. */
export const opposites: Partial<Record<ActionName, ActionName>> = { scale: "scale", pause: "resume", resume: "pause" };

export const isPaused = ({ annotations }: Pick<Darkroom, "annotations">): boolean => annotations?.[pausedAnnotation] === "true";

/** Whether a Darkroom has keys to rotate; with workload identity it has none. */
export const hasKeys = ({ source }: Pick<Darkroom, "source">): boolean => source.credentials !== undefined;

/** The patch of an action. */
export function patchOf(action: ActionName, now: string, replicas = 1): DarkroomPatch {
  switch (action) {
    case "restart":
      return { podTemplate: { annotations: { [restartedAnnotation]: now } } };
    case "scale":
      return { replicas };
    case "pause":
      return { annotations: { [pausedAnnotation]: "true" } };
    case "resume":
      return { annotations: { [pausedAnnotation]: null } };
    case "retry":
      return { annotations: { [requestedAnnotation]: now } };
  }
}

/** The kubectl command of an action. Names of Darkrooms and namespaces need no quotes. */
export function commandOf(action: ActionName, { namespace, name }: Key, now: string, replicas = 1): string {
  const kubectl = (verb: string) => `kubectl -n ${namespace} ${verb} darkroom/${name}`;
  switch (action) {
    case "restart":
      return `${kubectl("patch")} --type=merge -p '${JSON.stringify({ spec: patchOf("restart", now) })}'`;
    case "scale":
      return `${kubectl("scale")} --replicas=${replicas}`;
    case "pause":
      return `${kubectl("annotate")} --overwrite ${pausedAnnotation}=true`;
    case "resume":
      return `${kubectl("annotate")} ${pausedAnnotation}-`;
    case "retry":
      return `${kubectl("annotate")} --overwrite ${requestedAnnotation}=${now}`;
  }
}

export const deleteCommandOf = ({ namespace, name }: Key): string => `kubectl -n ${namespace} delete darkroom/${name}`;

/** Why an action is not possible, or undefined. The cluster checks permissions that are unknown here. */
export function refusalOf(action: ActionName, darkroom: Darkroom, access: Access | undefined): string | undefined {
  if (access?.update === false) {
    return "You do not have permission to update this Darkroom";
  }
  if (phaseOf(darkroom) === "Terminating") {
    return "The Darkroom is being deleted";
  }
  if (action === "scale" && darkroom.autoscaling) {
    return "The autoscaler sets the number of pods: edit its limits instead";
  }
  if (action === "restart" && !darkroom.autoscaling && darkroom.replicas === 0) {
    return "There are no pods: the Darkroom is scaled to zero";
  }
  if (isPaused(darkroom) && action !== "resume") {
    return action === "pause" ? "Reconciliation is already paused" : "Reconciliation is paused: resume it first";
  }
  if (!isPaused(darkroom) && action === "resume") {
    return "Reconciliation is not paused";
  }
  return undefined;
}
