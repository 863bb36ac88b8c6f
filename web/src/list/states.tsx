import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter, Skeleton } from "@patternfly/react-core";
import DisconnectedIcon from "@patternfly/react-icons/dist/esm/icons/disconnected-icon";
import ImagesIcon from "@patternfly/react-icons/dist/esm/icons/images-icon";
import LockIcon from "@patternfly/react-icons/dist/esm/icons/lock-icon";
import SearchIcon from "@patternfly/react-icons/dist/esm/icons/search-icon";
import { followLink, paths } from "../router";

export function Loading({ lost }: { lost: boolean }) {
  if (lost) {
    return (
      <EmptyState titleText="The server cannot be reached" icon={DisconnectedIcon} headingLevel="h2">
        <EmptyStateBody>The page keeps trying by itself.</EmptyStateBody>
      </EmptyState>
    );
  }
  return (
    <div className="dr-loading" aria-busy="true">
      {[0, 1, 2, 3, 4].map((row) => (
        <Skeleton key={row} height="2.5rem" screenreaderText={row === 0 ? "Loading Darkrooms" : ""} />
      ))}
    </div>
  );
}

const create = (
  <Button component="a" href={paths.create} onClick={(event) => followLink(event, paths.create)}>
    Create Darkroom
  </Button>
);

/** There is none; or none that one may see, which is not the same. */
export function NoneAtAll({ all }: { all: boolean }) {
  if (!all) {
    return (
      <EmptyState titleText="No Darkrooms that you may see" icon={LockIcon} headingLevel="h2">
        <EmptyStateBody>
          You may not watch Darkrooms in all namespaces, and there are none in those where you may. Ask for the right to
          get, list and watch darkrooms in a namespace, or create one where you may.
        </EmptyStateBody>
        <EmptyStateFooter>
          <EmptyStateActions>{create}</EmptyStateActions>
        </EmptyStateFooter>
      </EmptyState>
    );
  }
  return (
    <EmptyState titleText="No Darkrooms yet" icon={ImagesIcon} headingLevel="h2">
      <EmptyStateBody>
        A Darkroom serves the pictures of a web folder or a bucket: resized, cropped and converted as their URL says.
      </EmptyStateBody>
      <EmptyStateFooter>
        <EmptyStateActions>{create}</EmptyStateActions>
      </EmptyStateFooter>
    </EmptyState>
  );
}

export function NoneMatch({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState titleText="No Darkroom matches" icon={SearchIcon} headingLevel="h2" variant="sm">
      <EmptyStateBody>There are Darkrooms, but none for these filters.</EmptyStateBody>
      <EmptyStateFooter>
        <EmptyStateActions>
          <Button variant="link" onClick={onClear}>
            Clear all filters
          </Button>
        </EmptyStateActions>
      </EmptyStateFooter>
    </EmptyState>
  );
}
