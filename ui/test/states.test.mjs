// The states that every screen has, each seen in a real browser. First use, offline and revoked are seen in the tests of
// pairing and of the network, live in those of the pages.

import assert from "node:assert/strict";
import { test } from "node:test";

import { between, openBrowser, openDevice, pair, picture, startSession } from "./browser.mjs";
import { Daemon } from "./daemon.mjs";
import { assertLooksRight } from "./looking.mjs";
import { startWithProject } from "./project.mjs";

async function world(test, kind, scope = "operate", options = {}, start = () => Daemon.start()) {
  const daemon = await start();
  test.after(() => daemon.remove());
  const browser = await openBrowser(test);
  const page = await openDevice(test, browser, kind, options);
  await pair(page, daemon, scope);
  return { daemon, browser, page };
}

test("loading: a skeleton stands where things will be", async (test) => {
  const { daemon, page } = await world(test, "phone", "operate", { colorScheme: "dark" });
  await between(page, () => {});
  await page.goto(daemon.http);
  await page.locator(".skeleton .bar").first().waitFor();
  await picture(page, "loading-phone-dark");
  await assertLooksRight(page, "loading on a phone");
});

test("busy: two thousand events a second are drawn, and the page still answers", async (test) => {
  const { page } = await world(test, "desk", "operate", {}, startWithProject);
  await startSession(page, "Explain every module to somebody new", /coder/i);
  await page.waitForFunction(() => document.querySelector(".scroll-area")?.innerText.length > 4_000);
  await picture(page, "busy-desk-light");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Stop the agent as well" }).click();
  await page.getByText(/Stopped: /).waitFor();
});

test("resuming: after an interruption the page says that it still reads, and counts as live only then", async (test) => {
  const { daemon, page } = await world(test, "phone");
  await between(page, (message, pass) => {
    if (window.held && message.result?.sessions) window.held.push(() => pass(message));
    else pass(message);
  });
  await page.goto(daemon.http);
  await page.getByRole("heading", { name: "No agent has worked here yet" }).waitFor();
  await page.evaluate(() => {
    window.held = [];
    window.sockets.at(-1).close();
  });
  const bar = page.locator("[data-phase=resuming]");
  await bar.getByText(/as of .*reading what happened since/).waitFor();
  await picture(page, "resuming-phone-light");
  await assertLooksRight(page, "resuming on a phone");
  await page.evaluate(() => {
    const { held } = window;
    window.held = undefined;
    held.forEach((pass) => pass());
  });
  await bar.waitFor({ state: "detached" });
});

test("refused: a device that may only watch sees everything, and each button that it may not press says why", async (test) => {
  const { daemon, browser, page } = await world(test, "phone", "observe", {}, startWithProject);
  const desk = await openDevice(test, browser, "desk");
  await pair(desk, daemon);
  await startSession(desk, "Write the changelog for 0.3", /coder/i);
  await desk.getByRole("button", { name: "Allow once" }).waitFor();
  await page.locator("[data-pending]").first().click();
  const sheet = page.getByRole("dialog");
  await sheet.getByText("This device may only watch").waitFor();
  for (const name of ["Allow once", "Deny…"]) assert.equal(await sheet.getByRole("button", { name }).isDisabled(), true, name);
  await picture(page, "refused-phone-light");
  await assertLooksRight(page, "refused on a phone");
  await page.goto(`${daemon.http}/services`);
  assert.equal(await page.getByRole("button", { name: "Add", exact: true }).isDisabled(), true);
});

for (const [kind, version] of [["desk", "9.9.9"], ["phone", "0.0.9"]]) {
  test(`another version: a page and a daemon that is ${version} say that they do not belong together`, async (test) => {
    const { daemon, page } = await world(test, kind);
    await between(page, new Function("message", "pass", `if (message.result?.serverInfo) message.result.serverInfo.version = "${version}"; pass(message);`));
    await page.goto(daemon.http);
    await page.getByText(new RegExp(`Roost is version ${version}, this page \\d`)).waitFor();
    await page.getByRole("button", { name: "Reload" }).waitFor();
    await picture(page, kind === "desk" ? "newer-daemon-desk-light" : "older-daemon-phone-light");
    await assertLooksRight(page, `another version on a ${kind}`);
  });
}

test("a part of a page that is from before an upgrade offers to load the page again", async (test) => {
  // The service worker keeps what it once had, so it is a browser without one that meets this first.
  const { daemon, page } = await world(test, "phone", "operate", { serviceWorkers: "block" });
  // What the daemon served before it was upgraded is not there any more.
  let isGone = true;
  await page.route(/\/assets\/Status-.*\.js$/, (route) => (isGone ? route.fulfill({ status: 404 }) : route.continue()));
  await page.goto(`${daemon.http}/status`);
  await page.getByRole("heading", { name: "This part could not be loaded" }).waitFor();
  await page.getByText("Roost was probably updated").waitFor();
  await picture(page, "not-loaded-phone-light");
  await assertLooksRight(page, "a missing part on a phone");
  isGone = false;
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("heading", { name: "Status" }).waitFor();
  page.problems.length = 0;
});

test("more sessions than a page holds are counted, and shown when somebody wants them", async (test) => {
  const { daemon, page } = await world(test, "phone");
  const call = await daemon.device();
  const workspace_id = (await call("workspace/list")).workspaces[0].id;
  for (let made = 0; made < 205; made++) await call("session/start", { workspace_id, mode: "new", agent_type: "demo", title: `Session ${made}` });
  await page.goto(daemon.http);
  const rows = page.locator(".session-row");
  const more = page.getByRole("button", { name: "Show more (5 left)" });
  await more.waitFor();
  assert.equal(await rows.count(), 200);
  await more.click();
  await more.waitFor({ state: "detached" });
  assert.equal(await rows.count(), 205);
  await rows.filter({ hasText: /Session 0\b/ }).waitFor();
});

test("one part fails: it says so and offers to try again, and the rest works", async (test) => {
  const { daemon, page } = await world(test, "phone", "operate", { colorScheme: "dark" });
  let isBroken = true;
  await page.route("**/metrics", (route) => (isBroken ? route.fulfill({ status: 500 }) : route.continue()));
  await page.goto(`${daemon.http}/status`);
  const figures = page.getByRole("region", { name: "Figures" });
  await figures.getByText("The figures cannot be read: the daemon answers 500").waitFor();
  await page.getByRole("region", { name: "Daemon" }).getByText("Running for").waitFor();
  await page.getByRole("region", { name: "Agents" }).getByText("ready").first().waitFor();
  await figures.scrollIntoViewIfNeeded();
  await picture(page, "part-failed-phone-dark");
  await assertLooksRight(page, "a part that failed on a phone");
  isBroken = false;
  await figures.getByText("Open sessions").waitFor();
  // The browser reports the answer that the test is about.
  page.problems.length = 0;
});

/** Changes what the daemon says of its agents, before the page reads it. */
async function withRegistry(page, change) {
  await page.addInitScript(`window.changeRegistry = ${change}`);
  await between(page, (message, pass) => {
    if (message.result?.capabilities) window.changeRegistry(message.result.capabilities);
    pass(message);
  });
}

test("an older daemon: without a registry of agents every page works, and the agents are those that it names", async (test) => {
  const { daemon, page } = await world(test, "desk");
  await withRegistry(page, (capabilities) => void delete capabilities.runtimeRegistry);
  await startSession(page, "edit old.txt");
  await page.getByText("Asked by demo").waitFor();
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByText(/Done in \d/).waitFor();
  await page.goto(`${daemon.http}/status`);
  await page.getByRole("region", { name: "Agents" }).getByText("demo").waitFor();
});

test("a disabled agent is refused with the reason, and a deprecated one warns and works", async (test) => {
  const { daemon, page } = await world(test, "desk");
  await startSession(page, "hello");
  await page.getByText(/Done in \d/).waitFor();
  const address = page.url();
  await withRegistry(page, (capabilities) => {
    const demo = capabilities.runtimeRegistry.runtimes.find((entry) => entry.id === "demo");
    demo.status = localStorage.getItem("demo");
    demo.availability = { ...demo.availability, reason: "it is being mended" };
    capabilities.runtimeRegistry.runtimes.push({ ...demo, id: "from-the-future", status: "experimental", displayName: "From the future", unknown: 1 });
  });
  await page.evaluate(() => localStorage.setItem("demo", "disabled"));
  await page.goto(address);
  await page.reload();
  await page.locator(".composer").getByText("it is being mended").waitFor();
  assert.equal(await page.getByRole("button", { name: "Send", exact: true }).isDisabled(), true);
  await page.evaluate(() => localStorage.setItem("demo", "deprecated"));
  await page.reload();
  await page.getByText(/is deprecated here/).waitFor();
  await page.getByRole("textbox", { name: "Prompt" }).fill("hello");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText(/Done in \d/).nth(1).waitFor();
  await page.goto(`${daemon.http}/new`);
  await page.getByRole("radio", { name: /From the future/ }).waitFor();
});

test("what waits is told by the system while nobody looks, with the count on the icon, and a touch leads there", async (test) => {
  const { daemon, page } = await world(test, "phone");
  await page.addInitScript(() => {
    window.told = [];
    // As on Android, where only a service worker may show one.
    window.Notification = class { constructor() { throw new TypeError("Illegal constructor"); } };
    Object.assign(window.Notification, { permission: "granted", requestPermission: async () => "granted" });
    ServiceWorkerContainer.prototype.getRegistration = async () => ({ showNotification: async (title, options) => window.told.push({ title, ...options }) });
    Object.defineProperty(document, "hidden", { get: () => true });
    navigator.setAppBadge = async (count) => (window.badge = count);
  });
  await page.goto(daemon.http);
  await page.getByRole("heading", { name: "No agent has worked here yet" }).waitFor();
  const call = await daemon.device();
  const [{ id }] = (await call("workspace/list")).workspaces;
  const { session_id } = await call("session/send", { workspace_id: id, agent_type: "demo", mode: "new", prompt: "edit told.txt" });
  await page.waitForFunction(() => window.told.length === 1 && window.badge === 1);
  const [told] = await page.evaluate(() => window.told);
  assert.equal(told.title, "edit told.txt");
  assert.match(told.body, /told\.txt/);
  assert.equal(told.data.address, `/s/${session_id}`);
  await page.evaluate((go) => navigator.serviceWorker.dispatchEvent(new MessageEvent("message", { data: { go } })), told.data.address);
  await page.waitForURL(`**/s/${session_id}`);
  assert.match(await page.title(), /^\(1\) edit told\.txt · Roost$/);
});

test("nothing jumps while an agent writes", async (test) => {
  const { page } = await world(test, "desk");
  await page.addInitScript(() => {
    window.shifts = [];
    new PerformanceObserver((list) => window.shifts.push(...list.getEntries().filter((entry) => !entry.hadRecentInput).map((entry) => entry.value))).observe({ type: "layout-shift" });
  });
  await startSession(page, "drip 2000 300 apart");
  await page.waitForFunction(() => document.querySelector(".scroll-area")?.scrollHeight > 3_000);
  await page.evaluate(() => (window.shifts.length = 0));
  await page.waitForFunction(() => document.querySelector(".scroll-area")?.scrollHeight > 6_000);
  assert.deepEqual(await page.evaluate(() => window.shifts), []);
});
