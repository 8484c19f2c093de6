// Diffs as rows: read from what git writes, or made from a text before and after.

import { diffWordsWithSpace, parsePatch, structuredPatch, type StructuredPatchHunk } from "diff";

export interface DiffRow {
  kind: "hunk" | "same" | "added" | "removed";
  text: string;
  old?: number;
  new?: number;
  /** The parts of a changed line that differ from its counterpart, as pairs of start and end. */
  marks?: [number, number][];
}

/** Lines longer than this, in characters, are compared as a whole. */
const LONGEST_MARKED = 600;
/** Pairs of lines whose words are compared; what differs in the lines of a bigger change is told by the lines. */
const MOST_MARKED = 500;
/** Lines that are compared, and the most that may differ: finding the shortest change takes their product. */
const MOST_COMPARED = 50_000;
const MOST_DIFFERENT = 500;

/** The rows of a unified diff of one file. */
export function unifiedRows(diff: string): DiffRow[] {
  let patches;
  try {
    patches = parsePatch(diff);
  } catch {
    // Not a diff that can be read, such as one that was cut within a hunk: its lines are shown as they are.
    return linesOf(diff).map(asWritten);
  }
  return patches.flatMap((patch) => patch.hunks.flatMap(hunkRows));
}

/** The rows of the change from one text to another, with three lines around each change. */
export function changeRows(before: string, after: string): DiffRow[] {
  // Where there was nothing before, numbers of lines say no more than the lines.
  if (before === "") return plainRows("", after).filter((row) => row.kind !== "hunk");
  const isCompared = linesOf(before).length + linesOf(after).length <= MOST_COMPARED;
  const patch = isCompared ? structuredPatch("", "", before, after, "", "", { context: 3, maxEditLength: MOST_DIFFERENT }) : undefined;
  return patch?.hunks.flatMap(hunkRows) ?? plainRows(before, after);
}

/** The rows of a change that is told by two texts or by a unified diff. */
export function rowsOfChange({ before, after, diff }: { before: string; after: string; diff?: string }): DiffRow[] {
  if (diff === undefined) return changeRows(before, after);
  const rows = /^(@@|--- )/.test(diff) ? unifiedRows(diff) : [];
  // What a reader of diffs would skip is shown as it is: it is decided about, too.
  return rows.length > 0 ? rows : linesOf(diff).map(asWritten);
}

/** A line of something that is no diff, or not only one. */
function asWritten(line: string): DiffRow {
  const kind = kindOf(line[0]);
  return { kind, text: /^[-+ ]/.test(line) ? line.slice(1) : line };
}

/** All that goes and then all that comes, for texts that have too much or too little in common to be compared. */
function plainRows(before: string, after: string): DiffRow[] {
  const [gone, come] = [linesOf(before), linesOf(after)];
  return [
    { kind: "hunk", text: `@@ -${gone.length && 1},${gone.length} +${come.length && 1},${come.length} @@` },
    ...gone.map((text, index): DiffRow => ({ kind: "removed", text, old: index + 1 })),
    ...come.map((text, index): DiffRow => ({ kind: "added", text, new: index + 1 })),
  ];
}

/** The lines of a text; its last line break begins no other one. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

export function countRows(rows: readonly DiffRow[]): { added: number; removed: number } {
  const count = (kind: DiffRow["kind"]) => rows.filter((row) => row.kind === kind).length;
  return { added: count("added"), removed: count("removed") };
}

/** Pairs of old and new rows for a view side by side; `undefined` is an empty place. */
export function sideBySide(rows: readonly DiffRow[]): { left?: DiffRow; right?: DiffRow; hunk?: DiffRow }[] {
  const pairs: { left?: DiffRow; right?: DiffRow; hunk?: DiffRow }[] = [];
  let [removed, added]: [DiffRow[], DiffRow[]] = [[], []];
  const close = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++) {
      pairs.push({ left: removed[index], right: added[index] });
    }
    [removed, added] = [[], []];
  };
  for (const row of rows) {
    if (row.kind === "removed") removed.push(row);
    else if (row.kind === "added") added.push(row);
    else {
      close();
      pairs.push(row.kind === "hunk" ? { hunk: row } : { left: row, right: row });
    }
  }
  close();
  return pairs;
}

function kindOf(mark: string | undefined): DiffRow["kind"] {
  if (mark === "+") return "added";
  return mark === "-" ? "removed" : mark === "@" ? "hunk" : "same";
}

function hunkRows(hunk: StructuredPatchHunk): DiffRow[] {
  // Of a side without lines, git says 0; the library says 1.
  const start = (first: number, lines: number) => (lines === 0 ? Math.max(0, first - 1) : first);
  const head = `@@ -${start(hunk.oldStart, hunk.oldLines)},${hunk.oldLines} +${start(hunk.newStart, hunk.newLines)},${hunk.newLines} @@`;
  const rows: DiffRow[] = [{ kind: "hunk", text: head }];
  let [oldLine, newLine] = [hunk.oldStart, hunk.newStart];
  for (const line of hunk.lines) {
    const [mark, text] = [line[0], line.slice(1)];
    if (mark === "+") rows.push({ kind: "added", text, new: newLine++ });
    else if (mark === "-") rows.push({ kind: "removed", text, old: oldLine++ });
    else if (mark !== "\\") rows.push({ kind: "same", text, old: oldLine++, new: newLine++ });
  }
  markWords(rows);
  return rows;
}

/** Marks what differs within lines that replace each other one by one. */
function markWords(rows: DiffRow[]): void {
  let left = MOST_MARKED;
  for (let at = 0; at < rows.length && left > 0; at++) {
    if (rows[at]?.kind !== "removed") continue;
    let end = at;
    while (rows[end]?.kind === "removed") end++;
    const count = end - at;
    const isPaired = rows.slice(end, end + count).filter((row) => row.kind === "added").length === count;
    if (isPaired && rows[end + count]?.kind !== "added") {
      for (let index = 0; index < count && left-- > 0; index++) markPair(rows[at + index], rows[end + index]);
    }
    at = end;
  }
}

function markPair(before: DiffRow | undefined, after: DiffRow | undefined): void {
  if (!before || !after || before.text.length + after.text.length > LONGEST_MARKED) return;
  const [left, right]: [[number, number][], [number, number][]] = [[], []];
  let [oldAt, newAt, same] = [0, 0, 0];
  for (const { value, added, removed } of diffWordsWithSpace(before.text, after.text)) {
    if (removed) left.push([oldAt, oldAt + value.length]);
    if (added) right.push([newAt, newAt + value.length]);
    if (!added && !removed) same += value.trim().length;
    if (!added) oldAt += value.length;
    if (!removed) newAt += value.length;
  }
  // Lines that have next to nothing in common are two different lines.
  if (same * 4 < Math.max(before.text.trim().length, after.text.trim().length)) return;
  [before.marks, after.marks] = [left, right];
}
