// The session as it was at a moment: read from the log up to there, and further back while somebody scrolls up.

import type { Mode, NormalizedEvent } from "roost-client";
import { live } from "../live/connection.svelte";
import type { SessionState } from "../live/sessions.svelte";
import type { EditedFiles } from "./edit-history";
import type { Plan } from "./items.svelte";
import { readBack } from "./log-pages";
import { rowsOf, withBeginning, type Row } from "./rows";
import { Transcript } from "./transcript";

/** Events of the first page; the past is read in pages of the same size. */
const PAGE = 600;
/** Events about the session's title, mode and model that are read at most to find the last of each. */
const SETTINGS = 5_000;

const TASK_TYPES = ["task.started", "task.completed", "task.failed", "task.stopped"];
const SETTING_TYPES = ["session.created", "session.updated"];
const OUTCOMES: Partial<Record<NormalizedEvent["type"], SessionState>> = {
  "task.started": "working", "task.completed": "done", "task.failed": "failed", "task.stopped": "stopped",
};

export class Moment {
  rows = $state.raw<Row[]>([]);
  hasEarlier = $state(false);
  isReadingEarlier = $state(false);
  time = "";
  state: SessionState = "ready";
  plan?: Plan;
  title?: string;
  mode?: Mode;
  model?: string;
  /** Read when a screen shows them. */
  edits = $state.raw<EditedFiles>();
  editsFailure = $state("");
  #transcript = new Transcript();

  private constructor(
    readonly session_id: string,
    readonly seq: number,
  ) {}

  static async read(session_id: string, seq: number): Promise<Moment> {
    const before = (types: readonly string[] | undefined, limit: number) =>
      live.call("log/read", { session_id, before_seq: seq + 1, types: types && [...types], limit });
    const [page, plans, tasks, settings] = await Promise.all([
      before(undefined, PAGE), before(["plan.updated"], 1), before(TASK_TYPES, 1),
      readBack(session_id, SETTING_TYPES, { before: seq + 1, most: SETTINGS, isEnough: (events) => areKnown(settingsOf(events)) }),
    ]);
    const moment = new Moment(session_id, seq);
    moment.time = page.events.at(-1)?.time ?? "";
    moment.hasEarlier = page.has_more;
    moment.plan = transcriptOf(plans.events).plan;
    Object.assign(moment, settingsOf(settings.events));
    moment.#transcript = transcriptOf(page.events);
    moment.#showRows();
    const isWaiting = moment.#transcript.items.some((item) => (item.kind === "tool" && item.state === "waiting") || (item.kind === "question" && !item.resolved));
    const task = tasks.events.at(-1);
    moment.state = isWaiting ? "waiting" : ((task && OUTCOMES[task.type]) ?? "ready");
    return moment;
  }

  async readEarlier(): Promise<void> {
    if (!this.hasEarlier || this.isReadingEarlier || !live.isLive) return;
    this.isReadingEarlier = true;
    try {
      const { session_id } = this;
      const page = await live.call("log/read", { session_id, before_seq: this.#transcript.firstSeq, limit: PAGE });
      this.hasEarlier = page.has_more;
      this.#transcript.prepend(transcriptOf(page.events));
      this.#transcript.flush();
      this.#showRows();
    } finally {
      this.isReadingEarlier = false;
    }
  }

  #showRows(): void {
    const { items, firstSeq, firstTime } = this.#transcript;
    // Where nothing is left of it, what it was after is gone, too.
    this.rows = withBeginning(rowsOf(items, this.rows), { hasEarlier: this.hasEarlier, firstSeq: firstSeq || this.seq + 1, firstTime });
  }
}

interface Settings {
  title?: string;
  mode?: Mode;
  model?: string;
}

/** The last of each that these events say. */
function settingsOf(events: readonly NormalizedEvent[]): Settings {
  const settings: Settings = {};
  for (const event of events) {
    if (event.type !== "session.created" && event.type !== "session.updated") continue;
    const { title, mode, model } = event.payload;
    Object.assign(settings, { ...(title != null && { title }), ...(mode != null && { mode }), ...(model != null && { model }) });
  }
  return settings;
}

const areKnown = ({ title, mode, model }: Settings) => title !== undefined && mode !== undefined && model !== undefined;

function transcriptOf(events: readonly NormalizedEvent[]): Transcript {
  const transcript = new Transcript();
  for (const event of events) transcript.apply(event);
  transcript.flush();
  return transcript;
}
