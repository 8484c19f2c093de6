// Characters that a reader does not see, or that turn the order of others round, are shown by their number.

/** Control characters but tab and newline, marks that change the direction of text, and what has no width. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** The text with hidden characters made visible, such as `⟨U+202E⟩`. */
export function revealHidden(text: string): string {
  return text.replace(HIDDEN, (mark) => `⟨U+${mark.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** A letter of a script that is written with joiners; in Latin, Greek and Cyrillic they would only hide in a word. */
const JOINED = String.raw`(?![\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Inherited}])[\p{L}\p{M}]`;
/** What makes one picture of several, and what shapes the letters on both of its sides. */
const JOINERS = String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})|(?<=${JOINED})[\u200c\u200d](?=${JOINED})`;
const HIDDEN_IN_PROSE = new RegExp(`(${JOINERS})|${HIDDEN.source}`, "gu");

/** The same for prose, where joiners between pictures and letters are a part of writing; not for commands and paths. */
export function revealInProse(text: string): string {
  return text.replace(HIDDEN_IN_PROSE, (mark: string, joiner: string | undefined) => joiner ?? revealHidden(mark));
}

/** One line for a list: hidden characters visible, no line breaks, and no longer than a screen. */
export function oneLine(text: string, most = 200): string {
  return shortened(revealHidden(inOneLine(text)), most);
}

/** The same for a title or another line of prose. */
export function oneLineOfProse(text: string, most = 200): string {
  return shortened(revealInProse(inOneLine(text)), most);
}

const inOneLine = (text: string) => text.replace(/\s+/g, " ").trim();
const shortened = (line: string, most: number) => (line.length > most ? `${line.slice(0, most)}…` : line);
