import { Label } from "@patternfly/react-core";
import BanIcon from "@patternfly/react-icons/dist/esm/icons/ban-icon";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import ExclamationTriangleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-triangle-icon";
import OffIcon from "@patternfly/react-icons/dist/esm/icons/power-off-icon";
import InProgressIcon from "@patternfly/react-icons/dist/esm/icons/in-progress-icon";
import PauseCircleIcon from "@patternfly/react-icons/dist/esm/icons/pause-circle-icon";
import PendingIcon from "@patternfly/react-icons/dist/esm/icons/pending-icon";
import type { ComponentType } from "react";
import type { Darkroom } from "../api/types";
import { sentence } from "./format";
import { StatusText } from "./StatusText";

interface Words {
  name: string;
  icon: ComponentType;
  status: "success" | "info" | "warning" | "danger" | "custom" | undefined;
  color: "green" | "blue" | "grey" | "yellow" | "red" | "purple";
  /** Describes the phase if the status has no message. */
  sentence: string;
}

/** The phases, those that need attention first. */
export const phases = {
  Failed: { name: "Failed", icon: ExclamationCircleIcon, status: "danger", color: "red", sentence: "The last change could not be installed." },
  Degraded: { name: "Degraded", icon: ExclamationTriangleIcon, status: "warning", color: "yellow", sentence: "Installed, but not fully working." },
  Deploying: { name: "Deploying", icon: InProgressIcon, status: "info", color: "blue", sentence: "A change is being rolled out." },
  Pending: { name: "Pending", icon: PendingIcon, status: undefined, color: "grey", sentence: "Not installed yet." },
  Ready: { name: "Ready", icon: CheckCircleIcon, status: "success", color: "green", sentence: "All pods are ready, and all hosts are routed." },
  Idle: { name: "Idle", icon: OffIcon, status: undefined, color: "grey", sentence: "Scaled to zero: no pods, and no images are served." },
  Paused: { name: "Paused", icon: PauseCircleIcon, status: "custom", color: "purple", sentence: "Reconciliation is paused by an annotation." },
  Terminating: { name: "Terminating", icon: BanIcon, status: undefined, color: "grey", sentence: "Being uninstalled." },
} as const satisfies Record<string, Words>;

export type Phase = keyof typeof phases;
export const phaseNames = Object.keys(phases) as Phase[];

/** The phase of a Darkroom; without one it is Pending. */
export function phaseOf(darkroom: Darkroom): Phase {
  if (darkroom.deletedAt) {
    return "Terminating";
  }
  const phase = darkroom.status.phase ?? "Pending";
  return Object.hasOwn(phases, phase) ? phase : "Pending";
}

export const sentenceOf = (darkroom: Darkroom): string => sentence(darkroom.status.message ?? phases[phaseOf(darkroom)].sentence);

/** Icon and phase, for tables. */
export function PhaseText({ phase }: { phase: Phase }) {
  const { name, icon, status } = phases[phase] as Words;
  return (
    <StatusText icon={icon} status={status}>
      {name}
    </StatusText>
  );
}

/** The phase as a badge, for titles. */
export function PhaseLabel({ phase }: { phase: Phase }) {
  const { name, icon: Sign, color } = phases[phase] as Words;
  return (
    <Label color={color} icon={<Sign />}>
      {name}
    </Label>
  );
}
