import { attempt } from "./attempt";
import { useEffect, useState } from "react";

export type Theme = "system" | "light" | "dark";
export const themes: readonly Theme[] = ["system", "light", "dark"];

const stored = "darkroom-theme";
const darkClass = "pf-v6-theme-dark";

export function readTheme(): Theme {
  const theme = attempt(() => localStorage.getItem(stored));
  return theme === "light" || theme === "dark" ? theme : "system";
}

function wantsDark(theme: Theme): boolean {
  return theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
}

/** Has the page be light or dark; called before it is drawn, so that it does not flash. */
export function applyTheme(theme: Theme): void {
  const dark = wantsDark(theme);
  document.documentElement.classList.toggle(darkClass, dark);
  document.documentElement.style.colorScheme = dark ? "dark" : "light";
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(readTheme);
  useEffect(() => {
    applyTheme(theme);
    const system = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => applyTheme(theme);
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, [theme]);
  return [
    theme,
    (next) => {
      attempt(() => localStorage.setItem(stored, next));
      setTheme(next);
    },
  ];
}
