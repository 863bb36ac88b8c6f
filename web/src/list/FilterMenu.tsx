import { Badge, MenuToggle, Select, SelectList, SelectOption } from "@patternfly/react-core";
import { useState } from "react";

export interface Choice {
  value: string;
  text: string;
  /** The number of Darkrooms. */
  count: number;
}

/** A menu with checkboxes. The choices are computed when it opens, and do not change until it closes. */
export function FilterMenu({
  title,
  choicesOf,
  chosen,
  onChange,
}: {
  title: string;
  choicesOf: () => Choice[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}) {
  const [choices, setChoices] = useState<Choice[]>();
  const open = choices !== undefined;
  const setOpen = (next: boolean) => setChoices(next ? choicesOf() : undefined);
  return (
    <Select
      role="menu"
      isOpen={open}
      isScrollable
      popperProps={{ appendTo: () => document.body, preventOverflow: true }}
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
        {choices?.map(({ value, text, count }) => (
          <SelectOption key={value} value={value} hasCheckbox isSelected={chosen.includes(value)}>
            {text} <span className="dr-quiet">{count}</span>
          </SelectOption>
        ))}
        {choices?.length === 0 && <SelectOption isDisabled>None</SelectOption>}
      </SelectList>
    </Select>
  );
}
