// The one subscription to the log itself. The page that is open has it, and the next page takes it over.

import type { NormalizedEvent } from "roost-client";
import { live, onClient } from "./connection.svelte";

export interface LogReader {
  receive(events: readonly NormalizedEvent[]): void;
}

let reader: LogReader | undefined;
/** What was asked for last; what is asked for next waits for it, so that nothing overtakes. */
let last: Promise<unknown> = Promise.resolve();

onClient((client) => client.on("batch", ({ events }) => reader?.receive(events)));

/** Gives the subscription to a reader; whoever had it gets nothing more. */
export function followLog(next: LogReader, wanted: { sessions?: string[]; types?: string[] }): Promise<unknown> {
  reader = next;
  return inTurn(() => live.client.subscribe({ format: "normalized", ...wanted }));
}

/** Ends the subscription, unless another reader has it by now. */
export function leaveLog(former: LogReader): void {
  if (reader !== former) return;
  reader = undefined;
  void inTurn(async () => {
    if (!reader && live.isLive) await live.client.unsubscribe("normalized");
  }).catch(() => {});
}

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = last.then(work, work);
  last = done.catch(() => {});
  return done;
}
