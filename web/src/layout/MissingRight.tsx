import { EmptyState, EmptyStateBody } from "@patternfly/react-core";
import LockIcon from "@patternfly/react-icons/dist/esm/icons/lock-icon";

/** Parts of the page that need a right of their own, and the built-in cluster role that grants it. */
const rights = {
  pods: { title: "You cannot list pods here", right: "list pods", role: "view" },
  events: { title: "You cannot list events here", right: "list events", role: "view" },
  logs: { title: "You cannot read logs here", right: "get pods/log", role: "view" },
  image: { title: "You cannot fetch images here", right: "get services/proxy", role: "edit" },
} as const;

/** Names the right that the user lacks, and a role that grants it. */
export function MissingRight({ to, namespace }: { to: keyof typeof rights; namespace: string }) {
  const { title, right, role } = rights[to];
  return (
    <EmptyState titleText={title} headingLevel="h3" icon={LockIcon} variant="sm">
      <EmptyStateBody>
        This needs the right to <strong>{right}</strong> in the namespace <strong>{namespace}</strong>. The cluster role <code>{role}</code> grants
        it; ask an administrator to bind it to you.
      </EmptyStateBody>
    </EmptyState>
  );
}
