// Runs and audit as one timeline: what agents did, what was called through the gateway, what became of services.

import type { AuditRecord, RunEvent } from "roost-client";
import type { IconName } from "../parts/icons";
import { plainReason } from "../session/failure";

export type Source = "agents" | "tools" | "models" | "services";
export type Tone = "done" | "working" | "waiting" | "failed" | "muted";

export interface TimelineEntry {
  id: string;
  /** Milliseconds since 1970. */
  at: number;
  source: Source;
  isTrouble: boolean;
  icon: IconName;
  tone: Tone;
  /** What happened, in one or two words. */
  what: string;
  message: string;
  who: string;
  /** The session or the run that it belongs to, and its place there. */
  run?: string;
  seq?: number;
  service?: string;
  micros?: number;
}

type Look = [what: string, icon: IconName, tone: Tone, source: Source];

const LOOKS: Record<string, Look> = {
  "agent.run_started": ["prompted", "pencil", "working", "agents"],
  "agent.run_completed": ["done", "circleCheck", "done", "agents"],
  "agent.run_failed": ["failed", "circleX", "failed", "agents"],
  "agent.run_cancelled": ["stopped", "square", "muted", "agents"],
  "agent.waiting": ["waits", "circleHelp", "waiting", "agents"],
  "agent.hitl_input": ["answered", "check", "muted", "agents"],
  "agent.tool_called": ["call", "wrench", "muted", "tools"],
  "agent.llm_called": ["model", "brain", "muted", "models"],
  "mcp.tool_called": ["gateway call", "plug", "done", "tools"],
  "service.manifest_applied": ["declared", "file", "muted", "services"],
  "service.starting": ["starting", "play", "muted", "services"],
  "service.started": ["runs", "circleCheck", "done", "services"],
  "service.stopping": ["stopping", "square", "muted", "services"],
  "service.stopped": ["stopped", "square", "muted", "services"],
  "service.start_failed": ["failed", "circleX", "failed", "services"],
  "service.crashed": ["failed", "circleX", "failed", "services"],
  "service.quarantined": ["quarantined", "octagonX", "failed", "services"],
  "service.unquarantined": ["let out", "check", "done", "services"],
  "service.health_changed": ["health", "triangleAlert", "waiting", "services"],
  "service.interface_refreshed": ["tools listed", "wrench", "muted", "services"],
  "service.tools_approved": ["approved", "check", "done", "services"],
  "service.removed": ["removed", "trash", "muted", "services"],
};

/** Ways in which agents say that they ended as they should. */
const ORDINARY_ENDS: Record<string, string> = { end_turn: "the agent finished its turn", stop: "the agent finished its turn", completed: "the agent finished its turn" };

/** Events of one call, of which the last says how it went. */
const STEPS = ["agent.tool_called", "agent.waiting", "agent.hitl_input"];

const text = (value: unknown) => (typeof value === "string" ? value : "");

function lookOf(kind: string): Look {
  const words = kind.split(".").at(-1)?.replaceAll("_", " ") ?? kind;
  return LOOKS[kind] ?? [words, "circleDot", "muted", kind.startsWith("service") ? "services" : "agents"];
}

/** What a call or a question is about, by its id: an answer names only that. */
type Subjects = ReadonlyMap<unknown, string>;

function subjectsOf(events: readonly RunEvent[]): Subjects {
  const told = events.filter((event) => text(event.data.subject) !== "");
  return new Map(told.map((event) => [event.data.toolCallId ?? event.data.questionId, text(event.data.subject)]));
}

/** What somebody decided, which way and about what. */
function answerLook({ data, message }: RunEvent, subjects: Subjects): { what: string; icon: IconName; tone: Tone; message: string } | undefined {
  const about = subjects.get(data.toolCallId ?? data.questionId);
  const by = text(data.answeredBy);
  const quoted = about ? `“${about}”` : "";
  if (data.questionId !== undefined && typeof data.outcome === "string") {
    return { what: data.outcome, icon: data.outcome === "answered" ? "check" : "circleX", tone: "muted", message: by && quoted ? `${by} ${data.outcome} ${quoted}` : [message, quoted].filter(Boolean).join(": ") };
  }
  if (typeof data.decision !== "string") return data.toolCallId === undefined && !message.endsWith(" was answered") ? { what: "steered", icon: "pencil", tone: "working", message } : undefined;
  const isAllowed = data.decision === "allow";
  const what = isAllowed ? "allowed" : "denied";
  const [icon, tone]: [IconName, Tone] = isAllowed ? ["check", "done"] : ["circleX", "failed"];
  const reason = /^denied by [^:]*: (.*)$/s.exec(message)?.[1];
  if (!by || data.end !== "answered") return { what: data.end === "answered" ? what : "not answered", icon, tone: "muted", message: [quoted, message].filter(Boolean).join(" ") };
  return { what, icon, tone, message: `${by} ${what} ${quoted || "a call"}${reason ? `: ${reason}` : ""}` };
}

export function fromRun(event: RunEvent, subjects: Subjects = new Map()): TimelineEntry {
  const [what, icon, tone, source] = lookOf(event.kind);
  const run = text(event.data.runId);
  const answer = event.kind === "agent.hitl_input" ? answerLook(event, subjects) : undefined;
  const subject = text(event.data.subject);
  // That it waits stands beside it already.
  const about = subject && (event.kind === "agent.tool_called" || event.kind === "agent.waiting") ? { message: subject } : undefined;
  return {
    id: `run:${run}:${event.seq}`, at: Date.parse(event.at), source, what, icon, message: ORDINARY_ENDS[event.message] ?? (event.kind === "agent.run_failed" ? plainReason(event.message) : event.message), who: text(event.data.agent), run,
    seq: event.seq, service: event.serviceId, isTrouble: event.level !== "info", tone: event.level === "error" ? "failed" : tone,
    ...about,
    ...answer,
  };
}

export function fromAudit(record: AuditRecord): TimelineEntry {
  const [what, icon, tone, source] = lookOf(record.kind);
  const { tool, sessionId, client, principal, durationUs, error, success } = record.data;
  const isCall = record.kind === "mcp.tool_called";
  const message = isCall ? [text(tool), success ? "" : text(error) || "failed"].filter(Boolean).join(" · ") : record.message;
  return {
    id: `audit:${record.seq}`, at: Date.parse(record.at), source, what, icon, message, who: text(client) || text(principal),
    run: text(sessionId) || undefined, service: record.serviceId, isTrouble: record.level !== "info",
    tone: record.level === "error" || (isCall && !success) ? "failed" : record.level === "warn" ? "waiting" : tone,
    micros: typeof durationUs === "number" ? durationUs : undefined,
  };
}

/** That a session begins is told by its first prompt, and that a model used nothing tells nothing. */
const isNoise = (event: RunEvent) => event.kind === "agent.run_created" || (event.kind === "agent.llm_called" && event.message === "0 tokens");

/** That a call was made, waits and was answered is one entry: the last of them, at the place of the call in its session. */
function fold(events: readonly RunEvent[]): RunEvent[] {
  const calls = new Map<string, { first: RunEvent; last: RunEvent }>();
  const keyOf = ({ kind, data }: RunEvent) => {
    const id = data.toolCallId ?? data.questionId;
    return STEPS.includes(kind) && id !== undefined ? `${String(data.runId)} ${String(id)}` : undefined;
  };
  for (const event of events) {
    const key = keyOf(event);
    if (key) calls.set(key, { first: calls.get(key)?.first ?? event, last: event });
  }
  return events.flatMap((event) => {
    const call = calls.get(keyOf(event) ?? "");
    if (!call) return [event];
    return event === call.last ? [{ ...event, seq: call.first.seq }] : [];
  });
}

/** Both in one, the latest first. A call that the gateway recorded is not shown once more as the agent's. */
export function merge(events: readonly RunEvent[], records: readonly AuditRecord[]): TimelineEntry[] {
  const recorded = new Set(records.map((record) => record.data.toolCallId).filter(Boolean));
  const subjects = subjectsOf(events);
  const told = events.filter((event) => !isNoise(event) && (event.kind !== "agent.tool_called" || !recorded.has(event.data.toolCallId)));
  const runs = fold(told).map((event) => fromRun(event, subjects));
  return [...runs, ...records.map(fromAudit)].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
}

export interface Filter {
  sources: ReadonlySet<Source>;
  isTroubleOnly: boolean;
  words: string;
  /** A service or a session; everything if empty. */
  about: string;
}

export function fits(entry: TimelineEntry, filter: Filter): boolean {
  if (filter.sources.size > 0 && !filter.sources.has(entry.source)) return false;
  if (filter.isTroubleOnly && !entry.isTrouble) return false;
  if (filter.about && entry.service !== filter.about && entry.run !== filter.about) return false;
  const all = `${entry.what} ${entry.message} ${entry.who}`.toLowerCase();
  return filter.words.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}

export interface Bucket {
  /** The beginning, in seconds since 1970. */
  at: number;
  good: number;
  bad: number;
}

/** How much happened in each stretch of time up to now, the oldest first. */
export function buckets(entries: readonly TimelineEntry[], now: number, count: number, millis: number): Bucket[] {
  const end = Math.ceil(now / millis) * millis;
  const all = Array.from({ length: count }, (_, index) => ({ at: (end - (count - index) * millis) / 1000, good: 0, bad: 0 }));
  for (const entry of entries) {
    const bucket = all[count - 1 - Math.floor((end - 1 - entry.at) / millis)];
    if (bucket) bucket[entry.isTrouble ? "bad" : "good"]++;
  }
  return all;
}
