import { Icon } from "@patternfly/react-core";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import ExclamationTriangleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-triangle-icon";
import InProgressIcon from "@patternfly/react-icons/dist/esm/icons/in-progress-icon";
import InfoCircleIcon from "@patternfly/react-icons/dist/esm/icons/info-circle-icon";
import type { Tone } from "./conditions";

/** The look of a tone, and a word for screen readers. */
export const signs: Record<Tone, { icon: React.ComponentType; status: "success" | "warning" | "danger" | "info" | undefined; word: string }> = {
  good: { icon: CheckCircleIcon, status: "success", word: "OK" },
  warning: { icon: ExclamationTriangleIcon, status: "warning", word: "Warning" },
  bad: { icon: ExclamationCircleIcon, status: "danger", word: "Problem" },
  busy: { icon: InProgressIcon, status: "info", word: "In progress" },
  neutral: { icon: InfoCircleIcon, status: undefined, word: "Note" },
};

/** The icon of a tone, with its word. */
export function ToneIcon({ tone }: { tone: Tone }) {
  const { icon: Sign, status, word } = signs[tone];
  return (
    <Icon status={status} isInline>
      <Sign aria-label={word} />
    </Icon>
  );
}
