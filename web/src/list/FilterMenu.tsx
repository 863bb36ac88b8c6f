import { Badge, MenuToggle, Select, SelectList, SelectOption } from "@patternfly/react-core";
import { useState } from "react";

export interface Choice {
  value: string;
  text: string;
}

/** A menu with several choices. */
export function FilterMenu({
  title,
  choices,
  chosen,
  onChange,
}: {
  title: string;
  choices: Choice[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}) {
  const [open, setOpen] = useState(false);
  return (
    <Select
      role="menu"
      isOpen={open}
      isScrollable
      onOpenChange={setOpen}
      selected={chosen}
      onSelect={(_, value) => {
        const name = String(value);
        onChange(chosen.includes(name) ? chosen.filter((other) => other !== name) : [...chosen, name]);
      }}
      toggle={(ref) => (
        <MenuToggle
          ref={ref}
          isExpanded={open}
          onClick={() => setOpen(!open)}
          badge={chosen.length > 0 ? <Badge isRead>{chosen.length}</Badge> : undefined}
        >
          {title}
        </MenuToggle>
      )}
    >
      <SelectList aria-label={title}>
        {choices.map(({ value, text }) => (
          <SelectOption key={value} value={value} hasCheckbox isSelected={chosen.includes(value)}>
            {text}
          </SelectOption>
        ))}
      </SelectList>
    </Select>
  );
}
