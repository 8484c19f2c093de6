// The changes to files in a call's arguments, in the words of several agents: what crates/rpc/src/file_change.rs knows.
// test/tool-calls.json is what both are tested with.

export interface Change {
  path: string;
  /** Where the file is moved to, unless it stays. */
  movedTo?: string;
  /** What happens to the file. A `write` puts `after` in the place of all that it holds, of which nothing is said. */
  kind: "add" | "write" | "update" | "delete";
  before: string;
  after: string;
  /** A unified diff, in place of the two texts. */
  diff?: string;
}

/** What is found, and the arguments that it says in full. */
export interface FoundChanges {
  changes: Change[];
  shown: string[];
}

export type Fields = Record<string, unknown>;

export interface Argument {
  key: string;
  value: string;
}

export const PATHS = ["file_path", "path", "filePath", "notebook_path", "abs_path", "absolute_path"];
const OLD = ["old_string", "oldText", "oldString", "old_str", "old_text"];
const NEW = ["new_string", "newText", "newString", "new_str", "new_text", "new_source", "content", "contents", "file_text"];
/** New texts that are a whole file where no old text stands beside them; others go into one. */
const WHOLE = ["newText", "content", "contents", "file_text"];

const NONE: FoundChanges = { changes: [], shown: [] };

export function fieldsOf(value: unknown): Fields {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Fields) : {};
}

/** The first of these fields that is a text. */
export function firstText(fields: Fields, names: readonly string[]): Argument | undefined {
  for (const key of names) {
    const value = fields[key];
    if (typeof value === "string") return { key, value };
  }
  return undefined;
}

/** All changes in the arguments, in order. None if one of them is not understood: half of an edit would pass for all. */
export function changesIn(input: unknown): FoundChanges {
  const fields = fieldsOf(input);
  if (Array.isArray(fields.edits)) return editsOf(fields, fields.edits);
  if (Array.isArray(input)) return acpDiffs(input, []);
  if (Array.isArray(fields.content)) return acpDiffs(fields.content, fields.locations);
  const path = firstText(fields, PATHS);
  const found = path && changeOf(path.value, fields);
  if (path && found) return { changes: [found.change], shown: [path.key, ...found.keys] };
  return Array.isArray(fields.changes) ? patchesOf(fields.changes) : NONE;
}

/** Several edits of one file. */
function editsOf(fields: Fields, edits: readonly unknown[]): FoundChanges {
  const path = firstText(fields, PATHS);
  if (!path) return NONE;
  const found = allOf(edits, (edit) => changeOf(path.value, fieldsOf(edit)));
  if (!found) return NONE;
  const isAll = found.every(({ keys }, index) => hasOnly(edits[index], keys));
  return { changes: found.map(({ change }) => change), shown: isAll ? [path.key, "edits"] : [path.key] };
}

/** The diffs among blocks of ACP's content; `locations` are those beside it. */
function acpDiffs(blocks: readonly unknown[], locations: unknown): FoundChanges {
  const diffs = blocks.filter((block) => fieldsOf(block).type === "diff");
  const found = allOf(diffs, (diff) => {
    const path = firstText(fieldsOf(diff), PATHS);
    const change = path && changeOf(path.value, fieldsOf(diff));
    return change && { ...change, keys: ["type", path.key, ...change.keys] };
  });
  if (!found || found.length === 0) return NONE;
  const changes = found.map(({ change }) => change);
  const isAll = diffs.length === blocks.length && found.every(({ keys }, index) => hasOnly(diffs[index], keys));
  const paths = new Set<unknown>(changes.map((change) => change.path));
  const areKnown = Array.isArray(locations) && locations.every((place) => paths.has(place));
  return { changes, shown: [...(isAll ? ["content"] : []), ...(areKnown ? ["locations"] : [])] };
}

/** The list of an agent that names each file with its patch, as Codex does. */
function patchesOf(list: readonly unknown[]): FoundChanges {
  const changes = allOf(list, patchOf);
  if (!changes) return NONE;
  const isAll = list.every((one) => Object.keys(fieldsOf(one)).every((key) => PATHS.includes(key) || key === "kind" || key === "diff"));
  return { changes, shown: isAll ? ["changes"] : [] };
}

function patchOf(value: unknown): Change | undefined {
  const fields = fieldsOf(value);
  const [path, text] = [firstText(fields, PATHS)?.value, firstText(fields, ["diff"])?.value];
  const kind = fieldsOf(fields.kind).type ?? fields.kind;
  if (path === undefined || text === undefined) return undefined;
  const movedTo = firstText(fieldsOf(fields.kind), ["move_path", "movePath"])?.value;
  const common = { path, ...(movedTo !== undefined && { movedTo }) };
  if (kind === "add") return { ...common, kind, before: "", after: text };
  if (kind === "delete") return { ...common, kind, before: text, after: "" };
  // Codex writes the new name below the diff, too.
  const diff = movedTo !== undefined && text.endsWith(`\n\nMoved to: ${movedTo}`) ? text.slice(0, -`\n\nMoved to: ${movedTo}`.length) : text;
  return kind === "update" ? { ...common, kind, before: "", after: "", diff } : undefined;
}

/** One change that is told by a text before and after, and the fields that tell it. */
function changeOf(path: string, fields: Fields): { change: Change; keys: string[] } | undefined {
  const [before, after] = [firstText(fields, OLD), firstText(fields, NEW)];
  if (!after) return undefined;
  const kind = !before && WHOLE.includes(after.key) ? "write" : "update";
  const keys = before ? [before.key, after.key] : [after.key];
  return { change: { path, kind, before: before?.value ?? "", after: after.value }, keys };
}

/** Whether nothing but these fields is there, so that nothing is lost if only they are shown. */
const hasOnly = (value: unknown, keys: readonly string[]) => Object.keys(fieldsOf(value)).every((key) => keys.includes(key));

/** Each of the values as `read` understands it; nothing if it does not understand one. */
function allOf<T>(values: readonly unknown[], read: (value: unknown) => T | undefined): T[] | undefined {
  const found = values.map(read);
  return found.every((one) => one !== undefined) ? found : undefined;
}
