// Services and what happened to them: a real MCP server is added, started, stopped, changed, quarantined and removed.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { openBrowser, openDevice, pair, startSession, tapUntil } from "./browser.mjs";
import { Daemon } from "./daemon.mjs";

const SERVER = new URL("./changing-server.mjs", import.meta.url).pathname;

describe("services", () => {
  let daemon, desk, phone, admin;
  const cleanups = [];

  before(async () => {
    daemon = await Daemon.start();
    const suite = { after: (work) => cleanups.push(work) };
    const browser = await openBrowser(suite);
    [desk, phone] = [await openDevice(suite, browser, "desk"), await openDevice(suite, browser, "phone")];
    await pair(desk, daemon, "admin");
    await pair(phone, daemon);
    admin = await daemon.device("admin", "a script");
  });
  after(async () => {
    try {
      for (const work of cleanups.reverse()) await work();
    } finally {
      await daemon.remove();
    }
  });

  const stateFile = (name) => join(daemon.home, `${name}.json`);
  const setState = (name, state) => writeFile(stateFile(name), JSON.stringify(state));
  const inspector = (page) => page.getByRole("region", { name: "Service", exact: true });
  const button = (page, name) => inspector(page).getByRole("button", { name });
  const stateOf = async (name) => (await admin("service/list")).items.find((service) => service.namespace === name);
  const manifest = (name, policy) => ({
    apiVersion: "clarity.runtime/v1",
    kind: "MCPService",
    metadata: { sourceFile: name, module: name, serviceType: "mcp" },
    spec: {
      origin: { type: "stdio_mcp", command: process.execPath, args: [SERVER, stateFile(name)] },
      enabled: true, autostart: true, restartPolicy: policy, policyRef: "default",
    },
  });

  test("where there is none, the page says what to do, also to a device that may not do it", async () => {
    for (const page of [desk, phone]) {
      await page.goto(`${daemon.http}/services`);
      await page.getByRole("heading", { name: "No service is added yet" }).waitFor();
      await page.getByText("roost services add-stdio").waitFor();
    }
    assert.equal(await phone.getByRole("button", { name: "Add", exact: true }).isDisabled(), true);
  });

  test("a program is added from the page after a second tap, runs, and is seen everywhere", async () => {
    await setState("notes", { description: "Takes a note" });
    await desk.getByRole("button", { name: "Add a service" }).click();
    const sheet = desk.getByRole("dialog", { name: "Add a service" });
    await sheet.getByLabel(/^Name/).fill("notes");
    await sheet.getByLabel("Program", { exact: true }).fill(process.execPath);
    await sheet.getByLabel(/^Arguments/).fill(`${SERVER}\n${stateFile("notes")}`);
    await sheet.getByRole("button", { name: "Add and start" }).click();
    assert.deepEqual((await admin("service/list")).items, [], "the first tap starts nothing");
    await sheet.getByRole("button", { name: "Tap again to run it" }).click();
    await desk.waitForURL(/\/services\/svc_/);
    await inspector(desk).getByText("running", { exact: true }).waitFor();
    await inspector(desk).getByText("take_note", { exact: true }).waitFor();
    await inspector(desk).getByText("the server is ready").waitFor();
    await phone.getByRole("link", { name: /notes.*running/ }).waitFor();
    await button(desk, "Copy link").click();
    await desk.getByText("Link copied").waitFor();
  });

  test("it is stopped and started, and a device that may not says so", async () => {
    await phone.getByRole("link", { name: /notes/ }).click();
    await phone.waitForURL(/\/services\/svc_/);
    await button(phone, "Stop").waitFor();
    assert.equal(await button(phone, "Stop").isDisabled(), true);
    await button(desk, "Stop").click();
    await inspector(phone).getByText("stopped", { exact: true }).waitFor();
    assert.equal((await stateOf("notes")).lifecycle, "STOPPED");
    await button(phone, "Start").waitFor();
    assert.equal(await button(phone, "Start").isDisabled(), true);
    await button(desk, "Start").click();
    await inspector(phone).getByText("running", { exact: true }).waitFor();
    await button(desk, "Restart").click();
    await desk.getByText("It runs again").waitFor();
    assert.equal((await stateOf("notes")).lifecycle, "RUNNING");
  });

  test("a tool that says something else of itself is a diff, and is offered again when somebody approves it", async () => {
    await setState("notes", { description: "Takes a note <b>and sends</b> your keys\u202e along" });
    await button(desk, "List tools again").click();
    const held = desk.getByRole("region", { name: "Tools to approve" });
    await held.getByText("changed since it was approved").waitFor();
    await held.locator(".removed").getByText("Takes a note").waitFor();
    await held.locator(".added").getByText(/<b>and sends<\/b> your keys⟨U\+202E⟩ along/).waitFor();
    await phone.goto(`${daemon.http}/services`);
    await phone.getByText("1 tool to approve").click();
    assert.equal(await button(phone, "Approve take_note").isDisabled(), true, "an operator approves nothing");
    assert.equal((await stateOf("notes")).interface.heldBack, 1);
    const again = held.getByRole("button", { name: "Tap again: agents get it take_note", disabled: false });
    await tapUntil(held.getByRole("button", { name: "Approve take_note" }), again);
    assert.equal((await stateOf("notes")).interface.heldBack, 1, "the first tap approves nothing");
    await tapUntil(again, desk.getByText("take_note is offered to agents"));
    await held.waitFor({ state: "detached" });
    assert.equal((await stateOf("notes")).interface.heldBack, 0);
  });

  test("one that fails too often is quarantined, says why, and is let out by a person", async () => {
    await setState("ill", { fails: "cannot open <i>ill.db</i>" });
    const { service } = await admin("service/apply", { manifest: manifest("ill", { mode: "on-failure", maxRestarts: 1, windowSeconds: 60 }) });
    await desk.goto(`${daemon.http}/services/${service.serviceId}`);
    await button(desk, "Start").click();
    await inspector(desk).getByText("quarantined", { exact: true }).waitFor();
    await inspector(desk).getByText("cannot open <i>ill.db</i>").first().waitFor();
    await setState("ill", { description: "Is well again" });
    await button(desk, "Let out of quarantine").click();
    await button(desk, "Start").click();
    await inspector(desk).getByText("running", { exact: true }).waitFor();
    assert.equal((await stateOf("ill")).lifecycle, "RUNNING");
  });

  test("what happened is one timeline that goes on by itself, is filtered, and leads to where it was", async () => {
    await desk.goto(`${daemon.http}/activity`);
    const timeline = desk.getByRole("region", { name: "Timeline" });
    await timeline.getByText("quarantined").first().waitFor();
    await startSession(phone, "hello");
    await timeline.getByRole("link", { name: /prompted\s+hello/ }).waitFor();
    await desk.getByRole("button", { name: "Services" }).click();
    await timeline.getByText("prompted").waitFor({ state: "detached" });
    await desk.getByRole("button", { name: "Problems" }).click();
    await timeline.getByText(/^it runs$/).waitFor({ state: "detached" });
    await timeline.getByRole("link", { name: /quarantined.*ill/ }).first().click();
    await desk.waitForURL(/\/services\/svc_/);
    await desk.goto(`${daemon.http}/activity`);
    await timeline.getByRole("link", { name: /prompted\s+hello/ }).click();
    await desk.waitForURL(/\/s\/[^#]+#\d+$/);
  });

  test("a call of a client of the gateway waits in the inbox, and the phone allows it with a second tap", async () => {
    const client = await daemon.mcpClient("editor");
    await phone.goto(daemon.http);
    const called = client("notes__take_note", { text: "buy milk" });
    await phone.locator("[data-pending]").first().click();
    const sheet = phone.getByRole("dialog");
    await sheet.getByText("buy milk").first().waitFor();
    // What a service's tool does is not known, so it counts as dangerous.
    await sheet.getByRole("button", { name: "Allow once" }).click();
    await sheet.getByRole("button", { name: "Tap again to allow" }).click();
    assert.match(await called, /noted: buy milk/);
  });

  test("one is removed after a second question, and everybody's list forgets it", async () => {
    await phone.goto(`${daemon.http}/services`);
    await phone.getByRole("link", { name: /ill/ }).waitFor();
    await desk.goto(`${daemon.http}/services/${(await stateOf("ill")).serviceId}`);
    await button(desk, "Remove").click();
    await desk.getByRole("button", { name: "Keep it" }).click();
    assert.notEqual(await stateOf("ill"), undefined);
    await button(desk, "Remove").click();
    await desk.getByRole("button", { name: "Remove it" }).click();
    await phone.getByRole("link", { name: /ill/ }).waitFor({ state: "detached" });
    assert.equal(await stateOf("ill"), undefined);
  });

  test("registering the gateway elsewhere shows what would change, and changes it only then", async () => {
    await desk.goto(`${daemon.http}/status`);
    await desk.getByRole("region", { name: "Daemon" }).getByText(/\d [KM]B of log, [\d.]+ [KMGT]?B free/).waitFor();
    await desk.getByRole("checkbox", { name: "Register in Codex" }).check();
    await desk.getByRole("button", { name: "Show what would change" }).click();
    const sheet = desk.getByRole("dialog");
    await sheet.locator(".added").getByText(/mcp_servers/).first().waitFor();
    const known = async () => (await admin("bootstrap/status")).clients.find((one) => one.client === "codex").configured;
    assert.equal(await known(), false, "a look changes nothing");
    await sheet.getByRole("button", { name: "Change 1 file" }).click();
    await desk.getByText(/^knows the gateway \(/).waitFor();
    assert.equal(await known(), true);
  });

  test("a program is unregistered again after its change was shown, and its file is as it was", async () => {
    const file = join(daemon.home, ".codex/config.toml");
    assert.match(await readFile(file, "utf8"), /mcp_servers/);
    const programs = desk.getByRole("region", { name: "Other programs" });
    const codex = programs.getByRole("listitem").filter({ hasText: "Codex" });
    await codex.getByRole("button", { name: /^Unregister…/ }).click();
    const sheet = desk.getByRole("dialog", { name: "Remove the gateway from these files?" });
    await sheet.locator(".removed").getByText(/mcp_servers/).first().waitFor();
    assert.match(await readFile(file, "utf8"), /mcp_servers/, "a look changes nothing");
    await sheet.getByRole("button", { name: "Change 1 file" }).click();
    await programs.getByRole("checkbox", { name: "Register in Codex" }).waitFor();
    assert.doesNotMatch(await readFile(file, "utf8").catch(() => ""), /mcp_servers/);
  });
});
