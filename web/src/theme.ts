/** Applies the system's light or dark theme. Called before the first render, so that the page does not flash. */
export function followTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    document.documentElement.classList.toggle("pf-v6-theme-dark", system.matches);
    document.documentElement.style.colorScheme = system.matches ? "dark" : "light";
  };
  apply();
  system.addEventListener("change", apply);
}
