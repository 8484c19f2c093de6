// What a tool call does, read from its arguments: whatever the agent calls it, this is what would run or change.

import { holdsPicture, isPicture } from "./pictures";
import type { CallPattern, ToolKind } from "roost-client";

export interface Change {
  path: string;
  before: string;
  after: string;
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
}

type Fields = Record<string, unknown>;

export function callFacts(name: string, input: unknown, kind: ToolKind | undefined): CallFacts {
  const fields: Fields = input !== null && typeof input === "object" && !Array.isArray(input) ? (input as Fields) : {};
  const service = /^mcp__([^_]+(?:_[^_]+)*)__/.exec(name)?.[1];
  const command = commandOf(fields);
  if (command !== undefined) return { sort: "command", subject: command, folder: text(fields, "cwd", "workdir"), service };
  const path = text(fields, "file_path", "path", "notebook_path", "filePath", "abs_path", "absolute_path");
  const change = changeOf(fields, path);
  if (change) return { sort: "edit", subject: change.path, change, service };
  const address = text(fields, "url", "uri");
  if (address) return { sort: "fetch", subject: address, service };
  const pattern = text(fields, "pattern", "query", "regex");
  if (pattern) return { sort: "search", subject: path ? `${pattern} in ${path}` : pattern, service };
  if (path) return { sort: kind === "edit" || kind === "delete" || kind === "move" ? "edit" : "read", subject: path, service };
  return { sort: "other", subject: name, service };
}

function commandOf(fields: Fields): string | undefined {
  const { command, cmd } = fields;
  const line = command ?? cmd;
  if (typeof line === "string") return line;
  return Array.isArray(line) && line.every((word) => typeof word === "string") ? line.join(" ") : undefined;
}

function changeOf(fields: Fields, path: string | undefined): Change | undefined {
  const after = text(fields, "new_string", "newText", "new_text", "content", "contents", "new_str");
  if (path === undefined || after === undefined) return undefined;
  return { path, before: text(fields, "old_string", "oldText", "old_text", "old_str") ?? "", after };
}

function text(fields: Fields, ...names: string[]): string | undefined {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string") return value;
  }
  return undefined;
}

/** The calls that a remembered answer would cover, in words. */
export function patternText(pattern: CallPattern): string {
  const { touches, tool } = pattern;
  if (touches && "command" in touches) return touches.command.join(" ");
  if (touches && "commands" in touches) return touches.commands.map((words) => words.join(" ")).join("; ");
  if (touches && "file" in touches) return `files ${touches.file}`;
  if (touches && "host" in touches) return `the host ${touches.host}`;
  if (touches && "exact" in touches) return "exactly this input";
  return tool ? `every call of ${tool}` : "every call";
}

/** The rule that asked, in words. */
export function ruleText(rule: string | undefined): string {
  if (!rule) return "no named rule";
  if (rule === DANGEROUS_RULE) return "Asks in every mode";
  const mode = /^permission_mode:(\w+)/.exec(rule)?.[1];
  return mode ? (MODE_RULES[mode] ?? `The mode “${mode.replace("_", " ")}” decided`) : rule;
}

const MODE_RULES: Record<string, string> = {
  plan: "Plan mode only reads",
  ask: "Ask mode asks before changes",
  accept_edits: "This mode asks before all but edits",
  auto: "Auto mode asks before dangerous calls",
  yolo: "Yolo mode asks for nothing",
};

const DANGEROUS_RULE = "permission_mode:dangerous";

/** Whether an accidental tap must not be enough. */
export function isDangerous(rule: string | undefined, kind: ToolKind | undefined): boolean {
  return rule === DANGEROUS_RULE || kind === "delete";
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
