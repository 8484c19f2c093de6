// What a tool call does, read from its arguments: whatever the agent calls it, this is what would run or change.

import type { ApprovalRequestedPayload, CallPattern, ToolKind } from "roost-client";
import { changesIn, fieldsOf, firstText, PATHS, type Argument, type Change, type Fields } from "./file-change";
import { holdsPicture, isPicture } from "./pictures";

export interface CallFacts {
  /** The kind of thing it does. */
  category: "command" | "edit" | "read" | "search" | "fetch" | "other";
  /** The command, file, pattern or address; the name of the tool if there is none. */
  subject: string;
  /** The changes to files, as far as the arguments tell. */
  changes: Change[];
  /** The folder that a command runs in; absent if it is the session's. */
  folder?: string;
  /** The service of an MCP call. */
  service?: string;
  /** The arguments that the above says in full; what else there is must be shown, too. */
  shown: string[];
}

/** Arguments that are a command line, and the folder that it runs in: what crates/rpc/src/call.rs knows. */
const COMMANDS = ["command", "cmd", "script", "commandLine"];
const FOLDERS = ["cwd", "workdir", "working_directory", "workingDirectory", "directory", "dir_path", "working_dir"];
/** Values of `command` in the tool of a text editor, where it is no command line. */
const EDITOR_COMMANDS = ["view", "create", "str_replace", "insert", "undo_edit"];

export function callFacts(name: string, input: unknown, kind: ToolKind | undefined): CallFacts {
  const fields = fieldsOf(input);
  const facts = (category: CallFacts["category"], subject: string, ...used: (Argument | undefined)[]): CallFacts => ({
    category, subject, changes: [], shown: used.flatMap((one) => (one ? [one.key] : [])),
  });
  const [, service, tool] = /^mcp__([^_]+(?:_[^_]+)*)__(.*)$/s.exec(name) ?? [];
  if (service) {
    // Its arguments may mean anything, whatever they are called.
    const said = Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : "";
    return { ...facts("other", `${tool}${said}`), service };
  }
  const command = commandOf(fields);
  if (command) {
    const folder = firstText(fields, FOLDERS);
    return { ...facts("command", command.value, command, folder), folder: folder?.value };
  }
  const { changes, shown } = changesIn(input);
  const [first] = changes;
  if (first) {
    const others = new Set(changes.map((change) => change.path)).size - 1;
    const subject = others > 0 ? `${first.path} and ${others} more` : first.path;
    return { ...facts("edit", subject), changes, shown };
  }
  const address = firstText(fields, ["url", "uri", "href"]);
  if (address?.value) return facts("fetch", address.value, address);
  const path = firstText(fields, PATHS);
  const pattern = firstText(fields, ["pattern", "query", "regex"]);
  if (pattern?.value) return facts("search", path?.value ? `${pattern.value} in ${path.value}` : pattern.value, pattern, path);
  const category = kind === "edit" || kind === "delete" || kind === "move" ? "edit" : "read";
  if (path?.value) return facts(category, path.value, path);
  const [location] = Array.isArray(fields.locations) ? (fields.locations as unknown[]) : [];
  // What they are besides is shown, too: a call may touch more than its first place.
  return typeof location === "string" && kind && kind !== "other" && kind !== "execute" ? facts(category, location) : facts("other", name);
}

function commandOf(fields: Fields): Argument | undefined {
  for (const key of COMMANDS) {
    const line = fields[key];
    if (typeof line === "string" && !EDITOR_COMMANDS.includes(line)) return { key, value: line };
    const isWords = Array.isArray(line) && line.length > 0 && line.every((word) => typeof word === "string");
    if (isWords) return { key, value: line.map(quoteWord).join(" ") };
  }
  return undefined;
}

/** A word of a command as a shell would need it to be written, so that one word is never read as two. */
function quoteWord(word: string): string {
  return /^[\w./:,@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The calls that a remembered answer would cover, in words. */
export function patternText(pattern: CallPattern): string {
  const { touches, tool } = pattern;
  const everywhere = ", in every folder of this workspace";
  if (touches && "command" in touches) return commandText(touches.command) + everywhere;
  if (touches && "commands" in touches) return touches.commands.map(commandText).join(" and ") + everywhere;
  if (touches && "file" in touches) return tool ? `${tool} on ${touches.file}` : `changes to ${touches.file}`;
  if (touches && "host" in touches) return `addresses on ${touches.host}`;
  if (touches && "exact" in touches) return "exactly this call";
  return tool ? `every call of ${tool}` : "every call";
}

function commandText(words: readonly string[]): string {
  const isOpen = words.at(-1) === "*";
  return (isOpen ? words.slice(0, -1) : words).map(quoteWord).join(" ") + (isOpen ? " …" : "");
}

/** Whether a remembered answer can count in every workspace: a path means something in one only. */
export function holdsAnywhere(pattern: CallPattern): boolean {
  return !(pattern.touches && "file" in pattern.touches);
}

/** What a call would do, in words; the tool's own name is no word that people know. */
export function callWords({ category, changes, service }: CallFacts, name: string, kind: ToolKind | undefined): string {
  if (category === "command") return "Run a command";
  if (category === "edit") return editWords(changes, kind);
  if (category === "read") return "Read a file";
  if (category === "search") return "Search";
  if (category === "fetch") return "Open an address";
  return service ? `Use the service “${service}”` : `Use the tool “${name}”`;
}

const EDIT_WORDS: Record<Change["kind"], string> = { add: "Create a file", write: "Write a whole file", update: "Change a file", delete: "Delete a file" };

function editWords(changes: readonly Change[], kind: ToolKind | undefined): string {
  const [first] = changes;
  if (!first) return kind === "delete" ? "Delete a file" : kind === "move" ? "Move a file" : "Change a file";
  const files = new Set(changes.map((change) => change.path)).size;
  if (files > 1) return changes.every((change) => change.kind === "delete") ? `Delete ${files} files` : `Change ${files} files`;
  return first.movedTo === undefined ? EDIT_WORDS[first.kind] : "Change and move a file";
}

/** The rule that asked, in words. */
export function ruleText(rule: string | undefined): string {
  if (!rule) return "no named rule";
  if (rule === DANGEROUS_RULE) return "dangerous calls ask in every mode";
  const mode = /^permission_mode:(\w+)/.exec(rule)?.[1];
  return mode ? (MODE_RULES[mode] ?? `the mode “${mode.replace("_", " ")}” decides`) : rule;
}

const MODE_RULES: Record<string, string> = {
  plan: "Plan mode only reads",
  ask: "Ask mode asks before changes",
  accept_edits: "this mode asks before all but edits",
  auto: "Auto mode asks before dangerous calls",
  yolo: "Yolo mode asks for nothing",
};

const DANGEROUS_RULE = "permission_mode:dangerous";

/** Whether an accidental tap must not be enough. A daemon older than the page does not say the class. */
export function isDangerous({ rule, kind, class: harm }: Pick<ApprovalRequestedPayload, "rule" | "kind" | "class">): boolean {
  return harm === "dangerous" || rule === DANGEROUS_RULE || kind === "delete";
}

/** The text of a tool's result, which may be text, blocks of text or data. */
export function resultText(result: unknown): string {
  if (result === undefined || result === null) return "";
  if (typeof result === "string") return holdsPicture(result) ? "" : result;
  if (Array.isArray(result)) return result.map(resultText).filter(Boolean).join("\n");
  const fields = result as Fields;
  if (isPicture(fields)) return "";
  if (typeof fields.text === "string") return fields.text;
  if (fields.content !== undefined) return resultText(fields.content);
  return JSON.stringify(result, null, 2);
}

/** A path as somebody in the session's folder would write it. */
export function shortPath(path: string, folder: string): string {
  const root = folder.endsWith("/") ? folder : `${folder}/`;
  if (path === folder) return `${folder.split("/").at(-1)}/`;
  return folder && path.startsWith(root) ? path.slice(root.length) : path;
}
