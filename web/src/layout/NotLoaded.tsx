import { Button, PageSection } from "@patternfly/react-core";
import type { Problem } from "../api/problem";
import { linkTo, paths } from "../router";
import { Loading } from "./Loading";
import { ProblemState } from "./ProblemState";

/** Replaces a view that is loading or cannot be loaded. */
export function NotLoaded({ problem, onRetry }: { problem: Problem | undefined; onRetry?: () => void }) {
  if (!problem) {
    return <Loading />;
  }
  return (
    <PageSection isFilled>
      <ProblemState problem={problem} onRetry={onRetry}>
        <Button variant="link" {...linkTo(paths.list)}>
          All Darkrooms
        </Button>
      </ProblemState>
    </PageSection>
  );
}
