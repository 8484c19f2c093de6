// What a transcript is made of. Items are changed in place while an agent writes, many times between two frames; a
// screen that reads `version` is drawn again once per frame.

import type {
  Answerer,
  ApprovalRequestedPayload,
  ApprovalResolvedPayload,
  ArtifactRef,
  PlanEntry,
  QuestionAskedPayload,
  QuestionResolvedPayload,
  TaskError,
  ToolKind,
  TranscriptContentBlock,
} from "roost-client";
import { isOwnClient } from "../live/own-clients";
import { MarkdownStream } from "../text/markdown-stream";

/** Characters of a running tool's output that are held; the daemon has the rest. */
const OUTPUT_HELD = 64_000;

abstract class BaseItem {
  /** Grows when the item was changed and has to be drawn again. */
  version = $state(0);
  constructor(
    /** Unique within the session, and the same after a reload. */
    readonly id: string,
    /** The `seq` of the event that began it. */
    public seq: number,
    public time: string,
  ) {}
}

export class PromptItem extends BaseItem {
  readonly kind = "prompt";
  blocks: TranscriptContentBlock[] = [];
  /** The device that sent it; absent if it was sent from this machine. */
  by?: string;
  /** The connection that it came over. */
  client?: string;
  task = "";
}

export class TextItem extends BaseItem {
  readonly kind = "text";
  readonly markdown = new MarkdownStream();
  isStreaming = true;
  /** The complete text, where it was too big for an event; until it is read, what was streamed of it is shown. */
  artifact?: string;
  /** Whether it may have begun before the first event that is known. */
  isPartial = false;
}

export class ThinkingItem extends BaseItem {
  readonly kind = "thinking";
  text = "";
  endedAt?: string;
}

export type ToolState = "requested" | "waiting" | "running" | "done" | "failed" | "denied" | "interrupted";

export class ToolItem extends BaseItem {
  readonly kind = "tool";
  callId = "";
  attempt = 1;
  name = "";
  title?: string;
  toolKind?: ToolKind;
  input: unknown;
  inputRef?: ArtifactRef;
  state: ToolState = "requested";
  /** Output while it runs, and after it ended if the runtime told it apart from the result. */
  output = "";
  /** Characters of output that came before `output` and are no longer held here. */
  outputDropped = 0;
  result: unknown;
  resultRef?: ArtifactRef;
  startedAt?: string;
  endedAt?: string;
  /** Why it was denied, as the agent was told. */
  reason = "";
  rule?: string;
  approval?: ApprovalRequestedPayload;
  resolution?: ApprovalResolvedPayload;

  append(text: string): void {
    this.output += text;
    const extra = this.output.length - OUTPUT_HELD;
    if (extra <= 0) return;
    this.output = this.output.slice(extra);
    this.outputDropped += extra;
  }

  /** Adds what a later part of the session knows of the same call, which is newer. */
  join(later: ToolItem): void {
    const { state, outputDropped, result, resultRef, endedAt, reason, resolution } = later;
    Object.assign(this, { state, outputDropped, result, resultRef, endedAt, reason, resolution });
    this.output = later.output || this.output;
    this.input = later.input ?? this.input;
    this.inputRef = later.inputRef ?? this.inputRef;
    this.name = later.name || this.name;
    this.title = later.title ?? this.title;
    this.toolKind = later.toolKind ?? this.toolKind;
    this.startedAt ??= later.startedAt;
    this.approval = later.approval ?? this.approval;
    this.rule = later.rule ?? this.rule;
  }
}

export class QuestionItem extends BaseItem {
  readonly kind = "question";
  asked!: QuestionAskedPayload;
  resolved?: QuestionResolvedPayload;
}

export class EndItem extends BaseItem {
  readonly kind = "end";
  outcome: "completed" | "failed" | "stopped" = "completed";
  reason = "";
  error?: TaskError;
  startedAt?: string;
  by?: string;
  task = "";
}

export class NoteItem extends BaseItem {
  readonly kind = "note";
  level: "info" | "warning" | "error" = "info";
  text = "";
}

export type Item = PromptItem | TextItem | ThinkingItem | ToolItem | QuestionItem | EndItem | NoteItem;

export interface Usage {
  input: number;
  output: number;
  cached: number;
  cost?: number;
  context?: { used: number; size: number };
  /** One point per report: when, tokens of that report, and its cost. */
  points: { time: number; tokens: number; input: number; cached: number; cost: number; context?: { used: number; size: number } }[];
}

export interface Plan {
  entries: PlanEntry[];
  seq: number;
}

/** Reads parts of an item, which is changed in place: who reads them is drawn again when the item's version grows. */
export const versionedReader = (version: () => number) => <T>(read: () => T): T => {
  void version();
  return read();
};

/** The name to show for whoever answered. */
export function answererName(by: Answerer | undefined, clientId: string | undefined): string {
  if (!by) return "nobody";
  if (by.client_id && (by.client_id === clientId || isOwnClient(by.client_id))) return "you";
  return by.user_id ?? (by.from === "local" ? "somebody at the machine" : "another client");
}
