import { Dropdown, DropdownItem, DropdownList, MenuToggle } from "@patternfly/react-core";
import AdjustIcon from "@patternfly/react-icons/dist/esm/icons/adjust-icon";
import MoonIcon from "@patternfly/react-icons/dist/esm/icons/moon-icon";
import SunIcon from "@patternfly/react-icons/dist/esm/icons/sun-icon";
import { useState, type ComponentType } from "react";
import { themes, useTheme, type Theme } from "../theme";
import { msg, t, type Message } from "../words/t";

const words: Record<Theme, { name: Message; icon: ComponentType }> = {
  system: { name: msg("System"), icon: AdjustIcon },
  light: { name: msg("Light"), icon: SunIcon },
  dark: { name: msg("Dark"), icon: MoonIcon },
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
        <MenuToggle ref={ref} variant="plain" isExpanded={open} onClick={() => setOpen(!open)} aria-label={t("Theme: {theme}", { theme: t(words[theme].name) })} icon={<Sign />} />
      )}
    >
      <DropdownList>
        {themes.map((name) => {
          const Icon = words[name].icon;
          return (
            <DropdownItem key={name} value={name} icon={<Icon />} isSelected={name === theme}>
              {t(words[name].name)}
            </DropdownItem>
          );
        })}
      </DropdownList>
    </Dropdown>
  );
}
