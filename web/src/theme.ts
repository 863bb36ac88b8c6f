/** Has the page be light or dark, as the system is; called before it is drawn, so that it does not flash. */
export function followTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    document.documentElement.classList.toggle("pf-v6-theme-dark", system.matches);
    document.documentElement.style.colorScheme = system.matches ? "dark" : "light";
  };
  apply();
  system.addEventListener("change", apply);
}
