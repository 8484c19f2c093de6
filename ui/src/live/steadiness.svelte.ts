// Whether something has stood still long enough that a tap on it was meant for it: what moves under a finger takes a
// tap that was aimed at something else.

/** How long, in milliseconds. */
const SETTLE_MS = 600;
/** How often it is looked at. */
const LOOK_MS = 100;
/** How long after a hand scrolled a movement may be its own, in milliseconds. */
const SCROLL_MS = 1_000;

let scrolledAt = -Infinity;
for (const name of ["wheel", "touchmove"]) addEventListener(name, () => (scrolledAt = performance.now()), { passive: true, capture: true });

export class Steadiness {
  isSteady = $state(false);
  #element: HTMLElement | undefined;
  #top = NaN;
  #since = 0;

  /** Follows the element while it is on the screen. */
  readonly follow = (element: HTMLElement): (() => void) => {
    this.#element = element;
    this.look();
    const timer = setInterval(() => this.look(), LOOK_MS);
    // What comes or goes beside it moves it within the same frame.
    const observer = new ResizeObserver(() => this.look());
    for (const around of [element.parentElement, element.parentElement?.parentElement]) if (around) observer.observe(around);
    return () => {
      clearInterval(timer);
      observer.disconnect();
    };
  };

  /** Looks again now, and returns whether it has stood still. */
  look(): boolean {
    const [now, top] = [performance.now(), this.#element?.getBoundingClientRect().top ?? NaN];
    const isMoved = !(Math.abs(top - this.#top) < 2);
    // Whoever scrolls sees where things go.
    if (isMoved && !(now - scrolledAt < SCROLL_MS && !Number.isNaN(this.#top))) this.#since = now;
    this.#top = top;
    return (this.isSteady = now - this.#since >= SETTLE_MS);
  }
}
