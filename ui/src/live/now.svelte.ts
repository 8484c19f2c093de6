// The time for ages in lists; it moves on every ten seconds.

class Now {
  value = $state(Date.now());

  constructor() {
    setInterval(() => (this.value = Date.now()), 10_000);
  }
}

export const now = new Now();
