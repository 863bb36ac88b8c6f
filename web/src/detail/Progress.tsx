import { Card, CardBody, CardTitle, ProgressStep, ProgressStepper } from "@patternfly/react-core";
import type { Darkroom } from "../api/types";
import { phaseOf } from "../words/phases";
import { hasArrived, stepsOf, type StepState } from "./progress";

const looks: Record<StepState, { variant: "success" | "info" | "danger" | "pending" | "warning"; word: string }> = {
  done: { variant: "success", word: "done" },
  busy: { variant: "info", word: "in progress" },
  failed: { variant: "danger", word: "problem" },
  waiting: { variant: "pending", word: "waiting" },
  unchecked: { variant: "warning", word: "not checked" },
};

/** The progress of a Darkroom to its first image. */
export function Progress({ darkroom }: { darkroom: Darkroom }) {
  const steps = stepsOf(darkroom);
  if (!["Pending", "Deploying"].includes(phaseOf(darkroom)) || hasArrived(steps)) {
    return null;
  }
  return (
    <Card id="card-progress">
      <CardTitle component="h2">Progress</CardTitle>
      <CardBody>
        <ProgressStepper isVertical aria-label="Progress">
          {steps.map(({ title, state, detail }, i) => {
            const { variant, word } = looks[state];
            return (
              <ProgressStep key={title} id={`step-${i}`} titleId={`step-${i}-title`} variant={variant} isCurrent={state === "busy" || state === "failed"} aria-label={`${title}: ${word}`} description={detail}>
                {title}
              </ProgressStep>
            );
          })}
        </ProgressStepper>
      </CardBody>
    </Card>
  );
}
