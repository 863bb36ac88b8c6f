import { Icon, Label } from "@patternfly/react-core";
import BanIcon from "@patternfly/react-icons/dist/esm/icons/ban-icon";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import ExclamationTriangleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-triangle-icon";
import InProgressIcon from "@patternfly/react-icons/dist/esm/icons/in-progress-icon";
import PauseCircleIcon from "@patternfly/react-icons/dist/esm/icons/pause-circle-icon";
import PendingIcon from "@patternfly/react-icons/dist/esm/icons/pending-icon";
import type { ComponentType } from "react";
import type { Darkroom } from "../api/types";

interface Words {
  icon: ComponentType;
  status: "success" | "info" | "warning" | "danger" | "custom" | undefined;
  color: "green" | "blue" | "grey" | "yellow" | "red" | "purple";
  /** The phase in a sentence, where the operator says none. */
  sentence: string;
}

/** The phases in the order in which somebody should look at them. */
export const phases = {
  Failed: { icon: ExclamationCircleIcon, status: "danger", color: "red", sentence: "What was asked for could not be installed." },
  Degraded: { icon: ExclamationTriangleIcon, status: "warning", color: "yellow", sentence: "It is installed, and not all of it works." },
  Deploying: { icon: InProgressIcon, status: "info", color: "blue", sentence: "A change is on its way." },
  Pending: { icon: PendingIcon, status: undefined, color: "grey", sentence: "The operator has not installed it yet." },
  Ready: { icon: CheckCircleIcon, status: "success", color: "green", sentence: "All pods are ready, and every host is routed." },
  Paused: { icon: PauseCircleIcon, status: "custom", color: "purple", sentence: "The operator leaves it alone, as its annotation asks." },
  Terminating: { icon: BanIcon, status: undefined, color: "grey", sentence: "It is being uninstalled." },
} as const satisfies Record<string, Words>;

export type Phase = keyof typeof phases;
export const phaseNames = Object.keys(phases) as Phase[];

/** The phase of a Darkroom; one that the operator has not seen yet is pending. */
export function phaseOf(darkroom: Darkroom): Phase {
  if (darkroom.deletedAt) {
    return "Terminating";
  }
  const phase = darkroom.status.phase ?? "Pending";
  return phase in phases ? (phase as Phase) : "Pending";
}

export const sentenceOf = (darkroom: Darkroom): string => darkroom.status.message ?? phases[phaseOf(darkroom)].sentence;

/** Icon and word, as a table shows them. */
export function PhaseText({ phase }: { phase: Phase }) {
  const { icon: Sign, status } = phases[phase] as Words;
  return (
    <span className="dr-phase">
      <Icon status={status} isInline aria-hidden>
        <Sign />
      </Icon>
      <span>{phase}</span>
    </span>
  );
}

/** The same as a badge beside a title. */
export function PhaseLabel({ phase }: { phase: Phase }) {
  const { icon: Sign, color } = phases[phase] as Words;
  return (
    <Label color={color} icon={<Sign />}>
      {phase}
    </Label>
  );
}
