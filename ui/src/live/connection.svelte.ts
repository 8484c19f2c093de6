// The one connection of the page, and whether what the screen shows is live.

import { Client, ConnectionLost, NotConnected, RoostError, TokenRefused, type InitializeResult, type Methods, type RuntimeEntry, type ServerCapabilities } from "roost-client";
import { rememberOwnClient } from "./own-clients";
import { version } from "../../package.json";
import { accessToken, forget, keepFresh, onChange, revoke, stored } from "./tokens";

/** Seconds before each try to connect again (seed 004); after ten tries it is once a minute. */
export const LADDER = [1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 60];
/** The version of the daemon that this page was built with; `cargo xtask test` holds the two together. */
export const PAGE_VERSION = version;

/** How long the daemon may take to say that it is there when somebody looks at the page again, in seconds. */
const PROBE_S = 2.5;
/** It says something at least this often, in milliseconds; a page that heard nothing for longer was asleep. */
const SILENCE_MS = 30_000;

/** The default agent of a daemon without a registry. */
const OLD_DEFAULT = "claude";

/** What the page shows of an agent. */
export type Agent = Pick<RuntimeEntry, "id" | "displayName" | "status" | "availability">;

export type Phase =
  /** Nobody has paired this browser. */
  | "unpaired"
  /** The first connection is on its way. */
  | "connecting"
  /** What the screen shows is how it is. */
  | "live"
  /** The connection is there again, and what was missed is being read. */
  | "resuming"
  /** There is no connection; what the screen shows is old. */
  | "offline"
  /** The daemon does not know this browser any more. */
  | "revoked";

type Params<M extends keyof Methods> = Methods[M]["params"];
type Result<M extends keyof Methods> = Methods[M]["result"];

class LiveConnection {
  phase = $state<Phase>("unpaired");
  /** When the screen was last live; absent while it is, and as long as it never was. */
  asOf = $state<Date>();
  /** When the next try to connect comes, in milliseconds since 1970. */
  nextTry = $state(0);
  /** Why there is no connection, or why it ended for good. */
  reason = $state("");
  hello = $state.raw<InitializeResult>();
  /** Absent until this browser is paired; whoever shows something of the daemon has it. */
  client!: Client;
  #resumed: (() => Promise<unknown>)[] = [];
  /** Counts connections, so that work for one that is gone does not count for the next. */
  #round = 0;

  get isLive() {
    return this.phase === "live";
  }

  /** Why nothing can be sent now; empty if it can. */
  get blocked() {
    return this.phase === "live" ? "" : "There is no connection to Roost now";
  }

  /** The agents that the daemon knows. One without a registry (seed 000) names only their ids. */
  get agents(): readonly Agent[] {
    const capabilities: Partial<ServerCapabilities> | undefined = this.hello?.capabilities;
    const bare = (id: string): Agent => ({ id, displayName: id, status: "active" });
    return capabilities?.runtimeRegistry?.runtimes ?? (capabilities ? (capabilities.supportedAgents ?? [OLD_DEFAULT]).map(bare) : []);
  }

  agent(id: string | undefined): Agent | undefined {
    return this.agents.find((agent) => agent.id === id);
  }

  /** The agent that is used if nobody names one. */
  get defaultAgent(): string {
    const capabilities: Partial<ServerCapabilities> | undefined = this.hello?.capabilities;
    return capabilities?.runtimeRegistry?.defaultRuntime ?? OLD_DEFAULT;
  }

  get scope() {
    return stored()?.scope ?? "observe";
  }

  get deviceId() {
    return stored()?.device_id ?? "";
  }

  /** Connects with the tokens of this browser, if it has some. */
  start(): void {
    onChange(() => location.reload());
    keepFresh();
    for (const name of ["online", "offline", "pageshow"]) addEventListener(name, () => this.#lookAgain());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.#lookAgain();
    });
    if (stored()) this.open();
    // Another tab may have been signed out.
    else forget();
  }

  open(): void {
    this.phase = "connecting";
    const url = new URL("/ws", location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.client = new Client({
      url: url.href,
      token: accessToken,
      client: { name: "roost-ui", version: PAGE_VERSION },
      backoff: LADDER,
      // Nothing waits unseen: what cannot be sent now is refused now.
      patience: 0.5,
      onConnected: (hello) => this.#connected(hello),
      onLost: (why, seconds) => this.#lost(why, seconds),
      onRefused: (why) => this.#refused(why),
    });
    for (const prepare of prepared) prepare(this.client);
    void this.client.connect({ retry: true }).catch(() => {});
  }

  /** Work that must be done on each connection before the screen counts as live. */
  beforeLive(work: () => Promise<unknown>): () => void {
    this.#resumed.push(work);
    return () => (this.#resumed = this.#resumed.filter((other) => other !== work));
  }

  retryNow(): void {
    if (this.phase !== "offline") return;
    this.client.close();
    void this.client.connect({ retry: true }).catch(() => {});
  }

  /** Somebody looks at the page again, or its network changed: a connection may be gone without a word. */
  #lookAgain(): void {
    if (this.phase === "offline") return this.retryNow();
    if (this.phase !== "unpaired" && this.phase !== "revoked") void this.#probe();
  }

  async #probe(): Promise<void> {
    const [round, heardAt] = [this.#round, this.client.heardAt];
    const wasAsleep = this.phase === "live" && heardAt !== undefined && Date.now() - heardAt.getTime() > SILENCE_MS;
    // What a phone shows when it wakes is old until the daemon answers.
    if (wasAsleep) [this.phase, this.asOf, this.reason] = ["resuming", heardAt, ""];
    const isThere = await this.client.probe(PROBE_S);
    if (isThere && wasAsleep && this.#round === round) [this.phase, this.asOf] = ["live", undefined];
  }

  /** Calls a method of the daemon; fails at once without a connection. */
  call<M extends keyof Methods>(method: M, params: Params<M>): Promise<Result<M>> {
    return this.client.call(method, ...([params] as never));
  }

  async signOut(): Promise<void> {
    this.client?.close();
    await revoke();
    location.assign("/pair");
  }

  #connected(hello: InitializeResult): void {
    this.hello = hello;
    rememberOwnClient(hello.clientId);
    this.reason = "";
    this.phase = this.asOf ? "resuming" : "connecting";
    const round = ++this.#round;
    void this.#prepare(round).then(() => {
      if (this.#round !== round) return;
      this.phase = "live";
      this.reason = "";
      this.asOf = undefined;
    });
  }

  /** Does all work that must be done first, also what a page adds that opens meanwhile; what fails is tried again. */
  async #prepare(round: number): Promise<void> {
    const done = new Set<() => Promise<unknown>>();
    for (let tries = 0; this.#round === round; ) {
      const left = this.#resumed.filter((work) => !done.has(work));
      if (left.length === 0) return;
      const results = await Promise.allSettled(left.map((work) => work()));
      results.forEach((result, index) => result.status === "fulfilled" && done.add(left[index] as () => Promise<unknown>));
      const failed = results.find((result) => result.status === "rejected");
      if (!failed || this.#round !== round) continue;
      this.reason = explain(failed.reason);
      this.phase = "resuming";
      const seconds = LADDER[Math.min(tries++, LADDER.length - 1)] ?? 60;
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }

  #lost(why: Error, seconds: number): void {
    this.#round += 1;
    this.reason = why.message;
    this.nextTry = Date.now() + seconds * 1000;
    if (this.phase === "connecting" && !this.hello && seconds <= 1) return;
    this.#noteWhen();
    this.phase = "offline";
  }

  #refused(why: TokenRefused): void {
    this.#round += 1;
    this.reason = why.message;
    this.#noteWhen();
    this.phase = "revoked";
    forget();
  }

  /** What the screen shows is as of the last word of the daemon, not of the moment when its silence was noticed. */
  #noteWhen(): void {
    if (this.phase === "live") this.asOf ??= this.client.heardAt;
  }
}

const prepared: ((client: Client) => void)[] = [];

export const live = new LiveConnection();

/** Sets up handlers on the client, and on each later one. */
export function onClient(prepare: (client: Client) => void): void {
  prepared.push(prepare);
  // Pages are loaded when they are opened, which may be long after the client was made.
  if (live.client) prepare(live.client);
}

/** A sentence for people about what went wrong. */
export function explain(error: unknown): string {
  if (error instanceof RoostError) return error.message;
  if (error instanceof NotConnected) return "There is no connection to Roost now; nothing was sent";
  if (error instanceof ConnectionLost) return "The connection broke before Roost answered; look whether it was done";
  return error instanceof Error ? error.message : String(error);
}
