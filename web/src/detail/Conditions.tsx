import type { Condition } from "../api/types";
import { atTime } from "../words/age";
import { Age } from "../words/AgeText";
import { findingOf, worthTelling } from "../words/conditions";
import { ToneIcon } from "../words/ToneIcon";

/** The conditions in words. */
export function Conditions({ conditions }: { conditions: readonly Condition[] }) {
  const told = worthTelling(conditions);
  if (told.length === 0) {
    return <p className="dr-quiet">No conditions yet.</p>;
  }
  return (
    <ul className="dr-conditions">
      {told.map((condition) => {
        const { title, detail, tone } = findingOf(condition);
        return (
          <li key={condition.type}>
            <ToneIcon tone={tone} />
            <div>
              <strong>{title}</strong>{" "}
              {condition.lastTransitionTime && (
                <Age
                  className="dr-quiet"
                  since={condition.lastTransitionTime}
                  text={(age) => `for ${age}`}
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
