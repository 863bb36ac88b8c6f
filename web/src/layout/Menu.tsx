import { Dropdown, DropdownList, MenuToggle, type MenuToggleProps } from "@patternfly/react-core";
import { useState, type ReactNode } from "react";

interface Props {
  /** The content of the button. */
  toggle: Omit<MenuToggleProps, "ref">;
  /** Content above the entries. */
  head?: ReactNode;
  /** Called with the value of the chosen entry. */
  onSelect?: (value: string) => void;
  /** The entries. */
  children: ReactNode;
}

/** A button with a menu. */
export function Menu({ toggle, head, onSelect, children }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <Dropdown
      isOpen={open}
      onOpenChange={setOpen}
      onSelect={(_, value) => {
        setOpen(false);
        onSelect?.(String(value));
      }}
      popperProps={{ position: "right" }}
      toggle={(ref) => <MenuToggle {...toggle} ref={ref} isExpanded={open} onClick={() => setOpen(!open)} />}
    >
      {head}
      <DropdownList>{children}</DropdownList>
    </Dropdown>
  );
}
