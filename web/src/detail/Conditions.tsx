import { Icon } from "@patternfly/react-core";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import InProgressIcon from "@patternfly/react-icons/dist/esm/icons/in-progress-icon";
import InfoCircleIcon from "@patternfly/react-icons/dist/esm/icons/info-circle-icon";
import type { Condition } from "../api/types";
import { useNow } from "../useNow";
import { age, atTime } from "../words/age";
import { findingOf, worthTelling, type Tone } from "../words/conditions";

const signs: Record<Tone, { icon: React.ComponentType; status: "success" | "danger" | "info" | undefined; word: string }> = {
  good: { icon: CheckCircleIcon, status: "success", word: "Good" },
  bad: { icon: ExclamationCircleIcon, status: "danger", word: "Bad" },
  busy: { icon: InProgressIcon, status: "info", word: "Under way" },
  neutral: { icon: InfoCircleIcon, status: undefined, word: "Note" },
};

/** The conditions in words. */
export function Conditions({ conditions }: { conditions: readonly Condition[] }) {
  const now = useNow();
  const told = worthTelling(conditions);
  if (told.length === 0) {
    return <p className="dr-quiet">The operator has said nothing yet.</p>;
  }
  return (
    <ul className="dr-conditions">
      {told.map((condition) => {
        const { title, detail, tone } = findingOf(condition);
        const { icon: Sign, status, word } = signs[tone];
        return (
          <li key={condition.type}>
            <Icon status={status} isInline>
              <Sign aria-label={word} />
            </Icon>
            <div>
              <strong>{title}</strong>{" "}
              <time className="dr-quiet" dateTime={condition.lastTransitionTime} title={`${condition.type} since ${atTime(condition.lastTransitionTime)}`}>
                {condition.lastTransitionTime && `for ${age(condition.lastTransitionTime, now)}`}
              </time>
              {detail && <div className="dr-quiet dr-break">{detail}</div>}
            </div>
          </li>
        );
      })}
    </ul>
  );
}
