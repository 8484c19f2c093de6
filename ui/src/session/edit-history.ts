// The files that the agent has edited, up to any moment: read back from the log once, and then only what came since.

import type { NormalizedEvent } from "roost-client";
import { countRows, rowsOfChange } from "../text/diff";
import { callFacts } from "./call";
import { readBack } from "./log-pages";

const TYPES = ["tool.call.requested", "tool.call.completed"];
/** Events that are read at most; the screen says that there were more. */
const MOST = 10_000;

/** A file that the agent had edited by then. */
export interface EditedFile {
  path: string;
  added: number;
  removed: number;
  /** Whether an edit was too big for its event, so that more lines were changed than are counted. */
  isPartial: boolean;
}

export interface EditedFiles {
  files: EditedFile[];
  /** Whether there were edits before those that were read. */
  isCut: boolean;
}

interface Edit extends EditedFile {
  /** The event with which it was done. */
  seq: number;
}

export class EditHistory {
  #edits: Edit[] = [];
  #isCut = false;
  #lastSeq = 0;
  /** What calls would edit that are not over yet, by their id. */
  readonly #requested = new Map<string, EditedFile[]>();
  /** The reading that goes on; the next one waits for it. */
  #reading: Promise<unknown> = Promise.resolve();

  constructor(readonly session_id: string) {}

  async until(seq: number): Promise<EditedFiles> {
    const read = () => this.#readTo(seq);
    this.#reading = this.#reading.then(read, read);
    await this.#reading;
    const files = new Map<string, EditedFile>();
    for (const { path, added, removed, isPartial } of this.#edits.filter((edit) => edit.seq <= seq)) {
      const known = files.get(path) ?? { path, added: 0, removed: 0, isPartial: false };
      files.set(path, { path, added: known.added + added, removed: known.removed + removed, isPartial: known.isPartial || isPartial });
    }
    return { files: [...files.values()], isCut: this.#isCut };
  }

  async #readTo(seq: number): Promise<void> {
    const last = this.#lastSeq;
    if (seq <= last) return;
    const isEnough = (page: readonly NormalizedEvent[]) => (page[0]?.seq ?? 0) <= last;
    const { events, isCut } = await readBack(this.session_id, TYPES, { before: seq + 1, most: MOST, isEnough });
    this.#isCut ||= isCut && !isEnough(events);
    for (const event of events) if (event.seq > last) this.#apply(event);
    this.#lastSeq = seq;
  }

  #apply(event: NormalizedEvent): void {
    if (event.type === "tool.call.requested") {
      const { tool_call_id, name, input, kind, input_ref } = event.payload;
      const files = callFacts(name, input, kind).changes.map((change) => ({
        path: change.path, ...countRows(rowsOfChange(change)), isPartial: input_ref !== undefined,
      }));
      this.#requested.set(tool_call_id, files);
    } else if (event.type === "tool.call.completed") {
      const files = this.#requested.get(event.payload.tool_call_id) ?? [];
      this.#requested.delete(event.payload.tool_call_id);
      if (!event.payload.is_error) this.#edits.push(...files.map((file) => ({ ...file, seq: event.seq })));
    }
  }
}
