// A session as a whole: what is read in parts, what is not there yet, and what is not there any more.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";

import { between, openBrowser, openDevice, pair } from "./browser.mjs";
import { Cable } from "./cable.mjs";
import { Daemon } from "./daemon.mjs";

/** A daemon, and a desk that is paired with it, over a cable that can be pulled. */
async function world(test) {
  const daemon = await Daemon.start();
  const cable = await Cable.to(daemon);
  test.after(async () => {
    cable.close();
    await daemon.remove();
  });
  const page = await openDevice(test, await openBrowser(test), "desk");
  await pair(page, { http: cable.http, offer: (scope) => daemon.offer(scope) });
  return { daemon, cable, page };
}

const OVER = ["task.completed", "task.failed", "task.stopped"];

/** Sends prompts one after the other, each when the task before it is over; edits need nobody's leave. */
async function work(call, prompts, session_id = undefined) {
  const [{ id }] = (await call("workspace/list")).workspaces;
  const ended = async () => {
    if (!session_id) return 0;
    return (await eventsOf(call, session_id)).filter((event) => OVER.includes(event.type)).length;
  };
  for (const prompt of prompts) {
    const before = await ended();
    const to = session_id ? { session_id } : { workspace_id: id, agent_type: "demo", mode: "new", permission_mode: "accept_edits" };
    ({ session_id } = await call("session/send", { ...to, prompt }));
    while ((await ended()) === before);
  }
  return session_id;
}

/** All events of a session that are left. */
async function eventsOf(call, session_id, after_seq = 0) {
  const all = [];
  for (let has_more = true; has_more; ) {
    const page = await call("log/read", { session_id, after_seq });
    all.push(...page.events);
    [after_seq, has_more] = [page.last_seq, page.has_more];
  }
  return all;
}

/** Removes the beginning of a session, up to an event at least, as retention does; returns the first that is left. */
async function removeBeginning(daemon, session_id, seq) {
  const file = (await readdir(daemon.home, { recursive: true })).find((name) => name.endsWith("roost.db"));
  const db = new DatabaseSync(join(daemon.home, file));
  const stream = db.prepare("SELECT id FROM streams WHERE name = ?").get(session_id).id;
  const last = db.prepare("SELECT id, last_seq FROM blocks WHERE stream = ? AND last_seq >= ? ORDER BY id LIMIT 1").get(stream, seq);
  db.prepare("DELETE FROM blocks WHERE stream = ? AND id <= ?").run(stream, last.id);
  db.prepare("UPDATE streams SET resume_at = ?, removed_to = ? WHERE id = ?").run(last.last_seq + 1, last.id, stream);
  db.close();
  return last.last_seq + 1;
}

const transcriptOf = (page) => page.getByRole("log", { name: "Transcript" });
const columnOf = (page) => page.getByRole("complementary", { name: "About this session" });

async function save(page, button) {
  await page.getByRole("button", { name: "Settings of this session" }).click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button }).click()]);
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  return readFile(await download.path(), "utf8");
}

test("a prompt too long for its event is folded and can be read to its end, and an export has all of it", async (test) => {
  const { daemon, page } = await world(test);
  const call = await daemon.device();
  const lines = Array.from({ length: 900 }, (_, line) => `this is line ${line} of it`).join("\n");
  const id = await work(call, [`hello\n${lines}`]);
  await page.goto(new URL(`/s/${id}`, page.url()).href);
  const bubble = page.locator(".bubble");
  await bubble.getByRole("button", { name: "Read all of it" }).click();
  await bubble.getByText("this is line 899 of it").waitFor();
  await page.reload();
  await bubble.getByText("this is line 899 of it").waitFor();
  await bubble.getByRole("button", { name: "Fold it" }).click();
  await bubble.getByRole("button", { name: "Read all of it" }).waitFor();
  const text = await save(page, "Export as text");
  for (const part of ["> this is line 0 of it", "> this is line 899 of it", "Hello from the demo agent."]) assert.ok(text.includes(part), part);
  const saved = (await save(page, "Export all events")).trimEnd().split("\n").map((line) => JSON.parse(line).seq);
  assert.deepEqual(saved, (await eventsOf(call, id)).map((event) => event.seq));
});

test("nothing is said of the plan, the usage and the changes before they are read, and a failure to read them says so", async (test) => {
  const { daemon, page } = await world(test);
  const call = await daemon.device();
  const id = await work(call, ["hello"]);
  await between(
    page,
    (message, pass, request) => {
      const isHeld = request?.method === "git/status" || (request?.method === "log/read" && request.params.types);
      if (!isHeld || window.isReleased) return pass(message);
      (window.held ??= []).push((refusal) => pass(refusal ? { jsonrpc: "2.0", id: message.id, error: { code: -32603, message: refusal, data: {} } } : message));
    },
  );
  await page.goto(new URL(`/s/${id}`, page.url()).href);
  await transcriptOf(page).getByText(/Done in \d/).waitFor();
  await page.waitForFunction(() => window.held?.length >= 4);
  const column = columnOf(page);
  const sayings = ["The agent has made no plan.", "The agent has reported no usage.", "Nothing is changed in this workspace."];
  await column.getByRole("status", { name: "Loading" }).first().waitFor();
  for (const saying of sayings) assert.equal(await column.getByText(saying).count(), 0, saying);
  await page.evaluate(() => window.held.splice(0).forEach((answer) => answer("the disk is away")));
  await column.getByText(/The plan could not be read: .*the disk is away/).waitFor();
  for (const saying of sayings) assert.equal(await column.getByText(saying).count(), 0, saying);
  await page.evaluate(() => (window.isReleased = true));
  await column.getByRole("button", { name: "Try again" }).first().click();
  await column.getByText("The agent has made no plan.").waitFor();
  await page.reload();
  await page.waitForFunction(() => window.held?.length >= 4);
  await page.evaluate(() => {
    window.isReleased = true;
    window.held.splice(0).forEach((answer) => answer());
  });
  for (const saying of ["The agent has made no plan.", "Nothing is changed in this workspace."]) await column.getByText(saying).waitFor();
});

test("marks, totals and edited files are those of the whole session, however many pages they take", async (test) => {
  const { daemon, page } = await world(test);
  const call = await daemon.device();
  const names = ["one.txt", "two.txt", "three.txt"];
  const id = await work(call, names.map((name) => `edit ${name}`));
  const { record } = await call("session/get", { session_id: id });
  await between(page, (message, pass) => pass(message), (request) => {
    if (request.method === "log/read" && request.params.types && request.params.types[0] !== "plan.updated") request.params.limit = 2;
  });
  await page.goto(new URL(`/s/${id}`, page.url()).href);
  await transcriptOf(page).getByText(/Done in \d/).first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".ticks .prompt").length === 3);
  const { input_tokens, output_tokens, tool_calls } = record.usage;
  await columnOf(page).getByRole("img", { name: `Tokens after each answer, ${input_tokens + output_tokens} in all` }).waitFor();
  const last = (await eventsOf(call, id)).at(-1).seq;
  await page.goto(new URL(`/s/${id}?then#${last - 1}`, page.url()).href);
  for (const name of names) await columnOf(page).getByText(name).waitFor();
  assert.ok(tool_calls >= names.length);
});

test("what retention removed is said to be gone, no moment of it is offered, and what is left is exported", async (test) => {
  const { daemon, page } = await world(test);
  const call = await daemon.device();
  const id = await work(call, ["hello", "plan", "hello"]);
  const events = await eventsOf(call, id);
  await daemon.stop();
  const first = await removeBeginning(daemon, id, events.find((event) => event.type === "task.completed").seq);
  await daemon.start();
  assert.ok(first > 1 && first < events.at(-1).seq, `something is left from ${first} on`);
  await page.goto(new URL(`/s/${id}`, page.url()).href);
  await transcriptOf(page).getByText(/What happened before .* was removed by retention\./).waitFor();
  await page.waitForFunction((first) => document.querySelector("input[type=range]")?.min === String(first), first);
  await page.goto(new URL(`/s/${id}?then#1`, page.url()).href);
  await transcriptOf(page).getByText("What happened here was removed by retention.").waitFor();
  await page.goto(new URL(`/s/${id}`, page.url()).href);
  await transcriptOf(page).getByText(/Done in \d/).first().waitFor();
  const saved = (await save(page, "Export all events")).trimEnd().split("\n").map((line) => JSON.parse(line).seq);
  assert.deepEqual(saved, (await eventsOf(call, id, first - 1)).map((event) => event.seq));
  assert.match(await save(page, "Export as text"), /was removed by retention/);
});

test("a page that was away while retention removed what it missed shows what is left, and goes on", async (test) => {
  const { daemon, cable, page } = await world(test);
  const call = await daemon.device();
  const id = await work(call, ["hello"]);
  await page.goto(new URL(`/s/${id}`, page.url()).href);
  await transcriptOf(page).getByText(/Done in \d/).waitFor();
  cable.cut();
  await page.locator("[data-phase=offline]").waitFor();
  await work(call, ["hello", "plan"], id);
  const events = await eventsOf(call, id);
  await daemon.stop();
  await removeBeginning(daemon, id, events.filter((event) => event.type === "task.completed")[1].seq);
  await daemon.start();
  cable.mend();
  await page.getByRole("button", { name: "Try now" }).click();
  await page.locator("[data-phase=offline]").waitFor({ state: "detached" });
  await transcriptOf(page).getByText(/was removed by retention/).waitFor();
  await columnOf(page).getByText("Check the result").waitFor();
  await page.getByRole("textbox", { name: "Prompt" }).fill("hello");
  await page.getByRole("button", { name: /^(Send|Resume)$/ }).click();
  await transcriptOf(page).locator(".markdown").filter({ hasText: "Hello from the demo agent." }).last().waitFor();
});

test("who looks at a session is named there, once they have spoken", async (test) => {
  const { daemon, page } = await world(test);
  const call = await daemon.device("operate", "Ada's tablet");
  const id = await work(call, ["hello"]);
  await page.goto(new URL(`/s/${id}`, page.url()).href);
  await transcriptOf(page).getByText(/Done in \d/).waitFor();
  const other = await openDevice(test, page.context().browser(), "phone");
  await pair(other, daemon);
  await other.goto(`${daemon.http}/s/${id}`);
  await page.getByRole("button", { name: "2 viewers" }).click();
  const sheet = page.getByRole("dialog", { name: "Who looks at this session" });
  await sheet.getByText("a device that has not spoken here yet").waitFor();
  await sheet.getByRole("button", { name: "Close" }).click();
  await other.getByRole("textbox", { name: "Prompt" }).fill("hello");
  await other.getByRole("button", { name: "Send" }).click();
  await transcriptOf(page).getByText(/Done in \d/).nth(1).waitFor();
  await page.getByRole("button", { name: "2 viewers" }).click();
  await sheet.getByText("Chrome on Linux").waitFor();
});
