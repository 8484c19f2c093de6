// Why a task failed, in a sentence for people, and where they can do something about it. Whether the same prompt may be
// sent again, the daemon says.

import type { FailureCode } from "roost-client";

/** Where a failure is mended or explained, other than in the prompt. */
export type FailureLink = "status" | "activity";

export const LINK_WORDS: Record<FailureLink, string> = { status: "See the status", activity: "See what it did" };

const FAILURES: Record<FailureCode, { what: string; link?: FailureLink }> = {
  CONTEXT_TOO_LARGE: { what: "The prompt is longer than the model can read." },
  RUNTIME_ERROR: { what: "The agent reported an error." },
  TOOL_ERROR: { what: "A tool failed, and the agent gave up." },
  AUTH_ERROR: { what: "The agent is not logged in.", link: "status" },
  CANCELLED: { what: "The task was cut off before it was done." },
  INVALID_EVENT: { what: "The agent sent something that Roost does not understand.", link: "activity" },
  INTERNAL: { what: "Something went wrong in Roost itself." },
  SPAWN_FAILED: { what: "The agent's program could not be started.", link: "status" },
  RUNTIME_EXITED: { what: "The agent's program ended in the middle of its work." },
  HOST_RESTARTED: { what: "Roost was restarted in the middle of the task." },
  STORAGE_FULL: { what: "The disk is full, so nothing more could be recorded. Make room on it first.", link: "status" },
  BUDGET_EXCEEDED: {
    what: "The session has used up its budget. Raise it in [budgets] of roost.toml, then restart Roost.",
    link: "activity",
  },
  POLICY_VIOLATION: { what: "The agent ran a tool without asking for it, so Roost stopped it.", link: "activity" },
};

/** A daemon that is newer than this page may know more kinds. */
export function failureOf(code: FailureCode | undefined): { what: string; link?: FailureLink } {
  return (code && FAILURES[code]) ?? { what: "The task failed." };
}

/** What an agent or Roost wrote of a failure, without the words of the protocol in front. */
export function plainReason(reason: string): string {
  const plain = reason.replace(/^.{0,40}? answered with error -?\d+: (?:Internal error: )?/, "");
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}
