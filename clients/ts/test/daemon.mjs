// A real daemon in a home of its own, for tests. ROOST is the path of the binary; `cargo xtask test` sets it.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const { ROOST, PATH } = process.env;
/** For tests that need a daemon. */
export const withDaemon = { skip: ROOST ? false : "ROOST is not set to the path of the roost binary" };

export class Daemon {
  #home;
  #process;
  /** Its address, such as `127.0.0.1:8766`. The same after `stop` and `start`. */
  address = "127.0.0.1:0";

  /** Starts a daemon, and removes it with all that it wrote when the test ends. */
  static async start(test) {
    const daemon = new Daemon();
    daemon.#home = await mkdtemp(join(tmpdir(), "roost-client-"));
    await mkdir(join(daemon.#home, "work"));
    test.after(async () => {
      await daemon.stop();
      await rm(daemon.#home, { recursive: true, force: true });
    });
    await daemon.start();
    return daemon;
  }

  get url() {
    return `ws://${this.address}/ws`;
  }

  get http() {
    return `http://${this.address}`;
  }

  get #options() {
    return { env: { PATH, HOME: this.#home }, cwd: join(this.#home, "work") };
  }

  async start() {
    const port = this.address.split(":")[1];
    const stdio = ["ignore", "pipe", "inherit"];
    this.#process = spawn(ROOST, ["serve", "--port", port, "--repo", "."], { ...this.#options, stdio });
    const lines = createInterface({ input: this.#process.stdout });
    // It says, for example, "Roost is running at http://127.0.0.1:8766; press Ctrl-C to stop it."
    const [line] = await once(lines, "line");
    this.address = /http:\/\/([^;\s]+)/.exec(line)[1];
  }

  /** Ends it as a service manager would. */
  async stop() {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGTERM");
    await exited;
  }

  /** What `roost pair --json` prints. */
  async offer() {
    const { stdout } = await promisify(execFile)(ROOST, ["pair", "--json"], this.#options);
    return JSON.parse(stdout);
  }
}
