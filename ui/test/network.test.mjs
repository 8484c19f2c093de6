// A bad network: nothing is lost, nothing comes twice, and what is old is never shown as live.

import assert from "node:assert/strict";
import { createConnection, createServer } from "node:net";
import { once } from "node:events";
import { test } from "node:test";

import { between, openBrowser, openDevice, pair, picture, startSession } from "./browser.mjs";
import { Daemon } from "./daemon.mjs";
import { assertLooksRight } from "./looking.mjs";
import { startWithProject } from "./project.mjs";

/** A cable between the browser and the daemon that can be pulled. */
class Cable {
  #server;
  #pairs = new Set();
  isCut = false;
  /** Everything is swallowed and nothing is closed. */
  isSilent = false;

  static async to(daemon) {
    const cable = new Cable();
    const port = Number(new URL(daemon.http).port);
    cable.#server = createServer((near) => {
      if (cable.isCut) return void near.destroy();
      const far = createConnection({ host: "127.0.0.1", port });
      const ends = { near, far };
      cable.#pairs.add(ends);
      for (const [one, other] of [[near, far], [far, near]]) {
        one.on("data", (piece) => cable.isSilent || other.write(piece));
        one.on("error", () => other.destroy());
        one.on("close", () => (other.destroy(), cable.#pairs.delete(ends)));
      }
    });
    cable.#server.listen(0, "127.0.0.1");
    await once(cable.#server, "listening");
    cable.http = `http://127.0.0.1:${cable.#server.address().port}`;
    return cable;
  }

  cut() {
    this.isCut = true;
    for (const { near, far } of this.#pairs) near.destroy(), far.destroy();
  }

  mend() {
    this.isCut = this.isSilent = false;
  }

  close() {
    this.cut();
    this.#server.close();
  }
}

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
  await startSession(page, "drip 400 200");
  await page.waitForFunction(() => document.querySelector(".markdown")?.textContent.length > 200);
  await page.reload();
  await page.waitForFunction(() => document.querySelector(".markdown")?.textContent.length > 400);
  await page.reload();
  await page.getByText(/Done in \d/).waitFor({ timeout: 30_000 });
  const shown = (await answers(page)).join("");
  const call = await daemon.device("observe");
  const session_id = new URL(page.url()).pathname.split("/").at(-1);
  assert.equal(shown.replace(/\s+/g, ""), await saidIn(call, session_id));
});

test("while the network is cut for 20 seconds the page says since when, sends nothing, and then shows all that it missed", async (test) => {
  const { daemon, cable, page } = await world(test, startWithProject);
  await startSession(page, "Explain slowly what each module is for", /coder/i);
  await page.waitForFunction(() => document.querySelector(".markdown")?.textContent.length > 40);
  cable.cut();
  const bar = page.locator("[data-phase=offline]");
  await bar.getByText(/as of/).waitFor();
  assert.equal(await page.getByRole("button", { name: "Stop" }).isDisabled(), true);
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

test("a page that could not read what it missed is not live, says why, and asks again", async (test) => {
  const { page, daemon } = await world(test);
  await between(page, (message, pass) => {
    if (window.refuses && message.result?.sessions) pass({ jsonrpc: "2.0", id: message.id, error: { code: -32603, message: "the log is busy" } });
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
  await page.getByRole("link", { name: /hello/ }).first().waitFor();
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
  await page.getByRole("button", { name: /^(Send|Queue)$/, disabled: false }).click();
  await page.waitForFunction(() => document.querySelector("textarea").value === "");
  await page.getByText(/Done in \d/).nth(1).waitFor();
  assert.equal(await page.locator(".bubble").filter({ hasText: "hello again" }).count(), 1);
});
