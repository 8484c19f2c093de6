// Keys that do something everywhere, and those that a page adds while it is open.

import { untrack } from "svelte";

export interface KeyCommand {
  /** What is pressed: one key, or two after each other such as `g i`. */
  keys: string;
  label: string;
  run: () => void;
}

const SINGLE = "roost.single-keys";

class Keys {
  commands = $state.raw<readonly KeyCommand[]>([]);
  /** Whether keys without a modifier act; somebody who dictates turns them off (WCAG 2.1.4). */
  isSingleOn = $state(localStorage.getItem(SINGLE) !== "off");
  isHelpOpen = $state(false);
  isPaletteOpen = $state(false);
  #first = "";
  #firstAt = 0;

  constructor() {
    addEventListener("keydown", (event) => this.#press(event));
  }

  setSingle(isOn: boolean): void {
    this.isSingleOn = isOn;
    if (isOn) localStorage.removeItem(SINGLE);
    else localStorage.setItem(SINGLE, "off");
  }

  /** Adds commands; returns what takes them away again. Those that were added last win. */
  add(commands: readonly KeyCommand[]): () => void {
    // Whoever adds commands does not depend on them.
    untrack(() => (this.commands = [...commands, ...this.commands]));
    return () => (this.commands = this.commands.filter((command) => !commands.includes(command)));
  }

  #press(event: KeyboardEvent): void {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      this.isPaletteOpen = !this.isPaletteOpen;
      return;
    }
    if (!this.isSingleOn) return;
    if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
    // A key that is held says nothing more than that it was pressed.
    if (event.repeat) return;
    // While a dialog is open, only what it brings itself may act.
    if (document.querySelector("dialog[open]")) return;
    const isSecond = performance.now() - this.#firstAt < 1500;
    const pair = isSecond && this.#first ? `${this.#first} ${event.key}` : "";
    const found = this.#find(pair) ?? this.#find(event.key);
    this.#first = "";
    if (found) {
      event.preventDefault();
      found.run();
    } else if (this.commands.some((command) => command.keys.startsWith(`${event.key} `))) {
      [this.#first, this.#firstAt] = [event.key, performance.now()];
    }
  }

  #find(keys: string): KeyCommand | undefined {
    return this.commands.find((command) => command.keys === keys);
  }
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** Moves the focus among the rows of a list. */
export function moveFocus(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")].filter((row) => row.offsetParent !== null);
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at === -1 ? (step === 1 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

export const keys = new Keys();
