// All sessions and all that waits for a person, kept as the daemon has them: an event says what to ask for again.

import { ERRORS, RoostError, type PendingRequest, type SessionInfo, type Workspace } from "roost-client";
import { oneLine } from "../text/hidden";
import { live, onClient } from "./connection.svelte";
import { toasts } from "./toasts.svelte";

/** Events that tell of changes; pieces of messages and files are not among them. */
const TYPES = [
  "session_start",
  "session_end",
  "session_stopped",
  "session_id_resolved",
  "claude_status",
  "claude_session_info",
  "claude_message",
  "claude_waiting",
  "pty_permission",
  "pty_permission_resolved",
  "pty_spinner",
  "error",
  "workspace_removed",
  "git_operation_completed",
  "git_branch_changed",
];
/** Changes within this time are asked for together, in milliseconds. */
const GATHER_MS = 80;
/** What could not be read is asked for again after this time, in milliseconds. */
const AGAIN_MS = 3_000;
/** Sessions that are read at first, and those of each further page. */
const LISTED = 200;
const PAGE = 500;

export type SessionState = "waiting" | "working" | "failed" | "stopped" | "done" | "ready";

class Sessions {
  all = $state.raw<SessionInfo[]>([]);
  total = $state(0);
  pending = $state.raw<PendingRequest[]>([]);
  workspaces = $state.raw<Workspace[]>([]);
  isLoaded = $state(false);
  /** The last line that each session wrote, or what it does now. */
  lastLines = $state<Record<string, string>>({});
  /** Runtimes that could not be asked for their sessions. */
  notices = $state.raw<string[]>([]);
  #changed = new Set<string>();
  #isPendingChanged = false;
  #isWhole = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  byId(id: string): SessionInfo | undefined {
    return this.all.find((session) => session.session_id === id);
  }

  workspace(id: string | undefined): Workspace | undefined {
    return this.workspaces.find((workspace) => workspace.id === id);
  }

  pendingOf(id: string): PendingRequest[] {
    return this.pending.filter((request) => request.session_id === id);
  }

  stateOf(session: SessionInfo): SessionState {
    if (this.pending.some((request) => request.session_id === session.session_id)) return "waiting";
    if (session.record.open_task) return "working";
    const outcome = session.record.last_outcome;
    if (outcome === "failed" || outcome === "stopped") return outcome;
    return outcome === "completed" || session.source === "history" ? "done" : "ready";
  }

  /** Reads everything, on each connection before the screen counts as live. */
  async load(): Promise<void> {
    if (!this.isLoaded) await live.client.subscribe({ format: "cdev", types: TYPES });
    await Promise.all([this.#readSessions(), this.#readPending(), this.readWorkspaces()]);
    this.isLoaded = true;
  }

  async readWorkspaces(): Promise<void> {
    this.workspaces = (await live.call("workspace/list", {})).workspaces;
  }

  change(session: string | undefined, { asks = false } = {}): void {
    if (session) this.#changed.add(session);
    this.#isPendingChanged ||= asks;
    this.#timer ??= setTimeout(() => this.#refresh(), GATHER_MS);
  }

  async #refresh(): Promise<void> {
    this.#timer = undefined;
    const [changed, asks] = [[...this.#changed], this.#isPendingChanged];
    this.#changed.clear();
    this.#isPendingChanged = false;
    const waits = asks ? live.call("permission/pending", {}) : undefined;
    waits?.catch(() => (this.#isPendingChanged = true));
    if (changed.length > 8) await this.#readSessions().catch(() => changed.forEach((id) => this.#changed.add(id)));
    else await Promise.all(changed.map((id) => this.#readOne(id)));
    // After the sessions, so that whoever is told what waits can be told where.
    await waits?.then(({ requests }) => (this.pending = requests)).catch(() => {});
    // What could not be read is asked for again; without a connection everything is read with the next one.
    if (live.isLive && (this.#isPendingChanged || this.#changed.size > 0)) this.#timer ??= setTimeout(() => this.#refresh(), AGAIN_MS);
  }

  async #readOne(session_id: string): Promise<void> {
    try {
      this.#put(await live.call("session/get", { session_id }));
    } catch (error) {
      if (error instanceof RoostError && error.code === ERRORS.SESSION_NOT_FOUND) {
        this.all = this.all.filter((session) => session.session_id !== session_id);
      } else this.#changed.add(session_id);
    }
  }

  /** Reads the sessions of all pages: a list shows the latest, and a search looks at all of them. */
  async readAll(): Promise<void> {
    this.#isWhole = true;
    while (this.all.length < this.total) {
      const { sessions, total } = await live.call("session/list", { limit: PAGE, offset: this.all.length });
      const known = new Set(this.all.map((session) => session.session_id));
      const more = sessions.filter((session) => !known.has(session.session_id));
      [this.all, this.total] = [[...this.all, ...more], total];
      if (more.length === 0) return;
    }
  }

  async #readSessions(): Promise<void> {
    const { sessions, total, notices } = await live.call("session/list", { limit: LISTED });
    this.all = sessions;
    this.total = total;
    this.notices = notices ?? [];
    if (this.#isWhole) await this.readAll();
  }

  async #readPending(): Promise<void> {
    this.pending = (await live.call("permission/pending", {})).requests;
  }

  #put(session: SessionInfo): void {
    const others = this.all.filter((other) => other.session_id !== session.session_id);
    this.all = session.record.hidden ? others : [session, ...others];
  }
}

export const sessions = new Sessions();

onClient((client) => {
  const line = (id: string, text: string) => {
    const last = text.trimEnd().split("\n").at(-1)?.trim();
    if (last) sessions.lastLines[id] = last.slice(0, 200);
  };
  for (const name of ["session_start", "session_end", "session_stopped", "claude_status", "error"] as const) {
    client.on(name, ({ session_id }) => sessions.change(session_id, { asks: name !== "session_start" }));
  }
  for (const name of ["session_id_resolved", "claude_session_info"] as const) {
    client.on(name, ({ session_id }) => sessions.change(session_id));
  }
  for (const name of ["pty_permission", "claude_permission", "claude_waiting", "pty_permission_resolved"] as const) {
    client.on(name, ({ session_id }) => sessions.change(session_id, { asks: true }));
  }
  client.on("pty_permission_resolved", ({ tool_use_id, session_id, decision, answered_by }) => {
    const isOurs = answered_by?.client_id === live.hello?.clientId;
    if (!answered_by || isOurs || !sessions.pending.some((request) => request.tool_use_id === tool_use_id)) return;
    const what = oneLine(sessions.byId(session_id)?.summary ?? "a session", 40);
    toasts.say(`${answered_by.user_id ?? "Somebody at the machine"} ${decision === "allow" ? "said yes" : "said no"} in “${what}”`);
  });
  client.on("claude_message", ({ session_id, type, content }) => {
    const texts = content.flatMap((block) => (block.type === "text" && block.text ? [block.text] : []));
    const last = texts.at(-1);
    if (type === "assistant" && last) line(session_id, last);
  });
  client.on("pty_spinner", ({ session_id, message }) => line(session_id, message));
  client.on("workspace_removed", () => void sessions.readWorkspaces().catch(() => {}));
  client.on("git_branch_changed", () => void sessions.readWorkspaces().catch(() => {}));
  client.on("git_operation_completed", () => void sessions.readWorkspaces().catch(() => {}));
});

live.beforeLive(() => sessions.load());
