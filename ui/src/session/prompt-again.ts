// A prompt that was sent before, as it can be sent once more: its text, its pictures and its files.

import type { TranscriptContentBlock } from "roost-client";
import { readArtifact, readArtifactText } from "../live/artifacts";
import { live } from "../live/connection.svelte";
import type { EndItem } from "./items.svelte";

export interface PromptAgain {
  text: string;
  images: File[];
  files: string[];
}

/** The first prompt of the task that ended so, from the log. */
export async function readPrompt(session_id: string, end: EndItem): Promise<readonly TranscriptContentBlock[]> {
  const { events } = await live.call("log/read", { session_id, before_seq: end.seq, types: ["task.started"], limit: 1 });
  const [started] = events;
  if (started?.type !== "task.started" || started.trace.task_id !== end.task) throw new Error("the log does not have this prompt any more");
  return started.payload.messages.flatMap((message) => (message.role === "user" ? message.content : []));
}

/** Reads all of it; fails rather than leave a part out. */
export async function promptAgain(blocks: readonly TranscriptContentBlock[]): Promise<PromptAgain> {
  const again: PromptAgain = { text: "", images: [], files: [] };
  const texts: string[] = [];
  for (const block of blocks) {
    if (block.type === "text") texts.push(block.text);
    else if (block.type === "code") texts.push(block.code);
    else if (block.type === "file_ref") again.files.push(block.path);
    else if (block.type === "image") {
      again.images.push(new File([await readArtifact(block.artifact_id)], block.name ?? "picture", { type: block.media_type }));
    } else if (block.type === "artifact_ref") {
      // A text that was too big for its event.
      if (!block.content_type?.startsWith("text/")) throw new Error("the prompt has a part that cannot be sent again; write it anew");
      texts.push(await readArtifactText(block.artifact_id));
    }
  }
  again.text = texts.join("\n");
  return again;
}
