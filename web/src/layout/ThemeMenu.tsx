import { Dropdown, DropdownItem, DropdownList, MenuToggle } from "@patternfly/react-core";
import AdjustIcon from "@patternfly/react-icons/dist/esm/icons/adjust-icon";
import MoonIcon from "@patternfly/react-icons/dist/esm/icons/moon-icon";
import SunIcon from "@patternfly/react-icons/dist/esm/icons/sun-icon";
import { useState, type ComponentType } from "react";
import { themes, useTheme, type Theme } from "../theme";

const words: Record<Theme, { name: string; icon: ComponentType }> = {
  system: { name: "System", icon: AdjustIcon },
  light: { name: "Light", icon: SunIcon },
  dark: { name: "Dark", icon: MoonIcon },
};

export function ThemeMenu() {
  const [theme, setTheme] = useTheme();
  const [open, setOpen] = useState(false);
  const Sign = words[theme].icon;
  return (
    <Dropdown
      isOpen={open}
      onOpenChange={setOpen}
      onSelect={(_, value) => {
        setTheme(value as Theme);
        setOpen(false);
      }}
      popperProps={{ position: "right" }}
      toggle={(ref) => (
        <MenuToggle ref={ref} variant="plain" isExpanded={open} onClick={() => setOpen(!open)} aria-label={`Theme: ${words[theme].name}`} icon={<Sign />} />
      )}
    >
      <DropdownList>
        {themes.map((name) => {
          const Icon = words[name].icon;
          return (
            <DropdownItem key={name} value={name} icon={<Icon />} isSelected={name === theme}>
              {words[name].name}
            </DropdownItem>
          );
        })}
      </DropdownList>
    </Dropdown>
  );
}
