// The tool call that the desk's right column shows. Where there is no such column, a call opens where it stands.

import { MediaQuery } from "svelte/reactivity";
import type { ToolItem } from "./items.svelte";
import type { Row } from "./rows";

class ChosenCall {
  /** The `id` of its item; empty if none is chosen. */
  id = $state("");
  readonly #column = new MediaQuery("min-width: 1100px");

  get hasColumn(): boolean {
    return this.#column.current;
  }

  toggle(item: ToolItem): void {
    this.id = this.id === item.id ? "" : item.id;
  }

  /** The chosen call among these rows. */
  find(rows: readonly Row[]): ToolItem | undefined {
    if (!this.id) return undefined;
    for (const row of rows) {
      if (row.kind === "tool" && row.id === this.id) return row;
      const read = row.kind === "reads" ? row.tools.find((tool) => tool.id === this.id) : undefined;
      if (read) return read;
    }
    return undefined;
  }
}

export const chosenCall = new ChosenCall();
