import type { Access, Darkroom, Key } from "../api/types";
import { phaseOf } from "../words/phases";
import { msg, t, type Message } from "../words/t";
import { pausedAnnotation, requestedAnnotation, restartedAnnotation } from "./annotations";

/** The actions that change a Darkroom by a patch. */
export const actionNames = ["restart", "scale", "pause", "resume", "retry"] as const;
export type ActionName = (typeof actionNames)[number];

interface Words {
  /** The entry in a menu. */
  menu: Message;
  /** The title of the dialog. */
  ask: Message;
  effect: Message;
  /** The button that does it. */
  act: Message;
  /** The result of the request, which is not yet that of the operator. */
  done: Message;
}

export const words: Record<ActionName, Words> = {
  restart: {
    menu: msg("Restart pods"),
    ask: msg("Restart the pods of {name}?"),
    effect: msg("The pods are replaced one after another, without downtime. Darkrooms with an image check first start one new pod and check that it serves the image."),
    act: msg("Restart"),
    done: msg("Restart requested"),
  },
  scale: {
    menu: msg("Scale"),
    ask: msg("Scale {name}?"),
    effect: msg("Sets the number of pods."),
    act: msg("Scale"),
    done: msg("Number of pods changed"),
  },
  pause: {
    menu: msg("Pause reconciliation"),
    ask: msg("Pause the reconciliation of {name}?"),
    effect: msg("The operator applies no changes and reverts none until you resume. Pods keep running and images are still served."),
    act: msg("Pause"),
    done: msg("Reconciliation paused"),
  },
  resume: {
    menu: msg("Resume reconciliation"),
    ask: msg("Resume the reconciliation of {name}?"),
    effect: msg("The operator applies all changes that were made during the pause, and reverts manual changes to managed objects."),
    act: msg("Resume"),
    done: msg("Reconciliation resumed"),
  },
  retry: {
    menu: msg("Retry now"),
    ask: msg("Retry {name}?"),
    effect: msg("The operator reconciles at once instead of at the next retry. A failed preflight check is repeated on its own schedule, within ten minutes."),
    act: msg("Retry"),
    done: msg("Retry requested"),
  },
};

/** The actions that make sense for several Darkrooms at once. */
export const bulkActions = ["restart", "pause", "resume", "retry"] as const satisfies ActionName[];
export type BulkAction = (typeof bulkActions)[number];

/** Title and result of an action on several Darkrooms. */
export const bulkWords: Record<BulkAction, Pick<Words, "ask" | "done">> = {
  restart: {
    ask: msg("Restart the pods of {n, plural, one {# Darkroom} other {# Darkrooms}}?"),
    done: msg("Restart requested for {n, plural, one {# Darkroom} other {# Darkrooms}}"),
  },
  pause: {
    ask: msg("Pause the reconciliation of {n, plural, one {# Darkroom} other {# Darkrooms}}?"),
    done: msg("Reconciliation paused for {n, plural, one {# Darkroom} other {# Darkrooms}}"),
  },
  resume: {
    ask: msg("Resume the reconciliation of {n, plural, one {# Darkroom} other {# Darkrooms}}?"),
    done: msg("Reconciliation resumed for {n, plural, one {# Darkroom} other {# Darkrooms}}"),
  },
  retry: {
    ask: msg("Retry {n, plural, one {# Darkroom} other {# Darkrooms}}?"),
    done: msg("Retry requested for {n, plural, one {# Darkroom} other {# Darkrooms}}"),
  },
};

/** A JSON merge patch of a Darkroom in the format of the API. */
export type Patch = Record<string, unknown>;

export const isPaused = ({ annotations }: Pick<Darkroom, "annotations">): boolean => annotations?.[pausedAnnotation] === "true";

/** The patch of an action. */
export function patchOf(action: ActionName, now: string, replicas = 1): Patch {
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

/** Why an action is not possible; undefined if it is. Unknown rights are left to the cluster. */
export function refusalOf(action: ActionName, darkroom: Darkroom, access: Access | undefined): string | undefined {
  if (access?.update === false) {
    return t("You do not have permission to update this Darkroom");
  }
  if (phaseOf(darkroom) === "Terminating") {
    return t("The Darkroom is being deleted");
  }
  if (action === "scale" && darkroom.autoscaling) {
    return t("The autoscaler sets the number of pods: edit its limits instead");
  }
  if (action === "restart" && !darkroom.autoscaling && darkroom.replicas === 0) {
    return t("There are no pods: the Darkroom is scaled to zero");
  }
  if (isPaused(darkroom) && action !== "resume") {
    return action === "pause" ? t("Reconciliation is already paused") : t("Reconciliation is paused: resume it first");
  }
  if (!isPaused(darkroom) && action === "resume") {
    return t("Reconciliation is not paused");
  }
  return undefined;
}
