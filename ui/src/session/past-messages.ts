// The messages of a session that only its runtime has, as a transcript.

import type { Block, Message } from "roost-client";
import { PromptItem, TextItem, ThinkingItem, ToolItem, type Item } from "./items.svelte";
import { Transcript } from "./transcript";

export function messagesToTranscript(messages: readonly Message[]): Transcript {
  const transcript = new Transcript();
  const tools = new Map<string, ToolItem>();
  for (const message of messages) {
    for (const [place, block] of message.message.content.entries()) {
      const item = itemOf(block, `${message.uuid}:${place}`, message.id, message, tools);
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
