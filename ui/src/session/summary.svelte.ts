// What a screen shows of a whole session, of which only the end is read: its plan, what it used, and the marks of the
// scrubber.

import type { NormalizedEvent } from "roost-client";
import { live } from "../live/connection.svelte";
import type { Plan, Usage } from "./items.svelte";
import { END, firstLeft, readBack } from "./log-pages";
import { NO_USAGE, usageOf } from "./usage";

/** Events that a scrubber marks. */
const TICK_TYPES = ["task.started", "approval.requested", "question.asked", "task.failed", "task.stopped"] as const;
/** Marks and reports that are held at most; the screen says where there were more. */
const MOST = 20_000;

export interface Tick {
  seq: number;
  time: string;
  type: (typeof TICK_TYPES)[number];
}

export class SessionSummary {
  ticks = $state.raw<Tick[]>([]);
  usage = $state.raw<Usage>(NO_USAGE);
  plan = $state.raw<Plan>();
  /** The first event that is still in the log. */
  firstSeq = $state(1);
  /** Whether there are marks or reports before those that are here. */
  areTicksCut = $state(false);
  isUsageCut = $state(false);
  /** Until it is read, nothing is said of the session as a whole. */
  isRead = $state(false);
  /** Why it could not be read; empty if it could. */
  failure = $state("");
  /** What happened while it is read, and may not be in what is read. */
  #late: NormalizedEvent[] | undefined;
  /** The last report that is in `usage`. */
  #lastReport = 0;

  constructor(readonly id: string) {}

  async read(): Promise<void> {
    const late: NormalizedEvent[] = (this.#late = []);
    try {
      const [ticks, usage, plans, firstSeq] = await Promise.all([
        readBack(this.id, TICK_TYPES, { most: MOST }),
        readBack(this.id, ["usage.reported"], { most: MOST }),
        live.call("log/read", { session_id: this.id, before_seq: END, types: ["plan.updated"], limit: 1 }),
        this.#readFirstSeq(),
      ]);
      // It was begun once more meanwhile, and only the last one counts.
      if (this.#late !== late) return;
      this.ticks = ticksOf(ticks.events);
      this.usage = usageOf(usage.events);
      this.#lastReport = usage.events.at(-1)?.seq ?? 0;
      [this.areTicksCut, this.isUsageCut, this.firstSeq] = [ticks.isCut, usage.isCut, firstSeq];
      const [plan] = plans.events;
      if (plan?.type === "plan.updated") this.plan = { entries: plan.payload.entries, seq: plan.seq };
      this.isRead = true;
    } finally {
      if (this.#late === late) {
        this.#late = undefined;
        if (this.isRead) this.#add(late);
      }
    }
  }

  /** What has happened since. */
  apply(events: readonly NormalizedEvent[]): void {
    const own = events.filter((event) => event.type === "usage.reported" || isTick(event));
    if (own.length === 0) return;
    if (this.#late) this.#late.push(...own);
    else if (this.isRead) this.#add(own);
  }

  #add(events: readonly NormalizedEvent[]): void {
    const last = this.ticks.at(-1)?.seq ?? 0;
    const ticks = ticksOf(events).filter((tick) => tick.seq > last);
    if (ticks.length > 0) this.ticks = [...this.ticks, ...ticks];
    const reports = events.filter((event) => event.type === "usage.reported" && event.seq > this.#lastReport);
    if (reports.length === 0) return;
    this.usage = usageOf(reports, this.usage);
    this.#lastReport = reports.at(-1)?.seq ?? this.#lastReport;
  }

  async #readFirstSeq(): Promise<number> {
    try {
      await live.call("log/read", { session_id: this.id, after_seq: 0, limit: 1 });
      return 1;
    } catch (error) {
      const first = firstLeft(error);
      if (first === undefined) throw error;
      return first;
    }
  }
}

const isTick = (event: NormalizedEvent) => (TICK_TYPES as readonly string[]).includes(event.type);

function ticksOf(events: readonly NormalizedEvent[]): Tick[] {
  return events.filter(isTick).map(({ seq, time, type }) => ({ seq, time, type: type as Tick["type"] }));
}
