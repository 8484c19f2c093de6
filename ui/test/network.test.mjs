// A bad network: nothing is lost, nothing comes twice, and what is old is never shown as live.

import assert from "node:assert/strict";
import { test } from "node:test";

import { between, openBrowser, openDevice, pair, picture, startSession } from "./browser.mjs";
import { Cable } from "./cable.mjs";
import { Daemon } from "./daemon.mjs";
import { assertLooksRight } from "./looking.mjs";
import { startWithProject } from "./project.mjs";

async function world(test, start = () => Daemon.start()) {
  const daemon = await start();
  const cable = await Cable.to(daemon);
  test.after(async () => {
    cable.close();
    await daemon.remove();
  });
  const page = await openDevice(test, await openBrowser(test), "desk");
  await pair(page, { ...daemon, http: cable.http, offer: (scope) => daemon.offer(scope) });
  return { daemon, cable, page };
}

/** The text of the transcript's answers. */
const answers = (page) => page.locator(".markdown").allInnerTexts();

/** What the agent said by the log, without white space. */
async function saidIn(call, session_id) {
  let said = "";
  for (let after_seq = 0; ; ) {
    const page = await call("log/read", { session_id, after_seq });
    said += page.events.map((event) => (event.type === "model.output.delta" ? event.payload.delta : "")).join("");
    after_seq = page.last_seq;
    if (!page.has_more) return said.replace(/\s+/g, "");
  }
}

test("a reload in the middle of a flood loses nothing and shows nothing twice", async (test) => {
  const { daemon, page } = await world(test);
  await startSession(page, "drip 12000 2000");
  for (const length of [1_000, 10_000]) {
    await page.waitForFunction((length) => document.querySelector(".markdown")?.textContent.length > length, length);
    await page.reload();
  }
  await page.getByText(/Done in \d/).waitFor({ timeout: 30_000 });
  // Of a long answer the end is drawn first.
  const before = page.getByRole("button", { name: /^Show what was written before/ });
  while ((await before.count()) > 0) await before.click();
  const shown = (await answers(page)).join("");
  const call = await daemon.device("observe");
  const session_id = new URL(page.url()).pathname.split("/").at(-1);
  assert.equal(shown.replace(/\s+/g, ""), await saidIn(call, session_id));
});

test("while the network is cut for 20 seconds the page says since when, sends nothing, and then shows all that it missed", async (test) => {
  const { daemon, cable, page } = await world(test, startWithProject);
  await startSession(page, "Explain slowly what each module is for", /coder/i);
  await page.waitForFunction(() => document.querySelector(".markdown")?.textContent.length > 40);
  const place = () => page.getByRole("log", { name: "Transcript" }).evaluate((log) => log.getBoundingClientRect().top);
  const before = await place();
  cable.cut();
  const bar = page.locator("[data-phase=offline]");
  await bar.getByText(/as of/).waitFor();
  assert.equal(await place(), before, "nothing jumps when the network goes");
  assert.equal(await page.getByRole("button", { name: "Stop" }).isDisabled(), true);
  await page.keyboard.press("s");
  assert.equal(await page.getByRole("dialog").count(), 0, "what cannot be stopped now is not asked about");
  assert.equal(await page.getByText("not live").isVisible(), true);
  assert.equal(await page.getByText("was working").first().isVisible(), true, "what was so is not shown as being so");
  await page.getByText("There is no connection to Roost now.", { exact: true }).waitFor();
  await picture(page, "offline-desk-light");
  await assertLooksRight(page, "offline on a desk");
  await new Promise((resolve) => setTimeout(resolve, 20_000));
  assert.equal(await bar.isVisible(), true);
  cable.mend();
  await page.getByRole("button", { name: "Try now" }).click();
  await bar.waitFor({ state: "detached" });
  await page.getByText(/Done in \d/).waitFor({ timeout: 40_000 });
  const shown = (await answers(page)).join("").replace(/\s+/g, "");
  const call = await daemon.device("observe");
  const session_id = new URL(page.url()).pathname.split("/").at(-1);
  assert.equal(shown, await saidIn(call, session_id));
});

test("an answer that broke off on its way is offered again, and counts once", async (test) => {
  const { daemon, page } = await world(test);
  await startSession(page, "edit once.txt");
  const allow = page.getByRole("button", { name: "Allow once" });
  await allow.waitFor();
  // The daemon gets the answer; its word that it did so is lost.
  await page.evaluate(() => {
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (data) {
      send.call(this, data);
      if (String(data).includes("permission/respond")) this.close();
    };
  });
  await allow.click();
  await page.getByText("Allowed by you").or(page.getByText(/send it again/)).first().waitFor();
  await page.getByText(/Done in \d/).waitFor();
  assert.equal((await daemon.git("status", "--short")).trim(), "?? once.txt");
  await page.locator("[data-pending]").first().waitFor({ state: "detached" });
});

test("a daemon that restarts is found again, and the page goes on by itself", async (test) => {
  const { daemon, page } = await world(test);
  await startSession(page, "hello");
  await page.getByText(/Done in \d/).waitFor();
  await daemon.stop();
  await page.locator("[data-phase=offline]").waitFor();
  await daemon.start();
  await page.locator("[data-phase=offline]").waitFor({ state: "detached", timeout: 30_000 });
  await page.getByRole("textbox", { name: "Prompt" }).fill("hello");
  await page.getByRole("button", { name: /^(Send|Resume)$/ }).click();
  await page.locator(".markdown").filter({ hasText: "Hello from the demo agent." }).nth(1).waitFor();
});

test("a network that swallows everything and closes nothing is noticed, and its end, too", async (test) => {
  const { cable, page } = await world(test);
  await page.clock.install();
  await page.reload();
  await page.getByRole("heading", { name: "No agent has worked here yet" }).waitFor();
  cable.isSilent = true;
  // Something that was said before may still arrive, and then counts as heard.
  await page.clock.runFor("01:10");
  await page.locator("[data-phase=offline]").getByText(/as of/).waitFor();
  cable.mend();
  await page.getByRole("button", { name: "Try now" }).click();
  await page.clock.runFor("00:02");
  await page.locator("[data-phase=offline]").waitFor({ state: "detached" });
});

test("a page that slept says as of when it is, not when somebody noticed", async (test) => {
  const { cable, page } = await world(test);
  await page.clock.install({ time: new Date(2026, 0, 5, 14, 3) });
  await page.reload();
  await page.getByRole("heading", { name: "No agent has worked here yet" }).waitFor();
  cable.isSilent = true;
  // As a phone does that wakes after ten minutes.
  await page.clock.fastForward("10:00");
  await page.locator("[data-phase=offline]").getByText("as of 14:03").waitFor();
});

test("a page that is looked at again asks whether it is live, and does not wait for the silence to be noticed", async (test) => {
  const { cable, page } = await world(test);
  await page.getByRole("heading", { name: "No agent has worked here yet" }).waitFor();
  cable.isSilent = true;
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  // Twenty seconds of silence would pass before anybody asks by itself, and ten more before it counts.
  await page.locator("[data-phase=offline]").getByText(/as of/).waitFor({ timeout: 10_000 });
});

test("a page that is opened without a network comes from what is kept, and says that it has read nothing", async (test) => {
  const { cable, page } = await world(test);
  // Once it is installed the service worker has the page, though that came before there was one.
  await page.evaluate(() => navigator.serviceWorker.ready);
  cable.isSilent = true;
  await page.reload({ waitUntil: "commit" });
  await page.getByRole("navigation", { name: "Places" }).first().waitFor();
  cable.cut();
  await page.locator("[data-phase=offline]").getByText("nothing was read yet").waitFor({ timeout: 30_000 });
});

test("the prompt of a task that failed is sent again once, whatever is tapped how often, and a draft stays", async (test) => {
  const { daemon, page } = await world(test, startWithProject);
  await startSession(page, "Upgrade the parser to its new version", /coder/i);
  const again = page.getByRole("button", { name: "Send the prompt again" });
  await again.waitFor();
  const session_id = new URL(page.url()).pathname.split("/").at(-1);
  await again.evaluate((button) => {
    button.click();
    button.click();
  });
  await page.locator(".failure").nth(1).waitFor();
  const call = await daemon.device("observe");
  const started = async () => (await call("log/read", { session_id, before_seq: Number.MAX_SAFE_INTEGER, types: ["task.started"] })).events.map((event) => event.payload.messages[0].content[0].text);
  assert.deepEqual(await started(), Array(2).fill("Upgrade the parser to its new version"));
  assert.equal(await again.count(), 1, "only the last task is tried again");
  const field = page.getByRole("textbox", { name: "Prompt" });
  await field.fill("my own idea");
  await page.getByRole("button", { name: "Change the prompt" }).click();
  await page.waitForFunction(() => document.querySelector("textarea").value === "Upgrade the parser to its new version\n\nmy own idea");
});

test("a page that could not read what it missed is not live, says why, and asks again", async (test) => {
  const { page, daemon } = await world(test);
  await between(page, (message, pass) => {
    const isRead = message.result?.sessions || (message.result?.events && "has_more" in message.result);
    const isList = !location.pathname.startsWith("/s/");
    // On the page of a session its list is read, and its log is not.
    if (window.refuses && isRead && Boolean(message.result.sessions) === isList) pass({ jsonrpc: "2.0", id: message.id, error: { code: -32603, message: "the log is busy" } });
    else pass(message);
  });
  await page.goto(page.url());
  await page.getByRole("heading", { name: "No agent has worked here yet" }).waitFor();
  await page.evaluate(() => {
    window.refuses = true;
    window.sockets.at(-1).close();
  });
  const bar = page.locator("[data-phase=resuming]");
  await bar.getByText("the log is busy").waitFor();
  const call = await daemon.device();
  const [{ id }] = (await call("workspace/list")).workspaces;
  await call("session/send", { workspace_id: id, agent_type: "demo", mode: "new", prompt: "hello" });
  await page.evaluate(() => (window.refuses = false));
  await bar.waitFor({ state: "detached" });
  await page.getByRole("link", { name: /hello/ }).first().click();
  await page.getByText(/Done in \d/).waitFor();
  await page.evaluate(() => {
    window.refuses = true;
    window.sockets.at(-1).close();
  });
  await bar.getByText("the log is busy").waitFor();
  await page.evaluate(() => (window.refuses = false));
  await bar.waitFor({ state: "detached" });
  await page.getByText("the log is busy").waitFor({ state: "detached" });
});

test("a prompt of which nobody knows whether it arrived starts one task, however often it is sent", async (test) => {
  const { page } = await world(test);
  await startSession(page, "hello");
  await page.getByText(/Done in \d/).waitFor();
  await page.evaluate(() => {
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (data) {
      send.call(this, data);
      if (!String(data).includes("session/send")) return;
      WebSocket.prototype.send = send;
      this.close();
    };
  });
  const field = page.getByRole("textbox", { name: "Prompt" });
  await field.fill("hello again");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText(/look whether it was done/).waitFor();
  assert.equal(await field.inputValue(), "hello again", "what may be lost stays");
  await page.reload();
  await page.getByText("Send it again: it counts once.").waitFor();
  await page.getByRole("button", { name: /^(Send|Queue)$/, disabled: false }).click();
  await page.waitForFunction(() => document.querySelector("textarea").value === "");
  await page.getByText(/Done in \d/).nth(1).waitFor();
  assert.equal(await page.locator(".bubble").filter({ hasText: "hello again" }).count(), 1);
});
