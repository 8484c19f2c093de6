// Answers on their way. An answer counts when the daemon took it; until then it is shown as sending, and if the
// connection broke meanwhile it is offered again with the same key, so that it cannot count twice.

import { ConnectionLost, NotConnected, type ApprovalScope, type PendingRequest, type PermissionDecision } from "roost-client";
import { explain, live } from "./connection.svelte";
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
  state: "sending" | "unsure";
  key: string;
}

class Answers {
  sent = $state<Record<string, SentAnswer>>({});

  async give(request: PendingRequest, answer: Answer): Promise<void> {
    const id = request.tool_use_id;
    const key = this.sent[id]?.key ?? randomKey();
    this.sent[id] = { ...answer, state: "sending", key };
    try {
      await this.#send(request, answer, key);
      delete this.sent[id];
    } catch (error) {
      if (error instanceof ConnectionLost && !(error instanceof NotConnected)) {
        this.sent[id].state = "unsure";
        return;
      }
      delete this.sent[id];
      toasts.fail(explain(error));
    }
    sessions.change(request.session_id, { asks: true });
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

/** A key that nobody else makes up; `crypto.randomUUID` is missing on a page from a plain http address. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");
}

export const answers = new Answers();
