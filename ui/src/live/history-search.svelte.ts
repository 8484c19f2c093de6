// Words in what was said in sessions, found by the daemon while somebody types.

import type { SearchHit } from "roost-client";
import { live } from "./connection.svelte";

/** A search begins when nothing was typed for this long, in milliseconds. */
const PAUSE_MS = 200;
/** Shorter queries fit nearly everything. */
const SHORTEST = 3;

export class HistorySearch {
  hits = $state.raw<SearchHit[]>([]);
  isSearching = $state(false);
  /** Where a further search goes on; absent if everything was looked at. */
  nextOffset = $state<number>();
  #query = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Looks for these words; the last call counts. */
  look(query: string): void {
    clearTimeout(this.#timer);
    this.#query = query.trim();
    [this.hits, this.nextOffset, this.isSearching] = [[], undefined, false];
    if (this.#query.length < SHORTEST || !live.isLive) return;
    this.isSearching = true;
    this.#timer = setTimeout(() => void this.#read(0), PAUSE_MS);
  }

  /** Looks at the sessions before those that were looked at. */
  more(): void {
    if (this.nextOffset === undefined || this.isSearching) return;
    this.isSearching = true;
    void this.#read(this.nextOffset);
  }

  async #read(offset: number): Promise<void> {
    const query = this.#query;
    try {
      const found = await live.call("session/search", { query, offset });
      if (query !== this.#query) return;
      this.hits = [...this.hits, ...found.hits];
      this.nextOffset = found.next_offset;
    } catch {
      // Too long a query, an older daemon, or no connection: what is on the page already is still searched.
    } finally {
      if (query === this.#query) this.isSearching = false;
    }
  }
}
