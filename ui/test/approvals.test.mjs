// Approvals: nothing is allowed by accident, and all that is decided is on the screen.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { openBrowser, openDevice, pair, startSession } from "./browser.mjs";
import { Daemon } from "./daemon.mjs";

const agent = new URL("./asking-agent.mjs", import.meta.url).pathname;
const CONFIG = `[runtimes.asking]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(agent)}]\n`;

describe("approvals", () => {
  let daemon, desk, phone, workspace_id, call;
  const cleanups = [];

  before(async () => {
    daemon = await Daemon.start(CONFIG);
    const suite = { after: (work) => cleanups.push(work) };
    const browser = await openBrowser(suite);
    [desk, phone] = [await openDevice(suite, browser, "desk"), await openDevice(suite, browser, "phone")];
    await pair(desk, daemon);
    await pair(phone, daemon);
    call = await daemon.device();
    [{ id: workspace_id }] = (await call("workspace/list")).workspaces;
  });
  after(async () => {
    try {
      for (const work of cleanups.reverse()) await work();
    } finally {
      await daemon.remove();
    }
  });

  /** Has an agent ask; returns its session. */
  const begin = async (prompt, agent_type = "demo") =>
    (await call("session/send", { workspace_id, agent_type, mode: "new", prompt: typeof prompt === "string" ? prompt : JSON.stringify(prompt) })).session_id;
  const open = (page, session_id) => page.goto(`${daemon.http}/s/${session_id}`);
  const waiting = async (session_id) => (await call("permission/pending")).requests.filter((request) => request.session_id === session_id).length;
  const stop = (session_id) => call("session/stop", { session_id });

  test("a key that is held decides nothing, neither about this call nor about the next", async () => {
    const session = await begin("out 5");
    await open(desk, session);
    const transcript = desk.getByRole("log", { name: "Transcript" });
    await transcript.getByRole("button", { name: "Allow once", disabled: false }).waitFor();
    await desk.keyboard.down("a");
    await transcript.getByRole("button", { name: "Tap again to allow", disabled: false }).waitFor();
    for (let repeat = 0; repeat < 5; repeat++) await desk.keyboard.down("a");
    await desk.keyboard.up("a");
    assert.equal(await waiting(session), 1);
    await transcript.getByRole("button", { name: "Tap again to allow", disabled: false }).waitFor();
    await desk.keyboard.press("a");
    await desk.getByText(/Done in \d/).waitFor();
  });

  test("a double tap on a dangerous call arms it and no more", async () => {
    const session = await begin("out 5");
    await open(phone, session);
    await phone.getByRole("dialog").getByRole("button", { name: "Allow once" }).dblclick();
    await phone.getByRole("dialog").getByRole("button", { name: "Tap again to allow", disabled: false }).waitFor();
    assert.equal(await waiting(session), 1);
    await stop(session);
  });

  test("a card that comes under the finger takes no tap that was meant for the one before", async () => {
    const edit = (path) => ({ kind: "edit", input: { path, content: "x" } });
    const session = await begin([edit("first.txt"), edit("second.txt")], "asking");
    await open(phone, session);
    const sheet = phone.getByRole("dialog");
    await sheet.getByText("first.txt", { exact: true }).waitFor();
    const button = sheet.getByRole("button", { name: "Allow once", disabled: false });
    const { x, y, width, height } = await button.boundingBox();
    await button.click();
    await sheet.getByText("second.txt", { exact: true }).waitFor();
    await phone.touchscreen.tap(x + width / 2, y + height / 2);
    await button.waitFor();
    assert.equal(await waiting(session), 1);
    await button.click();
    await phone.getByText(/Done in \d/).waitFor();
  });

  test("on the desk an answered card keeps its place, so that the next does not move under the pointer", async () => {
    await desk.goto(`${daemon.http}/`);
    const cards = desk.locator("[data-ask]");
    await begin("edit one.txt");
    await cards.first().waitFor();
    const last = await begin("edit two.txt");
    await cards.nth(1).waitFor();
    const second = await cards.nth(1).boundingBox();
    await cards.nth(0).getByRole("button", { name: "Allow once", disabled: false }).click();
    await desk.locator("section[inert]").waitFor();
    assert.deepEqual(await cards.nth(1).boundingBox(), second);
    await desk.locator("section[inert]").waitFor({ state: "detached" });
    assert.equal(await waiting(last), 1);
    await cards.first().getByRole("button", { name: "Allow once", disabled: false }).click();
    await desk.getByRole("heading", { name: "Nothing needs you" }).waitFor();
  });

  test("nothing comes over what somebody writes; a line says that something waits", async () => {
    await startSession(phone, "hello");
    await phone.getByText(/Done in \d/).waitFor();
    const field = phone.getByRole("textbox", { name: "Prompt" });
    await field.fill("my next idea");
    await field.focus();
    const session_id = new URL(phone.url()).pathname.split("/").at(-1);
    await call("session/send", { session_id, prompt: "edit later.txt" });
    const line = phone.getByRole("button", { name: "Waits for you: answer" });
    await line.waitFor();
    assert.equal(await phone.getByRole("dialog").count(), 0);
    assert.equal(await field.inputValue(), "my next idea");
    await line.click();
    await phone.getByRole("dialog").getByRole("button", { name: "Allow once" }).click();
    await phone.getByText(/Done in \d/).nth(1).waitFor();
    await field.fill("");
  });

  test("an answer for this session or workspace counts there and is not asked again", async () => {
    await startSession(desk, "edit notes.txt");
    const transcript = desk.getByRole("log", { name: "Transcript" });
    await transcript.getByRole("button", { name: "Always…" }).click();
    await transcript.getByText(/notes\.txt/).last().waitFor();
    assert.equal(await desk.getByRole("button", { name: "Allow everywhere on this machine" }).count(), 0, "a path means something in one workspace only");
    await transcript.getByRole("button", { name: "Allow in this session" }).click();
    await desk.getByText("remembered for the session").waitFor();
    await desk.getByRole("textbox", { name: "Prompt" }).fill("edit notes.txt");
    await desk.getByRole("button", { name: "Send" }).click();
    await desk.getByText(/Done in \d/).nth(1).waitFor();
    await startSession(desk, "edit notes.txt");
    await transcript.getByRole("button", { name: "Always…" }).click();
    await transcript.getByRole("button", { name: "Allow in this workspace" }).click();
    await desk.getByText("remembered for the workspace").waitFor();
    await startSession(desk, "edit notes.txt");
    await desk.getByText(/Done in \d/).waitFor();
    assert.equal(existsSync(join(daemon.work, "notes.txt")), true);
  });

  test("everything that an agent hands over is shown, whatever it names it", async () => {
    const session = await begin({ kind: "execute", input: { command: "ls", cmd: "rm -rf /", env: { LD_PRELOAD: "evil.so" } } }, "asking");
    await open(desk, session);
    const card = desk.locator("[data-ask]").first();
    for (const text of ["$ ls", "rm -rf /", "evil.so"]) await card.getByText(text).first().waitFor();
    await stop(session);
    const line = `${"x".repeat(1_500)}the end`;
    const other = await begin({ kind: "edit", input: { path: "README.md", content: `${line}\nshort\n` } }, "asking");
    await open(phone, other);
    const sheet = phone.getByRole("dialog");
    await sheet.getByText("whatever it held before is replaced").waitFor();
    await sheet.getByText("… 507 more characters").waitFor();
    await sheet.getByRole("button", { name: "Show all of the long lines" }).click();
    await sheet.getByText("the end").waitFor();
    assert.equal(await sheet.locator(".diff").evaluate((diff) => diff.scrollWidth <= diff.clientWidth), true, "nothing lies beyond the right edge");
    await stop(other);
  });

  test("what is too big for one message is allowed only after all of it was read", async () => {
    const session = await begin({ kind: "execute", input: { command: { repeat: 20_000 } } }, "asking");
    await open(desk, session);
    const card = desk.locator("[data-ask]").first();
    await card.getByText("Read all of it first").waitFor();
    assert.equal(await card.getByRole("button", { name: "Allow once" }).isDisabled(), true);
    await card.getByRole("button", { name: /^Read all of it/ }).click();
    await card.getByRole("button", { name: "Allow once", disabled: false }).waitFor();
    await stop(session);
  });

  test("each button of a dangerous call is armed by itself", async () => {
    const session = await begin({ kind: "other", name: "frobnicate", input: { level: 1 } }, "asking");
    await open(desk, session);
    const card = desk.locator("[data-ask]").first();
    const always = card.getByRole("button", { name: "Always…" });
    await card.getByRole("button", { name: "Allow once" }).click();
    await card.getByRole("button", { name: "Tap again to allow" }).waitFor();
    await always.click();
    await card.getByRole("button", { name: "Allow in this session" }).click();
    await card.getByRole("button", { name: "Tap again: Allow in this session", disabled: false }).waitFor();
    assert.equal(await waiting(session), 1);
    await stop(session);
  });

  test("of two that wait in one session the phone offers either, and both again after the sheet was closed", async () => {
    const edit = (path) => ({ kind: "edit", input: { path, content: "x" } });
    const session = await begin([edit("one.txt"), edit("two.txt")], "asking");
    await open(phone, session);
    const sheet = phone.getByRole("dialog", { name: /1 of 2/ });
    await sheet.getByText("one.txt", { exact: true }).waitFor();
    await sheet.getByRole("button", { name: "Look at the next one first" }).click();
    const second = phone.getByRole("dialog", { name: /2 of 2/ });
    await second.getByText("two.txt", { exact: true }).waitFor();
    await second.getByRole("button", { name: "Deny…" }).click();
    await second.getByLabel(/Why not/).fill("one is enough");
    await phone.reload();
    await phone.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await phone.getByRole("button", { name: "Waits for you: answer" }).click();
    await sheet.getByRole("button", { name: "Look at the next one first" }).click();
    assert.equal(await second.getByLabel(/Why not/).inputValue(), "one is enough", "what was begun to be said is still there");
    await second.getByRole("button", { name: "Deny", exact: true }).click();
    await phone.getByRole("dialog").getByRole("button", { name: "Allow once", disabled: false }).click();
    await phone.getByText(/Done in \d/).waitFor();
  });

  test("keys answer the card with the focus, turn to a question, find a card that is far away, and go to what waits elsewhere", async () => {
    const asks = await begin("ask");
    await desk.goto(`${daemon.http}/`);
    await desk.locator("form[data-ask]").waitFor();
    await desk.keyboard.press("a");
    await desk.waitForFunction(() => document.activeElement.closest("form[data-ask]"), undefined);
    const dangerous = await begin([{ kind: "edit", input: { path: "far.txt", content: "x" } }, { kind: "edit", input: { path: "near.txt", content: "x" } }], "asking");
    await desk.locator("[data-ask]").nth(2).waitFor();
    await desk.evaluate(() => document.activeElement.blur());
    // Past the rows of the inbox beside it, to the last card.
    await desk.evaluate(() => document.querySelectorAll("section[data-request] a[data-row]")[2].focus());
    await desk.locator("[data-ask]").nth(2).getByRole("button", { name: "Allow once", disabled: false }).waitFor();
    await desk.keyboard.press("d");
    await desk.locator("[data-ask]").nth(2).getByLabel(/Why not/).waitFor();
    await desk.keyboard.press("Escape");
    await open(desk, dangerous);
    await desk.locator("[data-ask]").nth(1).waitFor();
    await desk.keyboard.press("u");
    await desk.waitForURL(new RegExp(`/s/${asks}`));
    await desk.keyboard.press("u");
    await desk.waitForURL(new RegExp(`/s/${dangerous}`));
    for (const session of [asks, dangerous]) await stop(session);
  });
});
