// Events become a transcript. Pure: it neither asks nor draws. A transcript may begin in the middle of a session; what
// lies before it is read later and put in front with `prepend`.

import type { NormalizedEvent, SessionUpdatedPayload } from "roost-client";
import {
  EndItem,
  NoteItem,
  PromptItem,
  QuestionItem,
  TextItem,
  ThinkingItem,
  ToolItem,
  type Item,
  type Plan,
} from "./items.svelte";

type Of<T extends NormalizedEvent["type"]> = Extract<NormalizedEvent, { type: T }>;

export class Transcript {
  items: Item[] = [];
  /** The first and last event that it knows; 0 if none. */
  firstSeq = 0;
  lastSeq = 0;
  firstTime = "";
  lastTime = "";
  plan?: Plan;
  isWorking = false;
  model?: string;
  /** The names of the devices behind connections that prompted or answered. */
  readonly clients = new Map<string, string>();
  /** What changed about the session itself, in order; empty once it was taken. */
  updates: SessionUpdatedPayload[] = [];
  /** Items that were changed since they were last drawn. */
  readonly touched = new Set<Item>();
  /** Whether items came or went since they were last drawn. */
  isRestructured = false;
  #tools = new Map<string, ToolItem>();
  #questions = new Map<string, QuestionItem>();
  /** Texts and thoughts that are being written, by block. */
  #open = new Map<string, TextItem | ThinkingItem>();
  #taskStartedAt?: string;
  /** Whether it knows of a task that began or ended, and so whether one runs. */
  #knowsTask = false;

  apply(event: NormalizedEvent): void {
    if (this.firstSeq === 0) [this.firstSeq, this.firstTime] = [event.seq, event.time];
    this.lastSeq = event.seq;
    this.lastTime = event.time;
    if (event.trace.client_id && event.trace.user_id) this.clients.set(event.trace.client_id, event.trace.user_id);
    if (event.runtime.model) this.model = event.runtime.model;
    this.#apply(event);
  }

  #apply(event: NormalizedEvent): void {
    switch (event.type) {
      case "task.started":
        return this.#taskStarted(event);
      case "task.steered":
        return this.#steered(event);
      case "model.output.delta":
        return this.#delta(event);
      case "model.output.completed":
        return this.#completed(event);
      case "tool.call.requested":
        return this.#requested(event);
      case "tool.call.policy_evaluated":
        if (event.payload.rule) this.#tool(event).rule = event.payload.rule;
        return;
      case "tool.call.approved":
        return;
      case "approval.requested":
        return this.#asked(event);
      case "approval.resolved": {
        const tool = this.#tool(event);
        tool.resolution = event.payload;
        const { client_id, user_id } = event.payload.answered_by ?? {};
        if (client_id && user_id) this.clients.set(client_id, user_id);
        if (tool.state === "waiting") tool.state = event.payload.decision === "allow" ? "requested" : "denied";
        if (event.payload.edited_input !== undefined) tool.input = event.payload.edited_input;
        return;
      }
      case "tool.call.denied": {
        const tool = this.#tool(event);
        Object.assign(tool, { state: "denied", reason: event.payload.reason, endedAt: event.time });
        tool.name ||= event.payload.name;
        return;
      }
      case "tool.call.started":
        Object.assign(this.#tool(event), { state: "running", startedAt: event.time });
        return;
      case "tool.output.delta":
        return this.#tool(event).append(event.payload.delta);
      case "tool.output.completed": {
        const { stdout = "", stderr = "" } = event.payload;
        const tool = this.#tool(event);
        Object.assign(tool, { output: "", outputDropped: 0 });
        return tool.append(stdout && stderr ? `${stdout}\n${stderr}` : stdout || stderr);
      }
      case "tool.call.completed": {
        const tool = this.#tool(event);
        const { name, result_preview, result_ref, is_error } = event.payload;
        tool.name ||= name;
        Object.assign(tool, { result: result_preview, resultRef: result_ref, endedAt: event.time });
        tool.state = is_error ? "failed" : "done";
        return;
      }
      case "question.asked": {
        const item = new QuestionItem(`q:${event.payload.question_id}`, event.seq, event.time);
        item.asked = event.payload;
        this.#questions.set(event.payload.question_id, item);
        return this.#add(item);
      }
      case "question.resolved": {
        const item = this.#questions.get(event.payload.question_id);
        if (!item) return;
        item.resolved = event.payload;
        this.#touch(item);
        return;
      }
      case "plan.updated":
        this.plan = { entries: event.payload.entries, seq: event.seq };
        return;
      case "task.completed":
      case "task.failed":
      case "task.stopped":
        return this.#ended(event);
      case "runtime.notice": {
        if (event.payload.level === "info") return;
        const note = new NoteItem(`n:${event.seq}`, event.seq, event.time);
        Object.assign(note, { level: event.payload.level, text: event.payload.message });
        return this.#add(note);
      }
      case "session.updated":
        this.updates.push(event.payload);
        if (event.payload.model) this.model = event.payload.model;
        return;
      case "session.closed":
        this.updates.push({ status: "closed" });
        return this.#endOpen(event.time);
    }
  }

  /** Splits finished paragraphs off and counts up the versions of what has to be drawn again. */
  flush(): void {
    for (const item of this.touched) {
      if (item.kind === "text") item.markdown.settle();
      item.version += 1;
    }
    this.touched.clear();
  }

  /** Puts what happened before in front, and joins what goes on from there into here. */
  prepend(older: Transcript): void {
    const kept = older.items.filter((item) => {
      if (item.kind === "tool") {
        const later = this.#tools.get(item.callId);
        if (later) item.join(later);
        this.#tools.set(item.callId, item);
      }
      if (item.kind === "question") {
        const later = this.#questions.get(item.asked.question_id);
        item.resolved ??= later?.resolved;
        this.#questions.set(item.asked.question_id, item);
      }
      return true;
    });
    const joined = new Set<Item>(kept);
    const ids = new Set(kept.map((item) => item.id));
    const rest = this.items.filter((item) => {
      if (item.kind === "tool") return joined.has(this.#tools.get(item.callId) ?? item) === false;
      return !(item.kind === "question" && ids.has(item.id));
    });
    const last = kept.at(-1);
    const first = rest[0];
    if (first?.kind === "text") first.isPartial = last?.kind === "text" && last.isStreaming && last.isPartial;
    // A text that began before: what is here is its rest, or all of it.
    if (last?.kind === "text" && last.isStreaming && first?.kind === "text") {
      if (first.isStreaming || first.artifact) {
        const whole = last.markdown.source + first.markdown.source;
        first.markdown.finish("");
        first.markdown.append(whole);
      }
      kept.pop();
    } else if (last?.kind === "thinking" && first?.kind === "thinking" && last.id === first.id) {
      first.text = last.text + first.text;
      first.time = last.time;
      kept.pop();
    }
    for (const item of kept) if (item.kind === "text") item.isStreaming = false;
    this.#joinTask(older, rest);
    this.items = [...kept, ...rest];
    if (older.firstSeq > 0) [this.firstSeq, this.firstTime] = [older.firstSeq, older.firstTime];
    this.plan ??= older.plan;
    for (const [client, name] of older.clients) this.clients.set(client, name);
    this.isRestructured = true;
  }

  /** A task runs that began before the first event that is known here. */
  assumeWorking(startedAt: string): void {
    if (this.#knowsTask) return;
    this.isWorking = true;
    this.#taskStartedAt = startedAt;
  }

  /** A task that began before the events here is the one that they belong to. */
  #joinTask(older: Transcript, rest: readonly Item[]): void {
    const end = rest.find((item) => item.kind === "end" || item.kind === "prompt");
    if (end?.kind === "end") end.startedAt ??= older.#taskStartedAt;
    if (this.#knowsTask) return;
    this.isWorking = older.isWorking;
    this.#taskStartedAt = older.#taskStartedAt;
    this.#knowsTask = older.#knowsTask;
  }

  /** Forgets the oldest items, which can be read again. */
  dropOldest(count: number): void {
    const dropped = this.items.slice(0, count);
    for (const item of dropped) if (item.kind === "tool") this.#tools.delete(item.callId);
    this.items = this.items.slice(count);
    [this.firstSeq, this.firstTime] = [this.items[0]?.seq ?? this.lastSeq + 1, this.items[0]?.time ?? this.lastTime];
    this.isRestructured = true;
  }

  #taskStarted(event: Of<"task.started">): void {
    const item = new PromptItem(`p:${event.seq}`, event.seq, event.time);
    item.blocks = event.payload.messages.flatMap((message) => (message.role === "user" ? message.content : []));
    item.by = event.trace.user_id;
    item.client = event.trace.client_id;
    item.task = event.trace.task_id ?? "";
    this.#taskStartedAt = event.time;
    this.#knowsTask = true;
    this.isWorking = true;
    this.#add(item);
  }

  #steered(event: Of<"task.steered">): void {
    const item = new PromptItem(`p:${event.seq}`, event.seq, event.time);
    item.blocks = event.payload.message.content;
    item.by = event.trace.user_id;
    item.client = event.trace.client_id;
    item.task = event.trace.task_id ?? "";
    this.#add(item);
  }

  #delta(event: Of<"model.output.delta">): void {
    const { kind, block_id, delta } = event.payload;
    if (kind === "json_delta") return;
    const isThinking = kind === "reasoning_delta";
    const key = `${isThinking ? "th" : "tx"}:${event.trace.task_id}:${block_id}`;
    let item = this.#open.get(key);
    if (!item) {
      item = isThinking ? new ThinkingItem(key, event.seq, event.time) : new TextItem(key, event.seq, event.time);
      // One thing is written at a time: thinking ends when the answer begins.
      for (const other of this.#open.values()) if (other.kind === "thinking") this.#endThought(other, event.time);
      if (item.kind === "text") item.isPartial = event.seq === this.firstSeq;
      this.#open.set(key, item);
      this.#add(item);
    }
    if (item.kind === "thinking") item.text += delta;
    else item.markdown.append(delta);
    this.#touch(item);
  }

  /** A finished answer replaces what was written of it. */
  #completed(event: Of<"model.output.completed">): void {
    const written = [...this.#open.values()].filter((item) => item.kind === "text");
    this.#endOpen(event.time);
    const [block] = event.payload.content;
    if (event.payload.content.length === 1 && block?.type === "artifact_ref" && block.content_type?.startsWith("text/")) {
      return this.#bigAnswer(event, block.artifact_id, written);
    }
    const texts = event.payload.content.map((block) => {
      if (block.type === "text") return block.text;
      if (block.type === "code") return `\`\`\`${block.language ?? ""}\n${block.code}\n\`\`\``;
      return `\`${block.name ?? block.artifact_id}\``;
    });
    // Runtimes tell blocks apart more finely while they write than at the end, or the other way round.
    const sources = texts.length === written.length ? texts : [texts.join("\n\n")];
    sources.forEach((source, index) => {
      let item = written[index];
      if (!item) {
        item = new TextItem(`tx:${event.seq}:${index}`, event.seq, event.time);
        this.#add(item);
      }
      item.isStreaming = false;
      item.markdown.finish(source);
      this.#touch(item);
    });
    const extra = new Set<Item>(written.slice(sources.length));
    if (extra.size > 0) this.items = this.items.filter((item) => !extra.has(item));
  }

  /** An answer that is too big for an event: what was streamed stays until the whole of it is read. */
  #bigAnswer(event: Of<"model.output.completed">, artifact: string, written: TextItem[]): void {
    let [item] = written;
    if (!item) {
      item = new TextItem(`tx:${event.seq}:0`, event.seq, event.time);
      this.#add(item);
    }
    item.isStreaming = false;
    item.artifact = artifact;
    const extra = new Set<Item>(written.slice(1));
    for (const other of written.slice(1)) item.markdown.append(other.markdown.source);
    if (extra.size > 0) this.items = this.items.filter((other) => !extra.has(other));
    this.#touch(item);
  }

  #requested(event: Of<"tool.call.requested">): void {
    this.#endOpen(event.time);
    const { name, title, kind, input, input_ref, attempt } = event.payload;
    const tool = this.#tool(event);
    Object.assign(tool, { name, title, toolKind: kind, input, inputRef: input_ref, attempt });
    if (tool.state !== "waiting") tool.state = "requested";
  }

  #asked(event: Of<"approval.requested">): void {
    const tool = this.#tool(event);
    const { name, title, kind, input, input_ref, rule } = event.payload;
    Object.assign(tool, { name, title, input, inputRef: input_ref, approval: event.payload, resolution: undefined });
    tool.toolKind = kind ?? tool.toolKind;
    tool.rule = rule ?? tool.rule;
    tool.state = "waiting";
  }

  #ended(event: Of<"task.completed"> | Of<"task.failed"> | Of<"task.stopped">): void {
    this.#endOpen(event.time);
    for (const tool of this.#tools.values()) {
      if (tool.state !== "running" && tool.state !== "requested" && tool.state !== "waiting") continue;
      Object.assign(tool, { state: "interrupted", endedAt: event.time });
      this.#touch(tool);
    }
    const item = new EndItem(`e:${event.seq}`, event.seq, event.time);
    item.outcome = event.type === "task.completed" ? "completed" : event.type === "task.failed" ? "failed" : "stopped";
    item.reason = event.payload.reason;
    if (event.type === "task.failed") item.error = event.payload.error;
    item.startedAt = this.#taskStartedAt;
    item.by = event.trace.user_id;
    item.task = event.trace.task_id ?? "";
    this.isWorking = false;
    this.#knowsTask = true;
    this.#taskStartedAt = undefined;
    this.#add(item);
  }

  /** Nothing is being written any more. */
  #endOpen(time: string): void {
    for (const item of this.#open.values()) {
      if (item.kind === "thinking") this.#endThought(item, time);
      else item.isStreaming = false;
      this.#touch(item);
    }
    this.#open.clear();
  }

  #endThought(item: ThinkingItem, time: string): void {
    if (item.endedAt) return;
    item.endedAt = time;
    this.#touch(item);
  }

  /** The item of the tool call that an event is about. */
  #tool(event: NormalizedEvent & { payload: { tool_call_id: string } }): ToolItem {
    const callId = event.payload.tool_call_id;
    let tool = this.#tools.get(callId);
    if (!tool) {
      tool = new ToolItem(`t:${callId}`, event.seq, event.time);
      tool.callId = callId;
      this.#tools.set(callId, tool);
      this.#add(tool);
    }
    this.#touch(tool);
    // Output changes no row but its own.
    if (event.type !== "tool.output.delta") this.isRestructured = true;
    return tool;
  }

  #add(item: Item): void {
    this.items.push(item);
    this.isRestructured = true;
    this.#touch(item);
  }

  #touch(item: Item): void {
    this.touched.add(item);
  }
}
