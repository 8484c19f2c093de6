// The session as it was at a moment: read from the log up to there, and further back while somebody scrolls up.

import type { Mode, NormalizedEvent } from "roost-client";
import { live } from "../live/connection.svelte";
import type { SessionState } from "../live/sessions.svelte";
import { countRows, rowsOfChange } from "../text/diff";
import { callFacts } from "./call";
import type { Item, Plan } from "./items.svelte";
import { rowsOf, type Row } from "./rows";
import { Transcript } from "./transcript";

/** Events of the first page; the past is read in pages of the same size. */
const PAGE = 600;
/** Events about edits that are read. */
const EDITS = 400;

const TASK_TYPES = ["task.started", "task.completed", "task.failed", "task.stopped"];
const SETTING_TYPES = ["session.created", "session.updated"];
const EDIT_TYPES = ["tool.call.requested", "tool.call.completed"];
const OUTCOMES: Partial<Record<NormalizedEvent["type"], SessionState>> = {
  "task.started": "working", "task.completed": "done", "task.failed": "failed", "task.stopped": "stopped",
};

/** A file that the agent had edited by then. */
export interface EditedFile {
  path: string;
  added: number;
  removed: number;
}

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
  files: EditedFile[] = [];
  #transcript = new Transcript();

  private constructor(
    readonly session_id: string,
    readonly seq: number,
  ) {}

  static async read(session_id: string, seq: number): Promise<Moment> {
    const before = (types: readonly string[] | undefined, limit: number) =>
      live.call("log/read", { session_id, before_seq: seq + 1, types: types && [...types], limit });
    const [page, plans, tasks, settings, edits] = await Promise.all([
      before(undefined, PAGE), before(["plan.updated"], 1), before(TASK_TYPES, 1), before(SETTING_TYPES, EDITS), before(EDIT_TYPES, EDITS),
    ]);
    const moment = new Moment(session_id, seq);
    moment.time = page.events.at(-1)?.time ?? "";
    moment.hasEarlier = page.has_more;
    moment.plan = transcriptOf(plans.events).plan;
    for (const event of settings.events) {
      if (event.type !== "session.created" && event.type !== "session.updated") continue;
      const { title, mode, model } = event.payload;
      [moment.title, moment.mode, moment.model] = [title ?? moment.title, mode ?? moment.mode, model ?? moment.model];
    }
    moment.files = editedFiles(transcriptOf(edits.events).items);
    moment.#transcript = transcriptOf(page.events);
    moment.rows = rowsOf(moment.#transcript.items);
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
      this.rows = rowsOf(this.#transcript.items, this.rows);
    } finally {
      this.isReadingEarlier = false;
    }
  }
}

function transcriptOf(events: readonly NormalizedEvent[]): Transcript {
  const transcript = new Transcript();
  for (const event of events) transcript.apply(event);
  transcript.flush();
  return transcript;
}

function editedFiles(items: readonly Item[]): EditedFile[] {
  const files = new Map<string, EditedFile>();
  for (const item of items) {
    if (item.kind !== "tool" || item.state !== "done") continue;
    for (const change of callFacts(item.name, item.input, item.toolKind).changes) {
      const { added, removed } = countRows(rowsOfChange(change));
      const file = files.get(change.path) ?? { path: change.path, added: 0, removed: 0 };
      files.set(change.path, { ...file, added: file.added + added, removed: file.removed + removed });
    }
  }
  return [...files.values()];
}
