// The main path with a real agent: Claude Code, pinned, in a home of its own, with the scripted model in place of its
// provider. MODEL is the path of that model; `cargo xtask test` builds it and installs the agents.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { openBrowser, openDevice, pair } from "./browser.mjs";
import { Daemon } from "./daemon.mjs";

const { MODEL, PATH, HOME, XDG_CACHE_HOME } = process.env;
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Starts the model, which prepares a home whose agents ask it; returns that home and its settings. */
async function startModel(test) {
  if (!MODEL) throw new Error("MODEL is not set to the path of the scripted model; run `cargo xtask ui test`");
  const home = await mkdtemp(join(tmpdir(), "roost-ui-real-"));
  // It finds the installed agents in the cache of whoever runs the tests.
  const env = { PATH, HOME, ...(XDG_CACHE_HOME && { XDG_CACHE_HOME }) };
  const model = spawn(MODEL, ["--roost", home], { env, stdio: ["ignore", "pipe", "inherit"] });
  test.after(async () => {
    const exited = once(model, "exit");
    model.kill("SIGINT");
    await exited;
  });
  await once(createInterface({ input: model.stdout }), "line");
  return { home, config: await readFile(join(home, "roost.toml"), "utf8") };
}

test("Claude Code is prompted, asks, is allowed, writes a file, and sees a picture", async (test) => {
  const { home, config } = await startModel(test);
  const daemon = await Daemon.start(config, home);
  test.after(() => daemon.remove());
  const browser = await openBrowser(test);
  const [desk, phone] = [await openDevice(test, browser, "desk"), await openDevice(test, browser, "phone")];
  await pair(desk, daemon);
  await pair(phone, daemon);
  await desk.goto(`${daemon.http}/new`);
  await desk.getByRole("radio", { name: /^Claude Code/ }).first().check();
  const field = desk.getByRole("textbox", { name: "Prompt" });
  await field.fill("SCRIPT:write");
  await desk.getByRole("button", { name: "Start", exact: true }).click();
  await desk.waitForURL(/\/s\//);
  await phone.locator("[data-pending]").first().click({ timeout: 60_000 });
  await phone.getByRole("dialog").getByText("out.txt").first().waitFor();
  await phone.getByRole("dialog").getByRole("button", { name: "Allow once" }).click();
  await desk.getByText(/Done in \d/).waitFor({ timeout: 60_000 });
  assert.equal(existsSync(join(daemon.work, "out.txt")), true);
  await desk.locator("input[type=file]").setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: Buffer.from(PIXEL, "base64") });
  await field.fill("SCRIPT:look");
  await desk.getByRole("button", { name: "Send" }).click();
  const picture = desk.getByRole("img", { name: /dot\.png|picture/ });
  await picture.waitFor();
  assert.equal(await picture.evaluate((image) => image.decode().then(() => image.naturalWidth)), 1);
  await desk.getByText(/LOOK saw 1 image/).first().waitFor({ timeout: 60_000 });
});

test("Claude Code is steered while it works, its commands are completed, and model and thought are those that were chosen", async (test) => {
  const { home, config } = await startModel(test);
  const daemon = await Daemon.start(config, home);
  test.after(() => daemon.remove());
  await mkdir(join(daemon.work, ".claude/commands"), { recursive: true });
  await writeFile(join(daemon.work, ".claude/commands/tides.md"), "---\ndescription: Tells the tides of today\n---\nTell me the tides of today.\n");
  const desk = await openDevice(test, await openBrowser(test), "desk");
  await pair(desk, daemon);
  const field = desk.getByRole("textbox", { name: "Prompt" });
  const begin = async (prompt) => {
    await field.fill(prompt);
    await desk.getByRole("button", { name: "Start", exact: true }).click();
    await desk.waitForURL(/\/s\//);
    return new URL(desk.url()).pathname.split("/").at(-1);
  };
  const call = await daemon.device();
  const started = async (session_id) => (await call("log/read", { session_id, before_seq: Number.MAX_SAFE_INTEGER, types: ["task.started", "task.steered"] })).events.map((event) => event.type);

  await desk.goto(`${daemon.http}/new`);
  await desk.getByRole("radio", { name: /^Claude Code/ }).first().check();
  // While the call waits, the task cannot be over.
  await desk.getByLabel("Model").fill("claude-haiku-4-5");
  const session_id = await begin("SCRIPT:shell RUN:touch steered.txt");
  await desk.locator("[data-ask]").first().waitFor({ timeout: 60_000 });
  await field.fill("NOTE:blue");
  await desk.getByRole("button", { name: "Steer", exact: true }).click();
  await desk.waitForFunction(() => document.querySelector("textarea").value === "");
  await desk.locator(".bubble").filter({ hasText: "NOTE:blue" }).waitFor();
  assert.deepEqual(await started(session_id), ["task.started", "task.steered"], "it is the same task");
  await desk.getByRole("button", { name: "Allow once", disabled: false }).click();
  await desk.getByText(/Done in \d/).waitFor({ timeout: 60_000 });
  await desk.locator(".markdown").filter({ hasText: "blue" }).first().waitFor();

  await field.pressSequentially("/ti");
  await desk.getByRole("option", { name: /\/tides Tells the tides of today/ }).waitFor();
  await desk.keyboard.press("Tab");
  assert.equal(await field.inputValue(), "/tides ");
  await field.fill("");

  await desk.getByRole("button", { name: "Settings of this session" }).click();
  const sheet = desk.getByRole("dialog", { name: "This session" });
  const changed = async (want) => {
    const { model, thought_level } = await call("session/get", { session_id });
    assert.deepEqual([model, thought_level.current], want);
  };
  await sheet.getByLabel("How much it thinks").selectOption("high");
  await desk.getByText("Changed, from the next task on", { exact: true }).waitFor();
  await changed(["claude-haiku-4-5", "high"]);
  await sheet.getByLabel("Model").fill("claude-opus-4-1");
  await sheet.getByRole("button", { name: "Change", exact: true }).click();
  await sheet.getByRole("button", { name: "Change", exact: true, disabled: true }).waitFor();
  await changed(["claude-opus-4-1", "high"]);
  await sheet.getByRole("button", { name: "Close" }).click();
  await desk.locator(".facts").getByText("claude-opus-4-1").waitFor();
  await desk.goto(`${daemon.http}/new`);
  await desk.getByRole("radio", { name: /^Claude Code/ }).first().check();
  await desk.getByLabel("How much it thinks").selectOption("low");
  const second = await begin("SCRIPT:text");
  await desk.getByText(/Done in \d/).waitFor({ timeout: 60_000 });
  assert.notEqual(second, session_id);
  assert.equal((await call("session/get", { session_id: second })).thought_level.current, "low");
});

test("a dangerous call that Claude's own settings ask about needs two taps, too", async (test) => {
  const { home, config } = await startModel(test);
  await mkdir(join(home, ".claude"), { recursive: true });
  const settings = join(home, ".claude/settings.json");
  const known = JSON.parse(await readFile(settings, "utf8").catch(() => "{}"));
  await writeFile(settings, JSON.stringify({ ...known, permissions: { ask: ["Bash(rm:*)"] } }));
  const daemon = await Daemon.start(config, home);
  test.after(() => daemon.remove());
  await writeFile(join(daemon.work, "old.txt"), "x");
  const desk = await openDevice(test, await openBrowser(test), "desk");
  await pair(desk, daemon);
  const call = await daemon.device();
  const [{ id }] = (await call("workspace/list")).workspaces;
  const { session_id } = await call("session/send", { workspace_id: id, agent_type: "claude", mode: "new", prompt: "SCRIPT:shell RUN:rm -rf old.txt" });
  await desk.goto(`${daemon.http}/s/${session_id}`);
  const card = desk.locator("[data-ask]").first();
  await card.getByText(/claude_settings:ask/).waitFor({ timeout: 60_000 });
  await card.getByText(/Dangerous/).waitFor();
  await card.getByRole("button", { name: "Allow once" }).click();
  await card.getByRole("button", { name: "Tap again to allow", disabled: false }).waitFor();
  assert.equal(existsSync(join(daemon.work, "old.txt")), true);
  await card.getByRole("button", { name: "Tap again to allow" }).click();
  await desk.getByText(/Done in \d/).waitFor({ timeout: 60_000 });
  assert.equal(existsSync(join(daemon.work, "old.txt")), false);
});

test("a session that goes on in its own terminal is read to its beginning, and what is said there appears by itself", async (test) => {
  const { home, config } = await startModel(test);
  const daemon = await Daemon.start(config, home);
  test.after(() => daemon.remove());
  const id = "f572775b-7935-4b2a-9a81-3ab792de145b";
  const line = (number) => {
    const [type, content] = number % 2 ? ["assistant", [{ type: "text", text: `answer ${number}` }]] : ["user", number ? `question ${number}` : "an old talk"];
    const uuid = (of) => `00000000-0000-4000-8000-${String(of).padStart(12, "0")}`;
    const parentUuid = number ? uuid(number - 1) : null;
    const timestamp = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString();
    return `${JSON.stringify({ type, uuid: uuid(number), parentUuid, sessionId: id, cwd: daemon.work, timestamp, message: { role: type, content } })}\n`;
  };
  const folder = join(home, ".claude/projects", daemon.work.replace(/[^A-Za-z0-9]/g, "-"));
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${id}.jsonl`);
  await writeFile(file, Array.from({ length: 450 }, (_, number) => line(number)).join(""));
  const desk = await openDevice(test, await openBrowser(test), "desk");
  await pair(desk, daemon);
  await desk.getByRole("link", { name: /an old talk/ }).first().click();
  const transcript = desk.getByRole("log", { name: "Transcript" });
  await transcript.getByText("answer 449").waitFor();
  await appendFile(file, line(450) + line(451));
  await transcript.getByText("answer 451").waitFor();
  await transcript.locator(".scroll-area").hover();
  for (let tries = 0; tries < 60 && (await transcript.getByText("an old talk").count()) === 0; tries++) {
    await desk.mouse.wheel(0, -4_000);
    await desk.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  }
  await transcript.getByText("an old talk").waitFor();
});

test("a file that Codex would add is a diff wherever somebody decides about it, and is counted afterwards", async (test) => {
  const { home, config } = await startModel(test);
  const daemon = await Daemon.start(config, home);
  test.after(() => daemon.remove());
  const desk = await openDevice(test, await openBrowser(test), "desk");
  await pair(desk, daemon);
  const call = await daemon.device();
  const [{ id }] = (await call("workspace/list")).workspaces;
  const { session_id } = await call("session/send", { workspace_id: id, agent_type: "codex", mode: "new", prompt: "SCRIPT:write" });
  await desk.locator("[data-pending]").getByText(/out\.txt/).first().waitFor({ timeout: 60_000 });
  await desk.goto(`${daemon.http}/s/${session_id}`);
  const card = desk.getByRole("log", { name: "Transcript" }).locator("[data-ask]").first();
  await card.getByText("Create a file").waitFor();
  await card.getByText("out.txt", { exact: true }).waitFor();
  await card.getByRole("region", { name: "Changes" }).locator(".added").waitFor();
  assert.doesNotMatch(await card.innerText(), /"(changes|diff)"/);
  await card.getByRole("button", { name: "Allow once" }).click();
  await desk.getByText(/Done in \d/).waitFor({ timeout: 60_000 });
  assert.equal(existsSync(join(daemon.work, "out.txt")), true);
  const { events } = await call("log/read", { session_id, before_seq: Number.MAX_SAFE_INTEGER, limit: 1 });
  await desk.goto(`${daemon.http}/s/${session_id}?then#${events[0].seq - 1}`);
  const column = desk.getByRole("complementary", { name: "About this session" });
  await column.getByText("out.txt").waitFor();
  await column.getByText("+1").waitFor();
});
