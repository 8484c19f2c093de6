// What the page that is open can do, for the palette. Each page adds its actions while it is there.

import { untrack } from "svelte";

export interface PageAction {
  label: string;
  run: () => void;
}

class PageActions {
  all = $state.raw<readonly PageAction[]>([]);

  /** Adds actions; returns what takes them away again. */
  add(actions: readonly PageAction[]): () => void {
    // Whoever adds actions does not depend on them.
    untrack(() => (this.all = [...actions, ...this.all]));
    return () => (this.all = this.all.filter((action) => !actions.includes(action)));
  }
}

export const pageActions = new PageActions();
