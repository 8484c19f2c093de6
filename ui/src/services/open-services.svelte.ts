// The services on the screen, and the one that is looked at, read again whenever the log tells of a change.

import type { NormalizedEvent, ServiceDetails, ServiceSummary } from "roost-client";
import { explain, live } from "../live/connection.svelte";
import { keepRead } from "../live/refresher";
import { toasts } from "../live/toasts.svelte";

const TYPES: NormalizedEvent["type"][] = [
  "service.manifest_applied",
  "service.state_changed",
  "service.interface_refreshed",
  "service.tools_approved",
  "service.removed",
  "mcp.tool_called",
];
const CALLS = 30;

export type ServiceAction = "start" | "stop" | "restart" | "introspect" | "unquarantine";

const DONE: Record<ServiceAction, string> = {
  start: "It runs",
  stop: "It is stopped",
  restart: "It runs again",
  introspect: "Its tools were listed again",
  unquarantine: "It may be started again",
};

export class OpenServices {
  all = $state.raw<ServiceSummary[]>([]);
  isLoaded = $state(false);
  /** When the list was read, in milliseconds since 1970. */
  listedAt = $state(0);
  /** Why the list cannot be read; empty if it can. */
  failure = $state("");
  details = $state.raw<ServiceDetails>();
  /** Why the chosen one cannot be read; empty if it can. */
  detailsFailure = $state("");
  /** When the details were read, in milliseconds since 1970. */
  readAt = $state(0);
  /** What was asked of the chosen one and is not done yet. */
  running = $state<ServiceAction | "remove" | "approve" | "">("");
  #chosen = "";
  /** How often the list was asked for, and the last time whose answer is shown. */
  #asked = 0;
  #shown = 0;
  readonly #stop: () => void;

  constructor() {
    this.#stop = keepRead(TYPES, () => this.#read());
  }

  close(): void {
    this.#stop();
  }

  choose(id: string): void {
    if (id === this.#chosen) return;
    this.#chosen = id;
    [this.details, this.detailsFailure] = [undefined, ""];
    if (live.isLive) void this.#readDetails();
  }

  async act(action: ServiceAction): Promise<void> {
    await this.#carryOut(action, DONE[action], (service_id) => live.call(`service/${action}`, { service_id }));
  }

  async remove(): Promise<boolean> {
    return this.#carryOut("remove", "It is removed", (service_id) => live.call("service/remove", { service_id }));
  }

  /** Approves tools as they are on the screen; the daemon refuses if they are different by now. */
  async approve(tools: string[], revision: string | undefined): Promise<void> {
    const done = tools.length === 1 ? `${tools[0]} is offered to agents` : `${tools.length} tools are offered to agents`;
    await this.#carryOut("approve", done, (service_id) => live.call("service/approve", { service_id, tools, revision }));
  }

  async #carryOut(what: NonNullable<typeof this.running>, done: string, work: (id: string) => Promise<unknown>): Promise<boolean> {
    this.running = what;
    try {
      await work(this.#chosen);
      toasts.say(done);
      return true;
    } catch (error) {
      toasts.fail(explain(error));
      return false;
    } finally {
      this.running = "";
      void this.#read().catch(() => {});
    }
  }

  async #read(): Promise<void> {
    const turn = ++this.#asked;
    try {
      const { items } = await live.call("service/list", {});
      // What was asked for later is newer, whatever comes first.
      if (turn > this.#shown) [this.#shown, this.all, this.listedAt, this.failure] = [turn, items, Date.now(), ""];
    } catch (error) {
      if (live.isLive) this.failure = explain(error);
    }
    this.isLoaded = true;
    await this.#readDetails();
  }

  async #readDetails(): Promise<void> {
    const id = this.#chosen;
    if (!id) return;
    try {
      const details = await live.call("service/details", { service_id: id, call_limit: CALLS, event_limit: 20, log_limit: 1 });
      if (id !== this.#chosen) return;
      [this.details, this.detailsFailure, this.readAt] = [details, "", Date.now()];
    } catch (error) {
      if (id === this.#chosen && live.client) this.detailsFailure = explain(error);
    }
  }
}
