// Where the focus goes when the page shows another place.

/** Frames that a place may take to be there; then whoever reads it moves on their own. */
const FRAMES = 120;

/** Puts the focus on the heading of a place, if what had it is gone: else a keyboard begins again at the top. */
export async function focusHeading(): Promise<void> {
  for (let frame = 0; frame < FRAMES; frame++) {
    await new Promise(requestAnimationFrame);
    if (document.activeElement && document.activeElement !== document.body) return;
    const heading = [...document.querySelectorAll<HTMLElement>("[role=main] h1, main h1")].find((one) => one.checkVisibility());
    if (!heading) continue;
    heading.tabIndex = -1;
    return heading.focus({ preventScroll: true });
  }
}
