// A real daemon in a home of its own, with a repository as its workspace. ROOST is the path of the binary; `cargo xtask
// test` sets it.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const { ROOST, PATH } = process.env;
const run = promisify(execFile);

export class Daemon {
  /** @type {string} */ home;
  #process;
  #port = "0";
  /** Its address, such as `http://127.0.0.1:8766`; the same after `stop` and `start`. */
  http = "";

  /** The name of the workspace's folder. */
  #folder = "project";

  /** Starts a daemon; `config` is what stands in `roost.toml`, `home` a new folder unless one is given. */
  static async start(config = "", home = undefined, folder = "project") {
    if (!ROOST) throw new Error("ROOST is not set to the path of the roost binary; run `cargo xtask ui test`");
    const daemon = new Daemon();
    daemon.#folder = folder;
    daemon.home = home ?? (await mkdtemp(join(tmpdir(), "roost-ui-")));
    await mkdir(daemon.work, { recursive: true });
    // A test starts more in a minute than a person does.
    const limits = "[limits]\nstarts_per_minute = 1000\nchanges_per_minute = 1000\n";
    await writeFile(join(daemon.home, "roost.toml"), `${limits}\n${config}`);
    await daemon.git("init", "-q", "-b", "main");
    await writeFile(join(daemon.work, "README.md"), "# A project\n\nIt has one file.\n");
    await mkdir(join(daemon.work, "src"));
    await writeFile(join(daemon.work, "src/main.rs"), 'fn main() {\n    println!("hello");\n}\n');
    await daemon.git("add", ".");
    await daemon.git("commit", "-qm", "begin");
    await daemon.start();
    return daemon;
  }

  get work() {
    return join(this.home, this.#folder);
  }

  get #options() {
    const env = { PATH, HOME: this.home, ROOST_CONFIG: join(this.home, "roost.toml"), GIT_CONFIG_GLOBAL: join(this.home, ".gitconfig") };
    return { env, cwd: this.work };
  }

  async git(...args) {
    const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    if (args[0] === "init") await writeFile(join(this.home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n");
    const { stdout } = await run("git", [...who, ...args], this.#options);
    return stdout;
  }

  /** Runs a command of `roost` and returns what it prints. */
  async roost(...args) {
    return (await run(ROOST, args, this.#options)).stdout;
  }

  async start() {
    const args = ["serve", "--port", this.#port, "--repo", "."];
    this.#process = spawn(ROOST, args, { ...this.#options, stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: this.#process.stdout });
    // It says, for example, "Roost is running at http://127.0.0.1:8766; press Ctrl-C to stop it."
    const [line] = await once(lines, "line");
    this.http = /(http:\/\/[^;\s]+)/.exec(line)[1];
    this.#port = new URL(this.http).port;
  }

  /** Ends it as a service manager would. */
  async stop() {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGTERM");
    await exited;
  }

  async remove() {
    await this.stop();
    await rm(this.home, { recursive: true, force: true });
  }

  /** What `roost pair --json` prints: an address for the desk in `page`, a code in `code`. */
  async offer(scope = "operate") {
    return JSON.parse(await this.roost("pair", "--json", "--scope", scope));
  }

  /** The access token of a new device. */
  async token(scope, name) {
    const { token } = await this.offer(scope);
    const body = JSON.stringify({ pairing_token: token, name });
    const answer = await fetch(`${this.http}/api/auth/exchange`, { method: "POST", headers: { "content-type": "application/json" }, body });
    return (await answer.json()).access_token;
  }

  /** A new device, as a function that calls methods. */
  async device(scope = "operate", name = "a helper") {
    const access_token = await this.token(scope, name);
    return async (method, params = {}) => {
      const called = await fetch(`${this.http}/api/rpc`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${access_token}` },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      const { result, error } = await called.json();
      if (error) throw new Error(`${method}: ${error.message}`);
      return result;
    };
  }

  /** A new device that is an MCP client of the gateway, as a function that calls tools. */
  async mcpClient(name = "a client") {
    const authorization = `Bearer ${await this.token("operate", name)}`;
    const post = async (message, headers = {}) => {
      const all = { authorization, "content-type": "application/json", accept: "application/json, text/event-stream", ...headers };
      return fetch(`${this.http}/mcp`, { method: "POST", headers: all, body: JSON.stringify({ jsonrpc: "2.0", ...message }), signal: AbortSignal.timeout(30_000) });
    };
    const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name, version: "1.0.0" } };
    const begun = await post({ id: 1, method: "initialize", params: hello });
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id"), "mcp-protocol-version": "2025-06-18" };
    await begun.text();
    await (await post({ method: "notifications/initialized" }, session)).text();
    return async (tool, args) => (await post({ id: 2, method: "tools/call", params: { name: tool, arguments: args } }, session)).text();
  }
}
