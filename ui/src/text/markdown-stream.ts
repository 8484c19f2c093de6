// Markdown that arrives in pieces. What is finished is split off block by block and never changes again, so that text
// above does not flicker and a long answer costs no more than its last paragraph.

export interface MarkdownBlock {
  readonly id: number;
  readonly source: string;
}

/** A last block that grows beyond this many characters is split where it can be. */
const LONGEST_TAIL = 8_000;

export class MarkdownStream {
  /** The finished blocks. A new list with each new block, so that a screen notices. */
  blocks: readonly MarkdownBlock[] = [];
  /** What was written since the last finished block. */
  tail = "";
  #nextId = 0;

  append(text: string): void {
    this.tail += text;
  }

  /** Splits off what is finished. Called once per frame, however many pieces came. */
  settle(): void {
    const parts = split(this.tail);
    if (parts.length < 2) return;
    this.tail = parts.pop() ?? "";
    this.blocks = [...this.blocks, ...parts.map((source) => ({ id: this.#nextId++, source }))];
  }

  /** Replaces everything by the text as a whole; blocks that are the same stay as they are. */
  finish(text: string): void {
    const sources = split(text);
    this.blocks = sources.map((source, index) => {
      const same = this.blocks[index];
      return same?.source === source ? same : { id: this.#nextId++, source };
    });
    this.tail = "";
  }

  get source(): string {
    return this.blocks.map((block) => block.source).join("") + this.tail;
  }

  get isEmpty(): boolean {
    return this.blocks.length === 0 && this.tail === "";
  }
}

/** The end of a text that is too long to be drawn; if it begins within code, the code begins anew. */
export function lastPart(text: string, most: number): string {
  if (text.length <= most) return text;
  const newline = text.indexOf("\n", text.length - most);
  const start = newline === -1 ? text.length - most : newline + 1;
  let fence = "";
  for (const line of text.slice(0, start).split("\n")) {
    const mark = FENCE.exec(line)?.[1];
    if (!fence && mark) fence = line;
    else if (fence && mark?.startsWith(FENCE.exec(fence)?.[1] ?? "") && line.trim() === mark) fence = "";
  }
  return fence ? `${fence}\n${text.slice(start)}` : text.slice(start);
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const LIST_ITEM = /^ {0,3}([-*+]|\d{1,9}[.)])(\s|$)/;

/**
 * The blocks of a text, in one pass. A block ends at a blank line, unless that is within code or a list; a block that
 * grows too long ends at a line, or within a line at a word. Code is never split, because its rest would not be code.
 */
function split(text: string): string[] {
  const blocks: string[] = [];
  let [start, fence, isBlank, isList, hasText] = [0, "", false, false, false];
  const endBlock = (at: number) => {
    if (at > start) blocks.push(text.slice(start, at));
    [start, isBlank, isList, hasText] = [at, false, false, false];
  };
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    const end = newline === -1 ? text.length : newline + 1;
    const line = text.slice(at, Math.min(newline === -1 ? end : newline, at + LONGEST_TAIL));
    const mark = FENCE.exec(line)?.[1];
    if (fence) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = "";
    } else if (line.trim() === "") {
      isBlank = hasText;
    } else {
      const continues = isList && (/^\s/.test(line) || LIST_ITEM.test(line));
      // Of a line that has no end yet it takes some characters to see what it becomes.
      const isCertain = newline !== -1 || line.length > 3;
      if ((isBlank && !continues && isCertain) || (hasText && end - start > LONGEST_TAIL)) endBlock(at);
      while (end - start > LONGEST_TAIL) {
        const word = text.lastIndexOf(" ", start + LONGEST_TAIL);
        endBlock(word > start ? word + 1 : start + LONGEST_TAIL);
      }
      if (mark) fence = mark;
      if (!hasText) isList = LIST_ITEM.test(line);
      [isBlank, hasText] = [false, true];
    }
    at = end;
  }
  endBlock(text.length);
  return blocks;
}
