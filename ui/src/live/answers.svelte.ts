// Answers on their way. An answer counts when the daemon took it; until then it is shown as sending, and if the
// connection broke meanwhile it is offered again with the same key, so that it cannot count twice.

import { ConnectionLost, NotConnected, type ApprovalScope, type PendingRequest, type PermissionDecision } from "roost-client";
import { explain, live } from "./connection.svelte";
import { drafts } from "./drafts";
import { randomKey } from "./random-key";
import { sessions } from "./sessions.svelte";
import { toasts } from "./toasts.svelte";

export interface Answer {
  decision: PermissionDecision;
  scope?: ApprovalScope;
  reason?: string;
  /** The answers to a question, by field. */
  fields?: Record<string, string | string[]>;
}

export interface SentAnswer extends Answer {
  /** The daemon took it, and what it was about is on its way out of the list; or nobody knows whether it did. */
  state: "sending" | "taken" | "unconfirmed";
  key: string;
}

/** What is asked: another attempt at the same call is another request, which no earlier answer decides. */
export function askKey({ tool_use_id, pending: { ask } }: PendingRequest): string {
  return "approval" in ask ? `${tool_use_id}.${ask.approval.attempt}` : tool_use_id;
}

class Answers {
  sent = $state<Record<string, SentAnswer>>({});

  /** The answer that this page gave to a request, as far as it is not over. */
  to(request: PendingRequest): SentAnswer | undefined {
    return this.sent[askKey(request)];
  }

  async give(request: PendingRequest, answer: Answer): Promise<void> {
    const id = askKey(request);
    const before = this.sent[id];
    // The same answer again is a repetition; another one is a decision of its own.
    const key = before && isSame(before, answer) ? before.key : randomKey();
    this.sent[id] = { ...answer, state: "sending", key };
    try {
      await this.#send(request, answer, key);
      if (this.sent[id]) this.sent[id].state = "taken";
      drafts.set(id, "");
    } catch (error) {
      if (error instanceof ConnectionLost && !(error instanceof NotConnected)) {
        if (this.sent[id]) this.sent[id].state = "unconfirmed";
        return;
      }
      delete this.sent[id];
      toasts.fail(explain(error));
    }
    sessions.change(request.session_id, { asks: true });
  }

  /** Forgets the answers to what waits no more. */
  prune(pending: readonly PendingRequest[]): void {
    const waits = new Set(pending.map(askKey));
    for (const [id, { state }] of Object.entries(this.sent)) {
      if (!waits.has(id) && state !== "sending") delete this.sent[id];
    }
  }

  #send(request: PendingRequest, answer: Answer, key: string): Promise<unknown> {
    const { session_id, tool_use_id } = request;
    const { ask } = request.pending;
    const { decision, scope, reason, fields } = answer;
    if ("question" in ask) {
      const updated_input = decision === "allow" ? fields : undefined;
      return live.call("permission/respond", { session_id, tool_use_id, decision, reason, updated_input, key });
    }
    const { attempt, input_hash } = ask.approval;
    return live.call("permission/respond", { session_id, tool_use_id, decision, scope, reason, attempt, input_hash, key });
  }
}

function isSame(one: Answer, other: Answer): boolean {
  const essence = ({ decision, scope, reason, fields }: Answer) => JSON.stringify([decision, scope, reason, fields]);
  return essence(one) === essence(other);
}

export const answers = new Answers();

$effect.root(() => {
  $effect(() => answers.prune(sessions.pending));
});
