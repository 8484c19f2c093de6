// The messages of a session that only its runtime has, as a transcript.

import type { Block, Message } from "roost-client";
import { live } from "../live/connection.svelte";
import { PromptItem, TextItem, ThinkingItem, ToolItem, type Item } from "./items.svelte";
import { Transcript } from "./transcript";

/** Messages that are read at once. */
const PAGE = 200;

/** The end of such a session, and as much of what came before as was read. */
export class PastMessages {
  hasEarlier = false;
  #messages: Message[] = [];

  constructor(readonly session_id: string) {}

  /** Reads the newest messages, or those before the first that is here; returns the items of all that are here. */
  async read(which: "latest" | "earlier"): Promise<Item[]> {
    const offset = which === "earlier" ? this.#messages.length : 0;
    const { messages, has_more } = await live.call("session/messages", { session_id: this.session_id, limit: PAGE, offset, order: "desc" });
    const page = messages.reverse();
    const known = new Set(this.#messages.map((message) => message.uuid));
    const fresh = page.filter((message) => !known.has(message.uuid));
    if (which === "earlier") [this.#messages, this.hasEarlier] = [[...fresh, ...this.#messages], has_more];
    // More was said than one page holds: what lies between is read while somebody scrolls up.
    else if (fresh.length === page.length) [this.#messages, this.hasEarlier] = [page, has_more];
    else this.#messages = [...this.#messages, ...fresh];
    return messagesToTranscript(this.#messages).items;
  }
}

export function messagesToTranscript(messages: readonly Message[]): Transcript {
  const transcript = new Transcript();
  const tools = new Map<string, ToolItem>();
  for (const message of messages) {
    for (const [index, block] of message.message.content.entries()) {
      const item = itemOf(block, `${message.uuid}:${index}`, message.id, message, tools);
      if (item) transcript.items.push(item);
    }
  }
  return transcript;
}

function itemOf(block: Block, id: string, seq: number, message: Message, tools: Map<string, ToolItem>): Item | undefined {
  const { timestamp } = message;
  if (block.type === "tool_result") {
    const tool = tools.get(block.tool_use_id);
    if (tool) Object.assign(tool, { result: block.content, state: block.is_error ? "failed" : "done" });
    return undefined;
  }
  if (block.type === "tool_use") {
    const tool = new ToolItem(id, seq, timestamp);
    Object.assign(tool, { callId: block.id, name: block.name, input: block.input, state: "interrupted" });
    tools.set(block.id, tool);
    return tool;
  }
  if (block.type === "thinking") {
    const thinking = new ThinkingItem(id, seq, timestamp);
    Object.assign(thinking, { text: block.text, endedAt: timestamp });
    return thinking;
  }
  if (message.type === "user") {
    const prompt = new PromptItem(id, seq, timestamp);
    prompt.blocks = [{ type: "text", text: block.text }];
    return prompt;
  }
  const text = new TextItem(id, seq, timestamp);
  text.isStreaming = false;
  text.markdown.finish(block.text);
  return text;
}
