import { Card, CardBody, CardTitle, ProgressStep, ProgressStepper } from "@patternfly/react-core";
import { useState } from "react";
import type { Darkroom } from "../api/types";
import { ToneIcon } from "../words/ToneIcon";
import { phaseOf } from "../words/phases";
import { hasArrived, stepsOf, type StepState } from "./progress";

const looks: Record<StepState, { variant: "success" | "info" | "danger" | "pending" | "warning"; word: string }> = {
  done: { variant: "success", word: "done" },
  busy: { variant: "info", word: "in progress" },
  failed: { variant: "danger", word: "problem" },
  waiting: { variant: "pending", word: "waiting" },
  unchecked: { variant: "warning", word: "not checked" },
};

/** How far a Darkroom is on the way to its first image; one line once it has arrived. */
export function Progress({ darkroom }: { darkroom: Darkroom }) {
  const steps = stepsOf(darkroom);
  const [begun, setBegun] = useState(false);
  const relevant = ["Pending", "Deploying"].includes(phaseOf(darkroom)) && !hasArrived(steps);
  if (relevant && !begun) {
    setBegun(true);
  }
  // What was seen to begin is seen to end.
  if (!relevant && !(begun && hasArrived(steps))) {
    return null;
  }
  if (!relevant) {
    return (
      <p role="status">
        <ToneIcon tone="good" /> {steps.at(-1)?.state === "done" ? "Installed, routed and serving its first image" : "Installed and routed"}
      </p>
    );
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
