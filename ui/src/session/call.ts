// What a tool call does, read from its arguments: whatever the agent calls it, this is what would run or change.

import type { ApprovalRequestedPayload, CallPattern, ToolKind } from "roost-client";
import { holdsPicture, isPicture } from "./pictures";

export interface Change {
  path: string;
  before: string;
  after: string;
  /** It puts `after` in the place of all that the file holds, of which the arguments say nothing. */
  isWhole: boolean;
}

export interface CallFacts {
  /** The kind of thing it does. */
  sort: "command" | "edit" | "read" | "search" | "fetch" | "other";
  /** The command, file, pattern or address; the name of the tool if there is none. */
  subject: string;
  /** The change to a file, as far as the arguments tell. */
  change?: Change;
  /** The folder that a command runs in; absent if it is the session's. */
  folder?: string;
  /** The service of an MCP call. */
  service?: string;
  /** The arguments that the above says in full; what else there is must be shown, too. */
  told: string[];
}

type Fields = Record<string, unknown>;

export function callFacts(name: string, input: unknown, kind: ToolKind | undefined): CallFacts {
  const fields: Fields = input !== null && typeof input === "object" && !Array.isArray(input) ? (input as Fields) : {};
  const service = /^mcp__([^_]+(?:_[^_]+)*)__/.exec(name)?.[1];
  const told = (...used: (Argument | undefined)[]) => used.flatMap((one) => (one ? [one.key] : []));
  const command = commandOf(fields);
  if (command) {
    const folder = text(fields, "cwd", "workdir");
    return { sort: "command", subject: command.value, folder: folder?.value, service, told: told(command, folder) };
  }
  const path = text(fields, "file_path", "path", "notebook_path", "filePath", "abs_path", "absolute_path");
  const after = text(fields, "new_string", "newText", "new_text", "content", "contents", "new_str");
  if (path && after) {
    const before = text(fields, "old_string", "oldText", "old_text", "old_str");
    const change = { path: path.value, before: before?.value ?? "", after: after.value, isWhole: !before };
    return { sort: "edit", subject: path.value, change, service, told: told(path, before, after) };
  }
  const address = text(fields, "url", "uri");
  if (address?.value) return { sort: "fetch", subject: address.value, service, told: told(address) };
  const pattern = text(fields, "pattern", "query", "regex");
  if (pattern?.value) {
    const subject = path?.value ? `${pattern.value} in ${path.value}` : pattern.value;
    return { sort: "search", subject, service, told: told(pattern, path) };
  }
  const changes = kind === "edit" || kind === "delete" || kind === "move";
  if (path?.value) return { sort: changes ? "edit" : "read", subject: path.value, service, told: told(path) };
  return { sort: "other", subject: name, service, told: [] };
}

interface Argument {
  key: string;
  value: string;
}

function commandOf(fields: Fields): Argument | undefined {
  const key = fields.command === undefined || fields.command === null ? "cmd" : "command";
  const line = fields[key];
  if (typeof line === "string") return { key, value: line };
  const isWords = Array.isArray(line) && line.length > 0 && line.every((word) => typeof word === "string");
  return isWords ? { key, value: line.map(quoteWord).join(" ") } : undefined;
}

/** A word of a command as a shell would need it to be written, so that one word is never read as two. */
function quoteWord(word: string): string {
  return /^[\w./:,@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The first of these arguments that is a text. */
function text(fields: Fields, ...names: string[]): Argument | undefined {
  for (const key of names) {
    const value = fields[key];
    if (typeof value === "string") return { key, value };
  }
  return undefined;
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
export function callWords({ sort, change, service }: CallFacts, name: string, kind: ToolKind | undefined): string {
  if (sort === "command") return "Run a command";
  if (sort === "edit") return kind === "delete" ? "Delete a file" : kind === "move" ? "Move a file" : change?.isWhole ? "Write a whole file" : "Change a file";
  if (sort === "read") return "Read a file";
  if (sort === "search") return "Search";
  if (sort === "fetch") return "Open an address";
  return service ? `Use the service “${service}”` : `Use the tool “${name}”`;
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
