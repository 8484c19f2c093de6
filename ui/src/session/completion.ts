// What is being completed in a prompt: `@` and a file, or `/` and a command at its beginning.

export interface Completion {
  mark: "@" | "/";
  query: string;
  /** What a suggestion replaces. */
  start: number;
  end: number;
}

export function completionAt(text: string, caret: number): Completion | undefined {
  const before = text.slice(0, caret);
  const command = /^\/(\S*)$/.exec(before);
  if (command) return { mark: "/", query: command[1] ?? "", start: 0, end: caret };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (!file) return undefined;
  const query = file[1] ?? "";
  return { mark: "@", query, start: caret - query.length - 1, end: caret };
}
