// Sessions in a working copy of their own are started before their first prompt is sent. One whose beginning or prompt was
// not confirmed is used again by the next try, so that no second working copy is made.

import { ConnectionLost, NotConnected, type SessionStartResult } from "roost-client";
import { live } from "../live/connection.svelte";

const KEY = "roost.started.";
/** Sessions among which one that was started is looked for. */
const LATEST = 50;

/** What is known of a try: the session if the daemon named it, else those that were there before. */
type Started = { session_id: string } | { before: string[] };

/** The session for the prompt with this key. */
export async function startedSession(key: string, agentType: string | undefined, start: () => Promise<SessionStartResult>): Promise<string> {
  const known = JSON.parse(sessionStorage.getItem(KEY + key) ?? "null") as Started | null;
  if (known && "session_id" in known) return known.session_id;
  const now = await latest();
  // Nobody prompted it yet, and it was not there before the first try.
  const lost = known && now.find((one) => one.agent_type === agentType && one.task_count === 0 && !known.before.includes(one.session_id));
  if (lost) return remember(key, lost.session_id);
  if (!known) keep(key, { before: now.map((one) => one.session_id) });
  try {
    return remember(key, (await start()).session_id);
  } catch (error) {
    if (!(error instanceof ConnectionLost) || error instanceof NotConnected) forgetStarted(key);
    throw error;
  }
}

export function forgetStarted(key: string): void {
  sessionStorage.removeItem(KEY + key);
}

async function latest() {
  return (await live.call("session/list", { limit: LATEST })).sessions;
}

function remember(key: string, session_id: string): string {
  keep(key, { session_id });
  return session_id;
}

function keep(key: string, started: Started): void {
  sessionStorage.setItem(KEY + key, JSON.stringify(started));
}
