// Short messages that come and go: what was done, and what could not be done and why.

export interface Toast {
  id: number;
  text: string;
  isError: boolean;
}

/** How long a message stays, in milliseconds; errors stay longer. */
const STAY_MS = 5_000;

class Toasts {
  all = $state.raw<Toast[]>([]);
  #next = 1;

  say(text: string): void {
    this.#add(text, false);
  }

  fail(text: string): void {
    this.#add(text, true);
  }

  dismiss(id: number): void {
    this.all = this.all.filter((toast) => toast.id !== id);
  }

  #add(text: string, isError: boolean): void {
    const id = this.#next++;
    this.all = [...this.all.slice(-3), { id, text, isError }];
    setTimeout(() => this.dismiss(id), isError ? STAY_MS * 2 : STAY_MS);
  }
}

export const toasts = new Toasts();
