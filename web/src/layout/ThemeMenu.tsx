import { DropdownItem } from "@patternfly/react-core";
import AdjustIcon from "@patternfly/react-icons/dist/esm/icons/adjust-icon";
import MoonIcon from "@patternfly/react-icons/dist/esm/icons/moon-icon";
import SunIcon from "@patternfly/react-icons/dist/esm/icons/sun-icon";
import type { ComponentType } from "react";
import { themes, useTheme, type Theme } from "../theme";
import { Menu } from "./Menu";

const words: Record<Theme, { name: string; icon: ComponentType }> = {
  system: { name: "System", icon: AdjustIcon },
  light: { name: "Light", icon: SunIcon },
  dark: { name: "Dark", icon: MoonIcon },
};

export function ThemeMenu() {
  const [theme, setTheme] = useTheme();
  const Sign = words[theme].icon;
  return (
    <Menu toggle={{ variant: "plain", "aria-label": `Theme: ${words[theme].name}`, icon: <Sign /> }} onSelect={(value) => setTheme(value as Theme)}>
      {themes.map((name) => {
        const Icon = words[name].icon;
        return (
          <DropdownItem key={name} value={name} icon={<Icon />} isSelected={name === theme}>
            {words[name].name}
          </DropdownItem>
        );
      })}
    </Menu>
  );
}
