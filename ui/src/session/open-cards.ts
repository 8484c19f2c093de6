// The approvals and questions on the screen, for the keys that answer what waits.

import type { ApprovalScope } from "roost-client";

/** What the keys do with a request; a question takes the focus in place of an answer. */
export interface OpenCard {
  allow(scope?: ApprovalScope): void;
  deny(): void;
  chooseScope(): void;
}

const cards = new Map<string, OpenCard>();

export const openCards = {
  /** Adds the card of a call; returns what takes it away again. */
  add(id: string, card: OpenCard): () => void {
    cards.set(id, card);
    return () => {
      if (cards.get(id) === card) cards.delete(id);
    };
  },
  get: (id: string | undefined): OpenCard | undefined => (id ? cards.get(id) : undefined),
  /** The card with the focus, else that of the first of these requests that has one. */
  chosen(ids: readonly string[]): OpenCard | undefined {
    const focused = document.activeElement?.closest<HTMLElement>("[data-request]")?.dataset.request;
    const id = focused && ids.includes(focused) ? focused : ids.find((one) => cards.has(one));
    return openCards.get(id);
  },
};
