// Characters that a reader does not see, or that turn the order of others round, are shown by their number.

/** Control characters but tab and newline, marks that change the direction of text, and what has no width. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** The text with hidden characters made visible, such as `⟨U+202E⟩`. */
export function revealHidden(text: string): string {
  return text.replace(HIDDEN, (mark) => `⟨U+${mark.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** One line for a list: hidden characters visible, no line breaks, and no longer than a screen. */
export function oneLine(text: string, most = 200): string {
  const line = revealHidden(text.replace(/\s+/g, " ").trim());
  return line.length > most ? `${line.slice(0, most)}…` : line;
}
