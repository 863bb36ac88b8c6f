import { Dropdown, DropdownItem, DropdownList, MenuToggle } from "@patternfly/react-core";
import { useState } from "react";
import { words, type ActionName } from "./actions";

/** The actions that make sense for several Darkrooms at once. */
const bulkActions = ["restart", "pause", "resume", "retry"] as const satisfies ActionName[];

/** The actions on the Darkrooms that a list shows. */
export function BulkMenu({ count, onAct }: { count: number; onAct: (action: ActionName) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <Dropdown
      isOpen={open}
      onOpenChange={setOpen}
      onSelect={() => setOpen(false)}
      popperProps={{ position: "right" }}
      toggle={(ref) => (
        <MenuToggle ref={ref} isExpanded={open} isDisabled={count === 0} onClick={() => setOpen(!open)}>
          Actions
        </MenuToggle>
      )}
    >
      <DropdownList>
        {bulkActions.map((action) => (
          <DropdownItem key={action} onClick={() => onAct(action)}>
            {words[action].menu}
          </DropdownItem>
        ))}
      </DropdownList>
    </Dropdown>
  );
}
