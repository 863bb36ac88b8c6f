import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter } from "@patternfly/react-core";
import DisconnectedIcon from "@patternfly/react-icons/dist/esm/icons/disconnected-icon";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import LockIcon from "@patternfly/react-icons/dist/esm/icons/lock-icon";
import SearchIcon from "@patternfly/react-icons/dist/esm/icons/search-icon";
import type { ComponentProps, ReactNode } from "react";
import type { Problem } from "../api/problem";
import { MissingRight } from "./MissingRight";

const titles: Record<number, string> = {
  0: "No connection to the server",
  403: "Permission denied",
  404: "Not found",
  503: "The cluster does not respond",
};

/** A problem in place of a view. */
export function ProblemState({
  problem,
  onRetry,
  children,
  isSmall = false,
  missing,
}: {
  problem: Problem;
  onRetry?: () => unknown;
  children?: ReactNode;
  isSmall?: boolean;
  /** The permission that is missing if the status is 403. */
  missing?: ComponentProps<typeof MissingRight>;
}) {
  if (missing && problem.status === 403) {
    return <MissingRight {...missing} />;
  }
  const icon = { 0: DisconnectedIcon, 403: LockIcon, 404: SearchIcon }[problem.status] ?? ExclamationCircleIcon;
  return (
    <EmptyState
      titleText={titles[problem.status] ?? "Request failed"}
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
