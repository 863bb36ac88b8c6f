import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter, Skeleton } from "@patternfly/react-core";
import DisconnectedIcon from "@patternfly/react-icons/dist/esm/icons/disconnected-icon";
import ImagesIcon from "@patternfly/react-icons/dist/esm/icons/images-icon";
import LockIcon from "@patternfly/react-icons/dist/esm/icons/lock-icon";
import SearchIcon from "@patternfly/react-icons/dist/esm/icons/search-icon";
import { linkTo, paths } from "../router";
import { useNamespaces } from "../useAccess";
import { list } from "../words/format";

export function Loading({ lost }: { lost: boolean }) {
  if (lost) {
    return (
      <EmptyState titleText="No connection to the server" icon={DisconnectedIcon} headingLevel="h2">
        <EmptyStateBody>Reconnecting…</EmptyStateBody>
      </EmptyState>
    );
  }
  return (
    <div className="dr-stack" aria-busy="true">
      {[0, 1, 2, 3, 4].map((row) => (
        <Skeleton key={row} height="2.5rem" screenreaderText={row === 0 ? "Loading Darkrooms" : ""} />
      ))}
    </div>
  );
}

export const Create = () => <Button {...linkTo(paths.create)}>Create Darkroom</Button>;

/** No Darkrooms, or none that the user may see. */
export function NoneAtAll({ all }: { all: boolean }) {
  const creatable = useNamespaces().value?.create;
  const isBlind = !all && creatable?.length === 0;
  return (
    <EmptyState titleText={isBlind ? "No Darkrooms visible to you" : "No Darkrooms yet"} icon={isBlind ? LockIcon : ImagesIcon} headingLevel="h2">
      <EmptyStateBody>
        {isBlind ? (
          "Ask an administrator for permission to get, list and watch darkrooms in a namespace. If you know a namespace in which you can create Darkrooms, create one there."
        ) : (
          <>
            <p>A Darkroom serves the images of a web folder or a bucket, resized, cropped and converted by URL parameters.</p>
            {!all && creatable && <p>You can create Darkrooms in: {list(creatable)}</p>}
          </>
        )}
      </EmptyStateBody>
      <EmptyStateFooter>
        <EmptyStateActions>
          <Create />
        </EmptyStateActions>
      </EmptyStateFooter>
    </EmptyState>
  );
}

export function NoneMatch({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState titleText="No matching Darkrooms" icon={SearchIcon} headingLevel="h2" variant="sm">
      <EmptyStateBody>Change or clear the filters.</EmptyStateBody>
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
