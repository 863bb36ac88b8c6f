import { DropdownItem } from "@patternfly/react-core";
import { Actions } from "./Actions";
import { bulkActions, words, type BulkAction } from "./actions";

/** The actions on the Darkrooms that are ticked. */
export function BulkMenu({ count, onAct }: { count: number; onAct: (action: BulkAction) => void }) {
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
