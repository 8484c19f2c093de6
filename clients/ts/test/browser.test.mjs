// The client in a page of a real browser: it pairs, runs the demo agent and reads what it says. BROWSER is the path of
// Chromium; `cargo xtask test` sets it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Daemon } from "./daemon.mjs";

const { BROWSER, ROOST } = process.env;
const withBrowser = { skip: BROWSER && ROOST ? false : "BROWSER and ROOST are not set to the paths of Chromium and roost" };
const dist = fileURLToPath(new URL("../dist", import.meta.url));

/** What the page does; the test reads what it sends to `/result`. */
async function page({ http, url, code }) {
  const { Client, pair, tokenSource } = await import("/roost-client/client.js");
  const tokens = await pair(http, code, { name: "a page" });
  const client = new Client({ url, token: tokenSource(http, tokens, () => {}) });
  await client.connect();
  let said = "";
  const ended = new Promise((resolve) => {
    client.on("batch", ({ events }) => {
      for (const { type, payload } of events) {
        if (type === "model.output.delta") said += payload.delta;
        if (type === "task.completed") resolve();
      }
    });
  });
  await client.subscribe({ format: "normalized", after: "beginning" });
  const { workspaces } = await client.call("workspace/list");
  const { session_id } = await client.call("session/start", { workspace_id: workspaces[0].id, mode: "new", agent_type: "demo" });
  await client.call("session/send", { session_id, prompt: "hello" });
  await ended;
  client.close();
  return said;
}

/** Serves the package and the page, and resolves with what the page sends. */
async function serve(test, html) {
  let received;
  const result = new Promise((resolve) => (received = resolve));
  const server = createServer(async (request, response) => {
    if (request.url === "/result") {
      const pieces = await request.toArray();
      response.end();
      received(JSON.parse(Buffer.concat(pieces)));
    } else if (request.url.startsWith("/roost-client/")) {
      response.setHeader("content-type", "text/javascript");
      response.end(await readFile(join(dist, basename(request.url))));
    } else {
      response.setHeader("content-type", "text/html");
      response.end(request.url === "/" ? html : "");
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  test.after(() => server.close());
  return { address: `http://localhost:${server.address().port}/`, result };
}

/** Opens an address in a browser with a profile of its own; resolves if it ends. */
async function open(test, address) {
  const profile = await mkdtemp(join(tmpdir(), "roost-client-browser-"));
  // The sandbox needs rights that a container may not have; the page is our own.
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", `--user-data-dir=${profile}`];
  const browser = spawn(BROWSER, [...flags, address], { stdio: ["ignore", "ignore", "pipe"], env: { PATH: process.env.PATH, HOME: profile } });
  let complaints = "";
  browser.stderr.on("data", (text) => (complaints += text));
  const exited = once(browser, "exit");
  test.after(async () => {
    browser.kill("SIGKILL");
    await exited;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  });
  return exited.then(() => assert.fail(`the browser ended: ${complaints}`));
}

test("a page in a browser pairs, prompts an agent and reads what it says", withBrowser, async (test) => {
  const daemon = await Daemon.start(test);
  const { code } = await daemon.offer();
  const settings = JSON.stringify({ http: daemon.http, url: daemon.url, code });
  const script = `
    const send = (result) => fetch("/result", { method: "POST", body: JSON.stringify(result) });
    (${page})(${settings}).then((said) => send({ said }), (error) => send({ error: String(error.stack) }));`;
  const { address, result } = await serve(test, `<!doctype html><title>test</title><script type="module">${script}</script>`);
  const ended = open(test, address);
  const { said, error } = await Promise.race([result, ended]);
  assert.equal(error, undefined);
  assert.equal(said, "Hello from the demo agent.");
});
