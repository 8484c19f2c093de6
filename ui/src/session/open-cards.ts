// The approval cards on the screen, for the keys that answer what waits.

import type { ApprovalScope } from "roost-client";

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
};
