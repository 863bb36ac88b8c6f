import { Dropdown, DropdownList, MenuToggle } from "@patternfly/react-core";
import { useState, type ReactNode } from "react";

/** A menu of actions. */
export function Actions({ isDisabled = false, children }: { isDisabled?: boolean; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <Dropdown
      isOpen={open}
      onOpenChange={setOpen}
      onSelect={() => setOpen(false)}
      popperProps={{ position: "right" }}
      toggle={(ref) => (
        <MenuToggle ref={ref} isExpanded={open} isDisabled={isDisabled} onClick={() => setOpen(!open)}>
          Actions
        </MenuToggle>
      )}
    >
      <DropdownList>{children}</DropdownList>
    </Dropdown>
  );
}
