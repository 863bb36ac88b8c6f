import { EmptyState, EmptyStateBody } from "@patternfly/react-core";
import LockIcon from "@patternfly/react-icons/dist/esm/icons/lock-icon";
import { msg, rich, t } from "../words/t";

/** Parts of the page that need a right of their own, and the built-in cluster role that grants it. Rights are named by verbs and resources of Kubernetes. */
const rights = {
  pods: { title: msg("No permission to list pods"), right: "list pods", role: "view" },
  events: { title: msg("No permission to list events"), right: "list events", role: "view" },
  logs: { title: msg("No permission to read logs"), right: "get pods/log", role: "view" },
  revisions: { title: msg("No permission to list secrets"), right: "list and get secrets", role: "edit" },
  secrets: { title: msg("No permission to list secrets"), right: "list secrets", role: "edit" },
  createSecret: { title: msg("No permission to create secrets"), right: "create secrets", role: "edit" },
  image: { title: msg("No permission to fetch images"), right: "get services/proxy", role: "edit" },
} as const;

/** The right that the user lacks, in one sentence. */
export const missingRight = (to: keyof typeof rights, namespace: string): string =>
  t("{title}: this requires the permission to {right} in the namespace {namespace}", { title: t(rights[to].title), right: rights[to].right, namespace });

/** Names the right that the user lacks, and a role that grants it. */
export function MissingRight({ to, namespace }: { to: keyof typeof rights; namespace: string }) {
  const { title, right, role } = rights[to];
  return (
    <EmptyState titleText={t(title)} headingLevel="h3" icon={LockIcon} variant="sm">
      <EmptyStateBody>
        {rich(
          "This requires the permission to <strong>{right}</strong> in the namespace <strong>{namespace}</strong>, which the cluster role <code>{role}</code> grants. Ask an administrator for a role binding.",
          { right, namespace, role },
        )}
      </EmptyStateBody>
    </EmptyState>
  );
}
