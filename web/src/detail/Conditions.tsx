import { Icon } from "@patternfly/react-core";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import InProgressIcon from "@patternfly/react-icons/dist/esm/icons/in-progress-icon";
import InfoCircleIcon from "@patternfly/react-icons/dist/esm/icons/info-circle-icon";
import type { Condition } from "../api/types";
import { atTime } from "../words/age";
import { Age } from "../words/AgeText";
import { findingOf, worthTelling, type Tone } from "../words/conditions";

const signs: Record<Tone, { icon: React.ComponentType; status: "success" | "danger" | "info" | undefined; word: string }> = {
  good: { icon: CheckCircleIcon, status: "success", word: "OK" },
  bad: { icon: ExclamationCircleIcon, status: "danger", word: "Problem" },
  busy: { icon: InProgressIcon, status: "info", word: "In progress" },
  neutral: { icon: InfoCircleIcon, status: undefined, word: "Note" },
};

/** The conditions, described. */
export function Conditions({ conditions }: { conditions: readonly Condition[] }) {
  const told = worthTelling(conditions);
  if (told.length === 0) {
    return <p className="dr-quiet">No conditions yet.</p>;
  }
  return (
    <ul className="dr-conditions">
      {told.map((condition) => {
        const { title, detail, tone } = findingOf(condition, conditions);
        const { icon: Sign, status, word } = signs[tone];
        return (
          <li key={condition.type}>
            <Icon status={status} isInline>
              <Sign aria-label={word} />
            </Icon>
            <div>
              <strong>{title}</strong>{" "}
              {condition.lastTransitionTime && (
                <Age
                  className="dr-quiet"
                  since={condition.lastTransitionTime}
                  before="for "
                  title={`${condition.type} since ${atTime(condition.lastTransitionTime)}`}
                />
              )}
              {detail && <div className="dr-quiet dr-break">{detail}</div>}
            </div>
          </li>
        );
      })}
    </ul>
  );
}
