// Light or dark: as the system has it, unless somebody chose.

export type Theme = "system" | "light" | "dark";
const KEY = "roost.theme";

class ThemeChoice {
  chosen = $state<Theme>((localStorage.getItem(KEY) as Theme | null) ?? "system");

  choose(theme: Theme): void {
    this.chosen = theme;
    localStorage.setItem(KEY, theme);
    this.apply();
  }

  apply(): void {
    if (this.chosen === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.chosen;
  }
}

export const theme = new ThemeChoice();
