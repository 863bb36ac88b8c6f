import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter } from "@patternfly/react-core";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import { Component, type ReactNode } from "react";

/**
 * Offers to reload the page if its content cannot be shown, because the code could not be loaded or a component threw.
 * Unsaved changes of a form survive the reload.
 */
export class Boundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) {
      return this.props.children;
    }
    return (
      <EmptyState titleText="This view cannot be shown" headingLevel="h1" icon={ExclamationCircleIcon}>
        <EmptyStateBody>It could not be loaded, or it failed. Reload the page; unsaved changes of a form are kept.</EmptyStateBody>
        <EmptyStateFooter>
          <EmptyStateActions>
            <Button onClick={() => location.reload()}>Reload</Button>
            {/* A link of its own: the page may be what failed. */}
            <Button variant="link" component="a" href="/">
              All Darkrooms
            </Button>
          </EmptyStateActions>
        </EmptyStateFooter>
      </EmptyState>
    );
  }
}
