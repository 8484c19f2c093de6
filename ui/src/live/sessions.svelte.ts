// All sessions and all that waits for a person, kept as the daemon has them: an event says what to ask for again.

import { ERRORS, RoostError, type PendingRequest, type SessionInfo, type Workspace } from "roost-client";
import { callFacts, shortPath } from "../session/call";
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
  "claude_waiting",
  "pty_permission",
  "pty_permission_resolved",
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
/** Sessions at work whose last line is read, and a `seq` beyond every end. */
const LINES_READ = 20;
const END = Number.MAX_SAFE_INTEGER;
/** Pieces of an answer that is being written, of which its last line is made. */
const PIECES_READ = 24;

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
  /** How often it was asked what waits, and the last time whose answer is shown. */
  #pendingAsked = 0;
  #pendingShown = 0;
  #workspacesAsked = 0;
  #workspacesShown = 0;
  /** How many sessions somebody wants to see. */
  #wanted = LISTED;
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

  /** What waits in other sessions, the one that comes after this session's in the queue first. */
  pendingElsewhere(id: string): PendingRequest[] {
    const at = this.pending.findLastIndex((request) => request.session_id === id) + 1;
    return [...this.pending.slice(at), ...this.pending.slice(0, at)].filter((request) => request.session_id !== id);
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
    const read = ++this.#workspacesAsked;
    const { workspaces } = await live.call("workspace/list", {});
    // Several may be under way: what one that was begun before this one knows is older.
    if (read < this.#workspacesShown) return;
    [this.workspaces, this.#workspacesShown] = [workspaces, read];
  }

  /** Reads them because one has changed, and once more if that fails while the page is live. */
  refreshWorkspaces(): void {
    this.readWorkspaces().catch(() => setTimeout(() => live.isLive && this.refreshWorkspaces(), AGAIN_MS));
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
    const waits = asks ? this.#askWhatWaits() : undefined;
    waits?.catch(() => (this.#isPendingChanged = true));
    if (changed.length > 8) await this.#readSessions().catch(() => changed.forEach((id) => this.#changed.add(id)));
    else await Promise.all(changed.map((id) => this.#readOne(id)));
    // After the sessions, so that whoever is told what waits can be told where.
    await waits?.then((take) => take()).catch(() => {});
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
    this.#wanted = Infinity;
    await this.#readOn();
  }

  /** Reads the sessions of the next page. */
  async readMore(): Promise<void> {
    this.#wanted = this.all.length + LISTED;
    await this.#readOn();
  }

  async #readOn(): Promise<void> {
    while (this.all.length < Math.min(this.total, this.#wanted)) {
      const limit = Math.min(PAGE, this.#wanted - this.all.length);
      const { sessions, total } = await live.call("session/list", { limit, offset: this.all.length });
      const known = new Set(this.all.map((session) => session.session_id));
      const more = sessions.filter((session) => !known.has(session.session_id)).map(withOwnName);
      [this.all, this.total] = [[...this.all, ...more], total];
      if (more.length === 0) return;
    }
  }

  async #readSessions(): Promise<void> {
    const { sessions, total, notices } = await live.call("session/list", { limit: LISTED });
    this.all = sessions.map(withOwnName);
    this.total = total;
    this.notices = notices ?? [];
    await this.#readOn();
  }

  /** Reads what sessions at work did last; messages are sent to those who have a session open, and a list has none. */
  async readLastLines(): Promise<void> {
    const working = this.all.filter((session) => session.record.open_task).slice(0, LINES_READ);
    await Promise.all(working.map((session) => this.#readLastLine(session)));
  }

  async #readLastLine({ session_id, project_path }: SessionInfo): Promise<void> {
    const types = ["model.output.completed", "tool.call.requested", "model.output.delta"];
    const { events } = await live.call("log/read", { session_id, before_seq: END, types, limit: PIECES_READ });
    const last = events.at(-1);
    // A long answer is written in pieces before it is complete.
    if (last?.type === "model.output.delta") {
      const pieces = events.flatMap((event) => (event.type === "model.output.delta" && event.payload.block_id === last.payload.block_id ? [event.payload.delta] : []));
      if (last.payload.kind === "text_delta") this.#setLastLine(session_id, pieces.join(""));
    }
    if (last?.type === "tool.call.requested") {
      const { subject, category } = callFacts(last.payload.name, last.payload.input, last.payload.kind);
      this.#setLastLine(session_id, `${category === "command" ? "$ " : ""}${oneLine(shortPath(subject, project_path))}`);
    }
    if (last?.type === "model.output.completed") {
      this.#setLastLine(session_id, last.payload.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).at(-1) ?? "");
    }
  }

  #setLastLine(id: string, text: string): void {
    const last = text.trimEnd().split("\n").at(-1)?.trim().slice(0, 200);
    if (last && last !== this.lastLines[id]) this.lastLines[id] = last;
  }

  async #readPending(): Promise<void> {
    (await this.#askWhatWaits())();
  }

  /** Asks what waits; what comes of it is called to show it, unless something newer is shown by then. */
  async #askWhatWaits(): Promise<() => void> {
    const turn = ++this.#pendingAsked;
    const { requests } = await live.call("permission/pending", {});
    return () => {
      if (turn < this.#pendingShown) return;
      [this.#pendingShown, this.pending] = [turn, requests];
    };
  }

  #put(session: SessionInfo): void {
    const others = this.all.filter((other) => other.session_id !== session.session_id);
    const before = this.all.length;
    this.all = session.record.hidden ? others : [withOwnName(session), ...others];
    this.total += this.all.length - before;
  }
}

/** A client of the gateway is called what it calls itself, without the id that tells it apart in the log. */
export function withOwnName(session: SessionInfo): SessionInfo {
  if (session.agent_type !== "mcp") return session;
  return { ...session, summary: session.summary.replace(/ \(MCP client, [^()]*\)$/, "") };
}

export const sessions = new Sessions();

onClient((client) => {
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
  client.on("workspace_removed", () => sessions.refreshWorkspaces());
  client.on("git_branch_changed", () => sessions.refreshWorkspaces());
  client.on("git_operation_completed", () => sessions.refreshWorkspaces());
});

live.beforeLive(() => sessions.load());
