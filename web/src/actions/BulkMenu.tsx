import { DropdownItem } from "@patternfly/react-core";
import { Actions } from "./Actions";
import { words, type ActionName } from "./actions";

/** The actions that make sense for several Darkrooms at once. */
const bulkActions = ["restart", "pause", "resume", "retry"] as const satisfies ActionName[];

/** The actions on the Darkrooms that a list shows. */
export function BulkMenu({ count, onAct }: { count: number; onAct: (action: ActionName) => void }) {
  return (
    <Actions isDisabled={count === 0}>
      {bulkActions.map((action) => (
        <DropdownItem key={action} onClick={() => onAct(action)}>
          {words[action].menu}
        </DropdownItem>
      ))}
    </Actions>
  );
}
