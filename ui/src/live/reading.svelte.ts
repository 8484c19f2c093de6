// One part of a page that is read by itself: when it cannot be read it says so, and the other parts go on.

import { explain, live } from "./connection.svelte";

export class Reading<T> {
  value = $state.raw<T>();
  /** Why it could not be read the last time; empty if it could. */
  failure = $state("");

  constructor(readonly ask: () => Promise<T>) {}

  async read(): Promise<void> {
    try {
      this.value = await this.ask();
      this.failure = "";
    } catch (error) {
      // Without a connection the bar above says so, and what is shown stays.
      if (live.isLive) this.failure = explain(error);
    }
  }
}
