// The rows of a transcript: its items, with reads that follow each other folded into one.

import type { Item, ToolItem } from "./items.svelte";

export interface ReadsRow {
  readonly kind: "reads";
  readonly id: string;
  readonly seq: number;
  readonly tools: readonly ToolItem[];
}

/** Stands in place of what retention has removed. */
export interface GoneRow {
  readonly kind: "gone";
  readonly id: "gone";
  readonly seq: number;
  /** When the first event that is left happened; empty if none is. */
  readonly time: string;
}

export type Row = Item | ReadsRow | GoneRow;

/** The rows with what stands before the first: events are numbered from 1 without gaps, so one that begins later was cut. */
export function withBeginning(rows: Row[], { hasEarlier, firstSeq, firstTime }: { hasEarlier: boolean; firstSeq: number; firstTime: string }): Row[] {
  return hasEarlier || firstSeq <= 1 ? rows : [{ kind: "gone", id: "gone", seq: firstSeq, time: firstTime }, ...rows];
}

/** Groups items into rows; groups that did not change are those of `before`, so that they are not drawn again. */
export function rowsOf(items: readonly Item[], before: readonly Row[] = []): Row[] {
  const known = new Map(before.map((row) => [row.id, row]));
  const rows: Row[] = [];
  let reads: ToolItem[] = [];
  const close = () => {
    const [first] = reads;
    if (first && reads.length > 1) rows.push(group(first, reads, known));
    else rows.push(...reads);
    reads = [];
  };
  for (const item of items) {
    if (item.kind === "text" && item.markdown.isEmpty && !item.isStreaming && !item.artifact) continue;
    if (isQuietRead(item)) reads.push(item);
    else {
      close();
      rows.push(item);
    }
  }
  close();
  return rows;
}

function group(first: ToolItem, tools: ToolItem[], known: Map<string, Row>): ReadsRow {
  const id = `r:${first.id}`;
  const same = known.get(id);
  if (same?.kind === "reads" && same.tools.length === tools.length) return same;
  return { kind: "reads", id, seq: first.seq, tools };
}

/** A read that ended well and that nobody was asked about. */
function isQuietRead(item: Item): item is ToolItem {
  const isRead = item.kind === "tool" && (item.toolKind === "read" || item.toolKind === "search");
  return isRead && item.state === "done" && !item.approval;
}
