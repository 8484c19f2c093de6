// The log of a session, read page by page.

import { ERRORS, RoostError, type NormalizedEvent } from "roost-client";
import { live } from "../live/connection.svelte";

/** A `seq` beyond every end. */
export const END = Number.MAX_SAFE_INTEGER;
/** Events that are asked for at once; the daemon sends at most 768 KiB of them. */
const PAGE = 5_000;

export interface LogPart {
  /** Oldest first. */
  events: NormalizedEvent[];
  /** Whether there are more before them, which were not read. */
  isCut: boolean;
}

/** The events of these types before a `seq`, until there are no more, or `most`, or `isEnough` says so of a page. */
export async function readBack(
  session_id: string,
  types: readonly string[],
  { before = END, most, isEnough }: { before?: number; most: number; isEnough?: (page: readonly NormalizedEvent[]) => boolean },
): Promise<LogPart> {
  const pages: NormalizedEvent[][] = [];
  let count = 0;
  for (let before_seq = before; ; ) {
    const page = await live.call("log/read", { session_id, before_seq, types: [...types], limit: Math.min(PAGE, most) });
    pages.unshift(page.events);
    count += page.events.length;
    const [first] = page.events;
    if (!page.has_more || !first) return { events: pages.flat(), isCut: false };
    if (count >= most || isEnough?.(page.events)) return { events: pages.flat(), isCut: true };
    before_seq = first.seq;
  }
}

/** The page of events after a `seq`; where retention has removed some of them, those that are left. */
export async function readForward(session_id: string, after_seq: number, limit = PAGE) {
  try {
    return await live.call("log/read", { session_id, after_seq, limit });
  } catch (error) {
    const first = firstLeft(error);
    if (first === undefined) throw error;
    return live.call("log/read", { session_id, after_seq: first - 1, limit });
  }
}

/** The `seq` of the first event that retention has left, if that is what a call failed of. */
export function firstLeft(error: unknown): number | undefined {
  if (!(error instanceof RoostError) || error.code !== ERRORS.CURSOR_TRUNCATED) return undefined;
  const { resume_at } = error.data;
  return typeof resume_at === "number" ? resume_at : undefined;
}
