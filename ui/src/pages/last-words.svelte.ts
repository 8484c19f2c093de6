// What agents said at the end of their last task, or why it failed.

import type { SessionInfo } from "roost-client";
import { live } from "../live/connection.svelte";
import { plainReason } from "../session/failure";

/** A `seq` beyond every end. */
const END = Number.MAX_SAFE_INTEGER;

export class LastWords {
  #said = $state<Record<string, string>>({});

  /** What is known of a session; a failure is in its record. */
  of(session: SessionInfo): string {
    const { last_outcome, failure } = session.record;
    return last_outcome === "failed" && failure ? plainReason(failure) : (this.#said[session.session_id] ?? "");
  }

  /** Reads what is not known yet of these sessions. */
  read(sessions: readonly SessionInfo[]): void {
    for (const session of sessions) {
      if (session.record.last_outcome === "failed") continue;
      void this.#readOne(session).catch(() => {});
    }
  }

  async #readOne({ session_id, last_updated }: SessionInfo): Promise<void> {
    if (!live.isLive || this.#asked.get(session_id) === last_updated) return;
    this.#asked.set(session_id, last_updated);
    const { events } = await live.call("log/read", { session_id, before_seq: END, types: ["model.output.completed"], limit: 1 });
    const last = events.at(-1);
    if (last?.type !== "model.output.completed") return;
    const text = last.payload.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    // The first paragraph, without the marks that only a page of its own would draw.
    this.#said[session_id] = (text.trim().split(/\n\s*\n/)[0] ?? "").replaceAll(/\*\*|`|^#+ /gm, "");
  }

  /** Of each session, the change after which it was read. */
  readonly #asked = new Map<string, string>();
}
