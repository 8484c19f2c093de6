// The session on the screen: its end is read first, what happens is added as it comes, and the past is read while
// somebody scrolls up.

import type { NormalizedEvent, QueuedPrompt, SessionInfo } from "roost-client";
import { explain, live } from "../live/connection.svelte";
import { followLog, leaveLog } from "../live/log-feed";
import { withOwnName } from "../live/sessions.svelte";
import { Moment } from "./moment.svelte";
import { messagesToTranscript } from "./past-messages";
import type { Plan, Usage } from "./items.svelte";
import { rowsOf, type Row } from "./rows";
import { usageUntil } from "./usage";
import { Transcript } from "./transcript";

/** A `seq` beyond every end. */
const END = Number.MAX_SAFE_INTEGER;
/** Events that are read at once; the daemon sends at most 768 KiB of them. */
const PAGE = 3_000;
/** Pages that are read to find the beginning of a running task. */
const OPEN_PAGES = 4;
/** Items that stay in memory while somebody looks at the end. */
const ITEMS_HELD = 3_000;

/** The least time between two drawings of what streams, in milliseconds. */
const DRAW_MS = 45;

/** Events that a scrubber marks. */
const TICK_TYPES = ["task.started", "approval.requested", "question.asked", "task.failed", "task.stopped"] as const;

export interface Tick {
  seq: number;
  time: string;
  type: (typeof TICK_TYPES)[number];
}

export class OpenSession {
  info = $state.raw<SessionInfo>();
  rows = $state.raw<Row[]>([]);
  plan = $state.raw<Plan>();
  usage = $state.raw<Usage>({ input: 0, output: 0, cached: 0, points: [] });
  queue = $state.raw<QueuedPrompt[]>([]);
  ticks = $state.raw<Tick[]>([]);
  isWorking = $state(false);
  isLoaded = $state(false);
  hasEarlier = $state(false);
  isReadingEarlier = $state(false);
  /** Why the session cannot be shown; empty if it can. */
  failure = $state("");
  /** Rows that came since the reader left the end. */
  unseen = $state(0);
  lastSeq = $state(0);
  viewers = $state(1);
  /** The moment that is shown in place of now; absent while the screen is live. */
  moment = $state.raw<Moment>();
  /** What was used by the moment that is shown. */
  usageShown = $derived.by(() => (this.moment ? usageUntil(this.usage, this.moment.time) : this.usage));
  /** Whether the reader is at the end, where new text appears. */
  isAtEnd = true;
  #transcript = new Transcript();
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #drawnAt = 0;
  /** Events that came before the first page was read. */
  #early: NormalizedEvent[] | undefined = [];
  #wanted: number | undefined;
  #isScrubbing = false;
  /** Grows with each return to live. */
  #turn = 0;
  #isClosed = false;
  readonly #undo: (() => void)[];

  constructor(readonly id: string) {
    const count = ({ session_id, viewer_count }: { session_id: string; viewer_count: number }) => {
      if (session_id === this.#streamId) this.viewers = Math.max(1, viewer_count);
    };
    this.#undo = [
      live.beforeLive(() => this.#resume()),
      live.client.on("session_joined", count),
      live.client.on("session_left", count),
    ];
    if (live.isLive) void this.#open();
  }

  close(): void {
    this.#isClosed = true;
    for (const undo of this.#undo) undo();
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    leaveLog(this);
    if (live.isLive) void live.client.unwatch(this.id).catch(() => {});
  }

  receive(events: readonly NormalizedEvent[]): void {
    if (this.#early) {
      this.#early.push(...events);
      return;
    }
    const fresh = events.filter((event) => event.trace.session_id === this.#streamId && event.seq > this.#transcript.lastSeq);
    const first = fresh[0];
    if (!first) return;
    if (first.seq > this.#transcript.lastSeq + 1) void this.#catchUp();
    else this.#apply(fresh);
  }

  get #streamId() {
    return this.info?.session_id ?? this.id;
  }

  async refreshInfo(): Promise<void> {
    const info = await live.call("session/get", { session_id: this.id });
    this.info = withOwnName(info);
    this.queue = info.record.queue ?? [];
    this.viewers = Math.max(1, info.viewers.length);
  }

  async readEarlier(): Promise<void> {
    if (!this.hasEarlier || this.isReadingEarlier || !live.isLive) return;
    this.isReadingEarlier = true;
    try {
      await this.#readEarlierPage();
      this.rows = rowsOf(this.#transcript.items, this.rows);
    } catch (error) {
      this.failure = explain(error);
    } finally {
      this.isReadingEarlier = false;
    }
  }

  /** Reads back until an event is there; returns the row that shows it. */
  async reveal(seq: number): Promise<Row | undefined> {
    while (this.hasEarlier && seq < this.#transcript.firstSeq && live.isLive) await this.readEarlier();
    return this.rows.findLast((row) => row.seq <= seq) ?? this.rows[0];
  }

  /** Shows the session as it was after an event; the last of several quick calls counts. */
  async scrubTo(seq: number): Promise<void> {
    this.#wanted = seq;
    if (this.#isScrubbing) return;
    this.#isScrubbing = true;
    try {
      while (this.#wanted !== undefined) {
        const at = this.#wanted;
        this.#wanted = undefined;
        const turn = this.#turn;
        const moment = await Moment.read(this.id, at);
        // Who went back to live meanwhile wants no moment any more.
        if (turn === this.#turn) this.moment = moment;
      }
    } catch (error) {
      this.failure = explain(error);
    } finally {
      this.#isScrubbing = false;
    }
  }

  goLive(): void {
    this.#turn += 1;
    this.#wanted = undefined;
    this.moment = undefined;
    this.unseen = 0;
  }

  async #open(): Promise<void> {
    try {
      await this.refreshInfo();
      if (this.info?.source === "history") return await this.#openPast();
      if (this.#isClosed) return;
      await followLog(this, { sessions: [this.id] });
      void live.client.watch({ session_id: this.id }).then(() => this.refreshInfo()).catch(() => {});
      await this.#readEarlierPage();
      const task = this.info?.record.open_task;
      for (let page = 1; page < OPEN_PAGES && task && this.#transcript.firstSeq > task.first_seq; page++) {
        await this.#readEarlierPage();
      }
      if (task) this.#transcript.assumeWorking(task.started_at);
      const early = this.#early ?? [];
      this.#early = undefined;
      this.receive(early);
      this.#draw();
      this.isLoaded = true;
      this.failure = "";
      await this.#readSummary();
    } catch (error) {
      this.failure = explain(error);
    }
  }

  /** A session that only its runtime has is read as messages; it comes into the log with its next prompt. */
  async #openPast(): Promise<void> {
    const { messages } = await live.call("session/messages", { session_id: this.id, limit: 200, order: "desc" });
    this.rows = rowsOf(messagesToTranscript([...messages].reverse()).items);
    this.isLoaded = true;
  }

  /** What a screen shows of the whole session, of which only the end was read. */
  async #readSummary(): Promise<void> {
    const read = (types: readonly string[], limit: number) =>
      live.call("log/read", { session_id: this.id, before_seq: END, types: [...types], limit });
    const [ticks, usage, plan] = await Promise.all([
      read(TICK_TYPES, 5_000),
      read(["usage.reported"], 5_000),
      read(["plan.updated"], 1),
    ]);
    this.ticks = ticks.events.map(({ seq, time, type }) => ({ seq, time, type: type as Tick["type"] }));
    const whole = new Transcript();
    for (const event of [...plan.events, ...usage.events]) whole.apply(event);
    this.#transcript.usage = whole.usage;
    this.#transcript.plan ??= whole.plan;
    this.#draw();
  }

  async #resume(): Promise<void> {
    if (!this.isLoaded) {
      this.#early = [];
      this.#transcript = new Transcript();
      return this.#open();
    }
    await this.refreshInfo().catch((error: unknown) => (this.failure = explain(error)));
    // The subscription goes on where it was; this finds out where that is.
    if (this.info?.source !== "history") await this.#catchUp();
  }

  async #readEarlierPage(): Promise<void> {
    const before_seq = this.#transcript.firstSeq || END;
    const page = await live.call("log/read", { session_id: this.id, before_seq, limit: PAGE });
    this.hasEarlier = page.has_more;
    const older = new Transcript();
    for (const event of page.events) older.apply(event);
    older.flush();
    if (this.#transcript.lastSeq === 0) {
      this.#transcript = older;
      this.lastSeq = older.lastSeq;
    } else this.#transcript.prepend(older);
    this.#transcript.flush();
  }

  /** Reads what happened since the last event that is here. */
  async #catchUp(): Promise<void> {
    if (this.#early) return;
    this.#early = [];
    try {
      for (;;) {
        const after_seq = this.#transcript.lastSeq;
        const page = await live.call("log/read", { session_id: this.id, after_seq, limit: PAGE });
        this.#apply(page.events);
        if (!page.has_more) break;
      }
    } catch (error) {
      this.failure = explain(error);
    } finally {
      const early = this.#early ?? [];
      this.#early = undefined;
      this.receive(early);
    }
  }

  #apply(events: readonly NormalizedEvent[]): void {
    const ticks: Tick[] = [];
    for (const event of events) {
      this.#transcript.apply(event);
      const isTick = (TICK_TYPES as readonly string[]).includes(event.type);
      if (isTick) ticks.push({ seq: event.seq, time: event.time, type: event.type as Tick["type"] });
    }
    if (ticks.length > 0) this.ticks = [...this.ticks, ...ticks];
    this.#schedule();
  }

  /** Draws with the next frame, but not more often than a reader can follow. */
  #schedule(): void {
    if (this.#frame || this.#timer) return;
    const wait = DRAW_MS - (performance.now() - this.#drawnAt);
    const request = () => {
      this.#timer = undefined;
      this.#frame = requestAnimationFrame(() => this.#draw());
    };
    if (wait <= 0) request();
    else this.#timer = setTimeout(request, wait);
  }

  #draw(): void {
    this.#frame = 0;
    this.#drawnAt = performance.now();
    const transcript = this.#transcript;
    if (this.isAtEnd && transcript.items.length > ITEMS_HELD) {
      transcript.dropOldest(transcript.items.length - ITEMS_HELD / 2);
      this.hasEarlier = true;
    }
    transcript.flush();
    if (transcript.isRestructured) {
      transcript.isRestructured = false;
      const before = this.rows.length;
      this.rows = rowsOf(transcript.items, this.rows);
      if (!this.isAtEnd && this.isLoaded) this.unseen += Math.max(0, this.rows.length - before);
      this.usage = { ...transcript.usage };
      this.plan = transcript.plan;
    } else if (this.plan !== transcript.plan) this.plan = transcript.plan;
    const wasWorking = this.isWorking;
    this.isWorking = transcript.isWorking;
    // What the session is doing, and what it is called, follows from its tasks.
    if (wasWorking !== this.isWorking && this.isLoaded) void this.refreshInfo().catch(() => {});
    this.lastSeq = transcript.lastSeq;
    this.#takeUpdates();
  }

  #takeUpdates(): void {
    const updates = this.#transcript.updates.splice(0);
    if (updates.length === 0 || !this.info) return;
    for (const { queue } of updates) if (queue) this.queue = queue;
    void this.refreshInfo().catch(() => {});
  }
}
