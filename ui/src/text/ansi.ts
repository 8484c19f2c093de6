// Terminal output: colours become classes, every other escape sequence is dropped.

import Anser from "anser";
import { revealHidden } from "./hidden";

export interface Span {
  text: string;
  /** Names of classes, such as `ansi-red`. */
  classes: string;
}

// eslint-disable-next-line no-control-regex
const OTHER_ESCAPES = /\u001b(?:\[[0-9;?]*[A-HJKSTfhilnsu]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][AB012]|[=>78cDEHMNOZ])/g;

/** The lines of an output as a terminal would leave them. */
export function outputLines(text: string): string[] {
  const lines = text.replace(OTHER_ESCAPES, "").replace(/\r\n/g, "\n").split("\n");
  // A progress bar draws over its own line; the last drawing is what is left.
  return lines.map((line) => (line.includes("\r") ? (line.split("\r").filter(Boolean).at(-1) ?? "") : line));
}

export function ansiSpans(line: string): Span[] {
  if (!line.includes("\u001b")) return [{ text: revealHidden(line), classes: "" }];
  return Anser.ansiToJson(line, { use_classes: true, remove_empty: true }).map(({ content, fg, bg, decorations }) => ({
    text: revealHidden(content),
    classes: [fg, bg && `${bg}-bg`, ...decorations.map((name) => `ansi-${name}`)].filter(Boolean).join(" "),
  }));
}
