// Two devices in a real browser: a desk and a phone. BROWSER is the path of Chromium; `cargo xtask test` sets it.

import { join } from "node:path";
import { chromium } from "playwright-core";

const { BROWSER } = process.env;

const DEVICES = {
  desk: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
};

/** Starts a browser, with these arguments if there are any, and ends it with the test. */
export async function openBrowser(test, args = []) {
  if (!BROWSER) throw new Error("BROWSER is not set to the path of Chromium; run `cargo xtask ui test`");
  // The sandbox needs rights that a container may not have; the pages are our own.
  const browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox", ...args] });
  test.after(() => browser.close());
  return browser;
}

/** A page of a device of its own. What goes wrong in it fails the test at its end. */
export async function openDevice(test, browser, kind, options = {}) {
  const context = await browser.newContext({ ...DEVICES[kind], ...options });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    // A browser reports every connection that fails, which is what some tests are about.
    if (message.type() === "error" && !/ERR_|WebSocket connection|status of 4/.test(text)) page.problems.push(text);
  });
  test.after(() => {
    if (page.problems.length > 0) throw new Error(`the ${kind}'s page complained: ${page.problems.join("; ")}`);
  });
  return page;
}

/** Pairs a page by its own pairing screen, with the six digits. */
export async function pair(page, daemon, scope = "operate") {
  const { code } = await daemon.offer(scope);
  await page.goto(`${daemon.http}/pair#${code}`);
  await page.waitForURL(`${daemon.http}/`);
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
}

/** Taps a button until that shows: a tap on what has just moved does nothing, and whoever sees that taps again. */
export async function tapUntil(button, result) {
  for (let tries = 0; tries < 5; tries++) {
    if ((await button.count()) > 0) await button.click();
    if (await result.waitFor({ timeout: 3_000 }).then(() => true, () => false)) return;
  }
  await result.waitFor();
}

/** Starts a session from the page, with the demo agent unless another one is named, and waits until its own page is there. */
export async function startSession(page, prompt, agent = /demo/i) {
  await page.goto(new URL("/new", page.url()).href);
  await page.getByRole("radio", { name: agent }).check();
  await page.getByRole("textbox", { name: "Prompt" }).fill(prompt);
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/\/s\//);
  await page.getByRole("log", { name: "Transcript" }).waitFor();
}

/** Keeps a picture of a page, if pictures are wanted: SCREENS is the folder for them. */
export async function picture(page, name) {
  if (process.env.SCREENS) await page.screenshot({ path: join(process.env.SCREENS, `${name}.png`), animations: "disabled" });
}

/**
 * Puts `change` between the page's next sockets and their messages: it is given each message, a function that lets one
 * through, and the request that it answers; `ask` may change a request before it is sent. They run in the page, because
 * Playwright's own routes send into sockets that are closing; the sockets are in `window.sockets`.
 */
export async function between(page, change, ask = () => {}) {
  const install = (change, ask) => {
    window.sockets = [];
    const requests = new Map();
    window.WebSocket = class extends WebSocket {
      send(data) {
        const request = JSON.parse(data);
        ask(request);
        requests.set(request.id, request);
        super.send(JSON.stringify(request));
      }

      constructor(...given) {
        super(...given);
        window.sockets.push(this);
      }

      set onmessage(handler) {
        const pass = (message) => handler({ data: JSON.stringify(message) });
        super.onmessage = ({ data }) => {
          const message = JSON.parse(data);
          change(message, pass, requests.get(message.id));
        };
      }
    };
  };
  await page.addInitScript(`(${install})(${change}, ${ask})`);
}
