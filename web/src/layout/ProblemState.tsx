import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter } from "@patternfly/react-core";
import DisconnectedIcon from "@patternfly/react-icons/dist/esm/icons/disconnected-icon";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import LockIcon from "@patternfly/react-icons/dist/esm/icons/lock-icon";
import SearchIcon from "@patternfly/react-icons/dist/esm/icons/search-icon";
import type { ReactNode } from "react";
import type { Problem } from "../api/problem";

const titles: Record<number, string> = {
  0: "The server cannot be reached",
  403: "You may not see this",
  404: "It is not there",
  503: "The cluster does not answer",
};

/** A problem in place of a view. */
export function ProblemState({
  problem,
  onRetry,
  title,
  children,
  isSmall = false,
}: {
  problem: Problem;
  onRetry?: () => unknown;
  title?: string;
  children?: ReactNode;
  isSmall?: boolean;
}) {
  const icon = { 0: DisconnectedIcon, 403: LockIcon, 404: SearchIcon }[problem.status] ?? ExclamationCircleIcon;
  return (
    <EmptyState
      titleText={title ?? titles[problem.status] ?? "Something went wrong"}
      headingLevel={isSmall ? "h3" : "h1"}
      icon={icon}
      variant={isSmall ? "sm" : "lg"}
    >
      <EmptyStateBody>
        <span className="dr-break">{problem.message}</span>
      </EmptyStateBody>
      <EmptyStateFooter>
        <EmptyStateActions>
          {onRetry && problem.status !== 403 && (
            <Button variant="primary" onClick={() => void onRetry()}>
              Try again
            </Button>
          )}
          {children}
        </EmptyStateActions>
      </EmptyStateFooter>
    </EmptyState>
  );
}
