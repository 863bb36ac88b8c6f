import { EmptyState, EmptyStateBody } from "@patternfly/react-core";
import LockIcon from "@patternfly/react-icons/dist/esm/icons/lock-icon";

/** The permission that each part of the page requires, and a cluster role of Kubernetes or of the operator that grants it. */
const rights = {
  pods: { title: "No permission to list pods", right: "list pods", role: "view" },
  events: { title: "No permission to list events", right: "list events", role: "view" },
  logs: { title: "No permission to read logs", right: "get pods/log", role: "darkroom-page-viewer" },
  revisions: { title: "No permission to read the history", right: "list and get controllerrevisions", role: "darkroom-page-viewer" },
  createSecret: { title: "No permission to create secrets", right: "create secrets", role: "darkroom-secret-creator" },
  figures: { title: "No permission to read the metrics of pods", right: "get pods/proxy", role: "darkroom-page-viewer" },
  image: { title: "No permission to fetch images", right: "get services/proxy", role: "darkroom-page-viewer" },
} as const;

/** The missing permission in one sentence. */
export const missingRight = (to: keyof typeof rights, namespace: string): string =>
  `${rights[to].title}: this requires the permission to ${rights[to].right} in the namespace ${namespace}`;

/** Names the missing permission, and a role that grants it. */
export function MissingRight({ to, namespace }: { to: keyof typeof rights; namespace: string }) {
  const { title, right, role } = rights[to];
  return (
    <EmptyState titleText={title} headingLevel="h3" icon={LockIcon} variant="sm">
      <EmptyStateBody>
        This requires the permission to <strong>{right}</strong> in the namespace <strong>{namespace}</strong>, which the cluster role <code>{role}</code> grants. Ask an administrator for a role binding.
      </EmptyStateBody>
    </EmptyState>
  );
}
