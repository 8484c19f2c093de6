// Reads something again when the log tells of a change: at once, then not more often than a reader can follow.

import type { NormalizedEvent } from "roost-client";
import { untrack } from "svelte";
import { live } from "./connection.svelte";
import { followLog, leaveLog } from "./log-feed";

/** The least time between two reads, in milliseconds. */
const GATHER_MS = 250;

/**
 * Calls `read` now, after each event of these types and after each new connection; returns what ends that. A change that
 * comes while something is read leads to one more read.
 */
export function keepRead(types: readonly NormalizedEvent["type"][], read: (events: readonly NormalizedEvent[]) => Promise<void>): () => void {
  let [isReading, isOver] = [false, false];
  let waiting: NormalizedEvent[] | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const again = async (): Promise<void> => {
    timer = undefined;
    if (isOver || isReading || !waiting) return;
    const events = waiting;
    [waiting, isReading] = [undefined, true];
    await read(events).catch(() => {});
    isReading = false;
    if (waiting) timer ??= setTimeout(again, GATHER_MS);
  };
  const reader = {
    receive(events: readonly NormalizedEvent[]) {
      waiting = [...(waiting ?? []), ...events];
      timer ??= setTimeout(again, isReading ? GATHER_MS : 40);
    },
  };
  const begin = async () => {
    await followLog(reader, { types: [...types] });
    waiting ??= [];
    await again();
  };
  const undo = live.beforeLive(() => begin());
  // Whoever calls this in an effect does not depend on the connection: the work before it is live does.
  if (untrack(() => live.isLive)) void begin().catch(() => {});
  return () => {
    isOver = true;
    clearTimeout(timer);
    undo();
    leaveLog(reader);
  };
}
