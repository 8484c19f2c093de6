// A session as a file: what was said as Markdown, or every event as the log has it.

import type { NormalizedEvent } from "roost-client";
import { readArtifactText } from "../live/artifacts";
import { readForward } from "./log-pages";
import { sessionText } from "./session-text";

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
  return { name: `${name}.md`, type: "text/markdown", text: await sessionText(title, events, readArtifactText) };
}

async function readAll(session_id: string): Promise<NormalizedEvent[]> {
  const all: NormalizedEvent[] = [];
  for (let after_seq = 0; ; ) {
    const page = await readForward(session_id, after_seq);
    all.push(...page.events);
    after_seq = page.last_seq;
    if (!page.has_more) return all;
  }
}

export function download(name: string, text: string, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
