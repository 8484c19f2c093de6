// The session on the screen: its end is read first, what happens is added as it comes, and the past is read while
// somebody scrolls up.

import type { NormalizedEvent, QueuedPrompt, SessionInfo, TranscriptContentBlock, WorktreeInfo } from "roost-client";
import { ERRORS, RoostError } from "roost-client";
import { explain, live } from "../live/connection.svelte";
import { followLog, leaveLog } from "../live/log-feed";
import { withOwnName } from "../live/sessions.svelte";
import { Moment } from "./moment.svelte";
import { EditHistory } from "./edit-history";
import { END, firstLeft } from "./log-pages";
import { PastMessages } from "./past-messages";
import type { EndItem, Item, Plan } from "./items.svelte";
import { rowsOf, withBeginning, type Row } from "./rows";
import { SessionSummary } from "./summary.svelte";
import { readPrompt } from "./prompt-again";
import { usageUntil, withTotals } from "./usage";
import { Transcript } from "./transcript";
import { Viewers } from "./viewers.svelte";
import { worktreeOf } from "./worktree";

/** Events that are read at once; the daemon sends at most 768 KiB of them. */
const PAGE = 3_000;
/** Pages that are read to find the beginning of a running task. */
const OPEN_PAGES = 4;
/** Items that stay in memory while somebody looks at the end. */
const ITEMS_HELD = 3_000;

/** The least time between two drawings of what streams, in milliseconds. */
const DRAW_MS = 45;

export class OpenSession {
  info = $state.raw<SessionInfo>();
  rows = $state.raw<Row[]>([]);
  queue = $state.raw<QueuedPrompt[]>([]);
  isWorking = $state(false);
  isLoaded = $state(false);
  hasEarlier = $state(false);
  isReadingEarlier = $state(false);
  /** Why the session cannot be shown; empty if it can. */
  failure = $state("");
  /** Rows that came since the reader left the end. */
  unseen = $state(0);
  lastSeq = $state(0);
  readonly viewers = new Viewers((client) => this.#transcript.clients.get(client));
  /** The working copy of its own that it works in; absent if it works in the workspace's folder. */
  worktree = $state.raw<WorktreeInfo>();
  /** The moment that is shown in place of now; absent while the screen is live. */
  moment = $state.raw<Moment>();
  readonly summary: SessionSummary;
  /** The newest plan among the events that are here. */
  #planHere = $state.raw<Plan>();
  plan = $derived.by(() => this.#planHere ?? this.summary.plan);
  usage = $derived.by(() => withTotals(this.summary.usage, this.info?.record.usage));
  /** What was used by the moment that is shown. */
  usageShown = $derived.by(() => (this.moment ? usageUntil(this.usage, this.moment.time) : this.usage));
  /** Whether that is known: what was reported before what is here may have been before or after the moment. */
  isUsageKnown = $derived.by(() => {
    if (!this.moment) return true;
    const [first] = this.summary.usage.points;
    return this.summary.isRead && (!this.summary.isUsageCut || (first?.time ?? 0) <= Date.parse(this.moment.time));
  });
  /** Whether the reader is at the end, where new text appears. */
  isAtEnd = true;
  #transcript = new Transcript();
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #drawnAt = 0;
  /** Events that came before the first page was read. */
  #early: NormalizedEvent[] | undefined = [];
  #wanted: number | undefined;
  #earlier: Promise<boolean> | undefined;
  /** The messages of a session that only its runtime has. */
  readonly #messages: PastMessages;
  readonly #edits: EditHistory;
  #isScrubbing = false;
  /** Grows with each return to live. */
  #turn = 0;
  #isClosed = false;
  readonly #undo: (() => void)[];

  constructor(readonly id: string) {
    this.summary = new SessionSummary(id);
    this.#messages = new PastMessages(id);
    this.#edits = new EditHistory(id);
    // A session that only its runtime has is read again when something was said in it, or when Roost took it over.
    const follow = ({ session_id }: { session_id?: string }) => {
      if (this.isPast && session_id === this.#streamId) void this.#followPast().catch((error: unknown) => (this.failure = explain(error)));
    };
    this.#undo = [
      live.beforeLive(() => this.#resume()),
      live.client.on("claude_message", follow),
      live.client.on("session_start", follow),
      live.client.on("claude_status", follow),
      this.viewers.follow((session) => session === this.#streamId),
    ];
    if (live.isLive) void this.#open().catch((error: unknown) => (this.failure = explain(error)));
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
    // What cannot be read now is read with the next event, and the failure says so until then.
    if (first.seq > this.#transcript.lastSeq + 1) void this.#catchUp().catch((error: unknown) => (this.failure = explain(error)));
    else this.#apply(fresh);
  }

  get #streamId() {
    return this.info?.session_id ?? this.id;
  }

  /** Whether only its runtime has it, so that the log knows nothing of it. */
  get isPast() {
    return this.info?.source === "history";
  }

  async refreshInfo(): Promise<void> {
    const info = await live.call("session/get", { session_id: this.id });
    this.info = withOwnName(info);
    this.queue = info.record.queue ?? [];
    this.viewers.set(info.viewers);
    this.worktree = await worktreeOf(info, this.worktree).catch(() => this.worktree);
  }

  /** Reads the page before; whoever asks while it is read waits for the same. Returns whether it could be read. */
  readEarlier(): Promise<boolean> {
    if (!this.hasEarlier || !live.isLive) return Promise.resolve(false);
    this.#earlier ??= this.#readBack().finally(() => (this.#earlier = undefined));
    return this.#earlier;
  }

  async #readBack(): Promise<boolean> {
    this.isReadingEarlier = true;
    try {
      if (this.isPast) await this.#readPast("earlier");
      else {
        await this.#readEarlierPage();
        this.#showRows(this.#transcript.items);
      }
      this.failure = "";
      return true;
    } catch (error) {
      this.failure = explain(error);
      return false;
    } finally {
      this.isReadingEarlier = false;
    }
  }

  /** Reads back until an event is there; returns the row that shows it. */
  async reveal(seq: number): Promise<Row | undefined> {
    const isMissing = () => this.hasEarlier && seq < (this.isPast ? (this.rows[0]?.seq ?? 0) : this.#transcript.firstSeq);
    while (isMissing() && (await this.readEarlier()));
    return this.rows.findLast((row) => row.seq <= seq) ?? this.rows[0];
  }

  /** The prompt of the task that ended so: the first one, because those after it steered it. */
  async promptOf(end: EndItem): Promise<readonly TranscriptContentBlock[]> {
    const known = this.#transcript.items.find((item) => item.kind === "prompt" && item.task === end.task);
    return known?.kind === "prompt" ? known.blocks : readPrompt(this.id, end);
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
        this.failure = "";
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
    await this.refreshInfo();
    if (this.isPast) return this.#openPast();
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
    await this.readSummary();
  }

  /** Reads what is shown of the whole session; why it cannot be read stands where it would be shown. */
  async readSummary(): Promise<void> {
    if (this.isPast) return;
    try {
      this.summary.failure = "";
      await this.summary.read();
    } catch (error) {
      this.summary.failure = explain(error);
    }
  }

  /** The files that the agent had edited by a moment, read when a screen shows them. */
  async readEdits(moment: Moment): Promise<void> {
    if (moment.edits) return;
    try {
      moment.edits = await this.#edits.until(moment.seq);
    } catch (error) {
      moment.editsFailure = explain(error);
    }
  }

  #showRows(items: readonly Item[]): void {
    const { firstSeq, firstTime } = this.#transcript;
    this.rows = withBeginning(rowsOf(items, this.rows), { hasEarlier: this.hasEarlier, firstSeq, firstTime });
  }

  /** A session that only its runtime has is read as messages; it comes into the log with its next prompt. */
  async #openPast(): Promise<void> {
    await live.client.watch({ session_id: this.id });
    await this.#readPast("latest");
    this.isLoaded = true;
    this.failure = "";
  }

  async #readPast(which: "latest" | "earlier"): Promise<void> {
    const items = await this.#messages.read(which);
    this.hasEarlier = this.#messages.hasEarlier;
    const before = this.rows.length;
    this.rows = rowsOf(items, this.rows);
    if (which === "latest" && !this.isAtEnd && this.isLoaded) this.unseen += Math.max(0, this.rows.length - before);
  }

  async #followPast(): Promise<void> {
    await this.refreshInfo();
    if (this.isPast) await this.#readPast("latest");
    else {
      this.isLoaded = false;
      await this.#openAnew();
    }
    this.failure = "";
  }

  /** Reads what was missed. Fails if it cannot be read: until then the screen is not live. */
  async #resume(): Promise<void> {
    try {
      if (!this.isLoaded) return await this.#openAnew();
      if (this.isPast) return await this.#followPast();
      await this.refreshInfo();
      // The subscription goes on where it was; this finds out where that is.
      await this.#catchUp();
      if (!this.summary.isRead) await this.readSummary();
    } catch (error) {
      this.failure = explain(error);
      // One that is gone will not come back, however often it is asked for.
      if (!(error instanceof RoostError && error.code === ERRORS.SESSION_NOT_FOUND)) throw error;
    }
  }

  /** Tries again to show what could not be shown. */
  async retry(): Promise<void> {
    this.failure = "";
    await this.#openAnew().catch((error: unknown) => (this.failure = explain(error)));
  }

  #openAnew(): Promise<void> {
    this.#early = [];
    this.#transcript = new Transcript();
    return this.#open();
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
    let isGone = false;
    try {
      for (;;) {
        const after_seq = this.#transcript.lastSeq;
        const page = await live.call("log/read", { session_id: this.id, after_seq, limit: PAGE });
        this.#apply(page.events);
        if (!page.has_more) break;
      }
      this.failure = "";
    } catch (error) {
      // Retention removed a part of what was missed: asking again would never help.
      isGone = firstLeft(error) !== undefined;
      if (!isGone) throw error;
    } finally {
      const early = this.#early ?? [];
      this.#early = undefined;
      if (!isGone) this.receive(early);
    }
    if (isGone) await this.#openAnew();
  }

  #apply(events: readonly NormalizedEvent[]): void {
    for (const event of events) this.#transcript.apply(event);
    this.summary.apply(events);
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
      this.#showRows(transcript.items);
      if (!this.isAtEnd && this.isLoaded) this.unseen += Math.max(0, this.rows.length - before);
    }
    this.#planHere = transcript.plan;
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
