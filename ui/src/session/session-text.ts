// A session as Markdown: all that was said, thought, planned, done and decided. What cannot be read is named.

import type { NormalizedEvent, TranscriptContentBlock } from "roost-client";
import { fullTime } from "../text/time";
import { callFacts, resultText } from "./call";
import type { Item, ToolItem } from "./items.svelte";
import { Transcript } from "./transcript";

/** Reads what was too big for its event. */
type ReadText = (artifact: string) => Promise<string>;

export async function sessionText(title: string, events: readonly NormalizedEvent[], read: ReadText): Promise<string> {
  const transcript = new Transcript();
  // A screen holds the end of a running output; the event has all of it.
  const outputs = new Map<string, string>();
  const plans: { seq: number; text: string }[] = [];
  for (const event of events) {
    transcript.apply(event);
    if (event.type === "tool.output.completed") {
      const { tool_call_id, stdout = "", stderr = "" } = event.payload;
      outputs.set(tool_call_id, [stdout, stderr].filter(Boolean).join("\n"));
    } else if (event.type === "plan.updated") {
      const marks = { completed: "x", in_progress: "~", pending: " " };
      const lines = event.payload.entries.map((entry) => `- [${marks[entry.status as keyof typeof marks] ?? entry.status}] ${entry.content}`);
      plans.push({ seq: event.seq, text: `*Plan:*\n\n${lines.join("\n")}` });
    }
  }
  const parts: string[] = [`# ${title}`];
  if (transcript.firstSeq > 1) parts.push(`*What happened before ${fullTime(transcript.firstTime)} was removed by retention.*`);
  for (const item of transcript.items) {
    while (plans[0] && plans[0].seq < item.seq) parts.push(plans.shift()?.text ?? "");
    parts.push(await itemText(item, outputs, read));
  }
  parts.push(...plans.map((plan) => plan.text));
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

async function itemText(item: Item, outputs: ReadonlyMap<string, string>, read: ReadText): Promise<string> {
  switch (item.kind) {
    case "prompt":
      return quoted((await Promise.all(item.blocks.map((block) => blockText(block, read)))).join("\n"));
    case "text":
      return item.artifact ? whole(item.artifact, "the answer", read) : item.markdown.source;
    case "thinking":
      return item.text ? `<details><summary>Thinking</summary>\n\n${quoted(item.text)}\n\n</details>` : "";
    case "tool":
      return toolText(item, outputs.get(item.callId), read);
    case "question": {
      const { resolved } = item;
      const answer = resolved?.outcome === "answered" ? Object.values(resolved.answers ?? {}).flat().join(", ") : (resolved?.outcome ?? "not answered");
      return `**${item.asked.message}** ${answer}${resolved?.answered_by?.user_id ? ` (${resolved.answered_by.user_id})` : ""}`;
    }
    case "end":
      return item.outcome === "completed" ? "" : `*${item.outcome}: ${item.error?.message ?? item.reason}*`;
    case "note":
      return `*${item.level}: ${item.text}*`;
  }
}

async function toolText(item: ToolItem, output: string | undefined, read: ReadText): Promise<string> {
  const { inputRef, resultRef, resolution } = item;
  const result = resultRef ? await whole(resultRef.artifact_id, "the result", read) : resultText(item.result);
  const facts = callFacts(item.name, item.input, item.toolKind);
  // The arguments as they are, but for a command, which is one itself.
  const input = inputRef
    ? await whole(inputRef.artifact_id, "the arguments", read)
    : facts.category === "command" && !facts.folder ? "" : JSON.stringify(item.input, null, 2);
  const running = item.outputDropped > 0 ? `[${item.outputDropped} characters of earlier output]\n${item.output}` : item.output;
  const decided = resolution
    ? `${resolution.decision === "allow" ? "Allowed" : "Denied"}${resolution.answered_by?.user_id ? ` by ${resolution.answered_by.user_id}` : ""}` : "";
  const why = item.state === "denied" ? `${decided || "Denied"}${item.reason ? `: ${item.reason}` : ""}` : decided;
  const shown = output ?? running;
  const body = fenced([`${item.name}: ${facts.subject}`, input, shown, result === shown ? "" : result].filter(Boolean).join("\n"));
  return why ? `${body}\n\n*${why}*` : body;
}

async function blockText(block: TranscriptContentBlock, read: ReadText): Promise<string> {
  if (block.type === "text") return block.text;
  if (block.type === "code") return `\`\`\`${block.language ?? ""}\n${block.code}\n\`\`\``;
  if (block.type === "file_ref") return `@${block.path}`;
  if (block.type === "image") return `[picture: ${block.name ?? block.artifact_id}]`;
  if (block.type !== "artifact_ref") return `[${block.type}]`;
  return block.content_type?.startsWith("text/") ? whole(block.artifact_id, "the text", read) : `[file: ${block.name ?? block.artifact_id}]`;
}

/** What was too big for its event, or a note that it is missing. */
async function whole(artifact: string, what: string, read: ReadText): Promise<string> {
  try {
    return await read(artifact);
  } catch {
    return `[${what} was too big for the record and could not be read: ${artifact}]`;
  }
}

const quoted = (text: string) => `> ${text.split("\n").join("\n> ")}`;

/** The text in a fence that none of its own lines can end. */
function fenced(text: string): string {
  const longest = [...text.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}
