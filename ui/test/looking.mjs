// What can be measured of how a page looks: what axe finds, the sizes of its text, and whether a thumb can hit all of it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Fails unless axe finds nothing, all text has one of the four sizes and, on a phone, a thumb can hit every control. */
export async function assertLooksRight(page, name) {
  // What is still moving is not what a reader sees; what turns for ever is.
  await page.evaluate(() => Promise.all(document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime !== Infinity).map((one) => one.finished)));
  assert.deepEqual(await violations(page, STANDARDS), [], `axe on ${name}`);
  const { sizes, targets } = await page.evaluate(measure);
  assert.deepEqual(sizes, [], `sizes of text on ${name}`);
  assert.deepEqual(targets, [], `touch targets on ${name}`);
}

/**
 * The same in both themes: `seen` is called in each. The other theme has the same elements in the same places, so there
 * only the rules about colours are asked again.
 */
export async function assertLooksRightInBothThemes(page, name, seen) {
  const first = await page.evaluate(() => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  const other = first === "dark" ? "light" : "dark";
  await seen(first);
  await assertLooksRight(page, `${name} in ${first} colours`);
  await page.emulateMedia({ colorScheme: other });
  await seen(other);
  assert.deepEqual(await violations(page, COLOURS), [], `axe on ${name} in ${other} colours`);
}

const STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];
/** Those rules of the standards that depend on colours. */
const COLOURS = { type: "rule", values: ["color-contrast", "link-in-text-block"] };

/** What axe finds on a page by these rules, in one line each. */
async function violations(page, runOnly) {
  // Around the policy of the page, which lets nobody else's script in.
  const session = await page.context().newCDPSession(page);
  const evaluate = (expression) => session.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  if ((await evaluate("typeof axe")).result.value === "undefined") await evaluate(axe);
  const options = JSON.stringify({ runOnly, resultTypes: ["violations"] });
  const { result } = await evaluate(`axe.run(document, ${options})
    .then(({ violations }) => violations.map((one) => one.id + ": " + one.nodes.map((node) => node.target.join(" ") + " " + node.failureSummary.split("\\n").slice(1).join(";")).slice(0, 3).join(" | ")))`);
  await session.detach();
  return result.value;
}

/** Runs in the page. */
function measure() {
  const SIZES = [12, 14, 16, 20];
  /** A little less than 44 pixels, because borders are drawn on halves of one. */
  const THUMB = 43.5;
  const isShown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest(".hidden-text, .skip");
  const nameOf = (element) => `${element.tagName.toLowerCase()}.${[...element.classList].filter((name) => !name.startsWith("s-")).join(".")} “${(element.ariaLabel ?? element.textContent ?? "").trim().slice(0, 40)}”`;

  const sizes = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { parentElement, textContent } = texts.currentNode;
    if (!textContent.trim() || parentElement.closest("option, svg, script") || !isShown(parentElement)) continue;
    const size = Number.parseFloat(getComputedStyle(parentElement).fontSize);
    if (!SIZES.includes(size)) sizes.add(`${size} px: ${nameOf(parentElement)}`);
  }

  const targets = new Set();
  const isTouched = matchMedia("(pointer: coarse)").matches;
  const scope = document.querySelector("dialog[open]") ?? document;
  for (const control of isTouched ? scope.querySelectorAll("a[href], button, input:not([hidden]), select, textarea, summary") : []) {
    const target = control.closest("label") ?? control;
    // A link within a sentence is as high as its line.
    const isProse = control.tagName === "A" && getComputedStyle(control).display === "inline";
    if (isProse || !isShown(target)) continue;
    let box = target.getBoundingClientRect();
    if (box.width >= THUMB && box.height >= THUMB) continue;
    // Smaller to look at, with room around it that counts as its own.
    target.scrollIntoView({ block: "center", inline: "center" });
    box = target.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const reach = THUMB / 2 - 1;
    const points = [...(box.height < THUMB ? [[x, y - reach], [x, y + reach]] : []), ...(box.width < THUMB ? [[x - reach, y], [x + reach, y]] : [])];
    const isHit = points.every(([left, top]) => target.contains(document.elementFromPoint(left, top)));
    if (!isHit) targets.add(`${Math.round(box.width)} × ${Math.round(box.height)}: ${nameOf(target)}`);
  }
  return { sizes: [...sizes], targets: [...targets] };
}
