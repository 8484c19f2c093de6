// A session as a file: what was said as Markdown, or every event as the log has it.

import type { NormalizedEvent } from "roost-client";
import { live } from "../live/connection.svelte";
import { callFacts, resultText } from "./call";
import { Transcript } from "./transcript";

const PAGE = 5_000;

export interface ExportedFile {
  name: string;
  type: string;
  text: string;
}

export async function exportSession(id: string, title: string, form: "markdown" | "events"): Promise<ExportedFile> {
  const events = await readAll(id);
  const name = title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "session";
  if (form === "events") {
    const text = events.map((event) => `${JSON.stringify(event)}\n`).join("");
    return { name: `${name}.ndjson`, type: "application/x-ndjson", text };
  }
  return { name: `${name}.md`, type: "text/markdown", text: `# ${title}\n\n${asMarkdown(events)}` };
}

async function readAll(session_id: string): Promise<NormalizedEvent[]> {
  const all: NormalizedEvent[] = [];
  for (let after_seq = 0; ; ) {
    const page = await live.call("log/read", { session_id, after_seq, limit: PAGE });
    all.push(...page.events);
    after_seq = page.last_seq;
    if (!page.has_more) return all;
  }
}

function asMarkdown(events: readonly NormalizedEvent[]): string {
  const transcript = new Transcript();
  for (const event of events) transcript.apply(event);
  const parts = transcript.items.map((item) => {
    switch (item.kind) {
      case "prompt": {
        const said = item.blocks.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
        return `> ${said.split("\n").join("\n> ")}`;
      }
      case "text":
        return item.markdown.source;
      case "tool":
        return fenced(`${item.name}: ${callFacts(item.name, item.input, item.toolKind).subject}\n${item.output || resultText(item.result)}`);
      case "question":
        return `**${item.asked.message}** ${Object.values(item.resolved?.answers ?? {}).flat().join(", ")}`;
      case "end":
        return item.outcome === "completed" ? "" : `*${item.outcome}: ${item.reason}*`;
      default:
        return "";
    }
  });
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

/** The text in a fence that none of its own lines can end. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}

export function download(name: string, text: string, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
