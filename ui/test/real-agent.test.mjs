// The main path with a real agent: Claude Code, pinned, in a home of its own, with the scripted model in place of its
// provider. MODEL is the path of that model; `cargo xtask test` builds it and installs the agents.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile } from "node:fs/promises";
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
