// The definition of a tool as text, so that two of them can be compared line by line. What an agent reads comes first.

const FIRST = ["name", "title", "description", "annotations", "inputSchema", "outputSchema"];

/** A definition with its description as lines of text and everything else as JSON, in an order that never changes. */
export function definitionText(definition: Record<string, unknown> | undefined): string {
  if (!definition) return "";
  const rest = Object.keys(definition).filter((key) => !FIRST.includes(key)).sort();
  const parts = [...FIRST, ...rest].flatMap((key) => {
    const value = definition[key];
    if (value === undefined) return [];
    if (typeof value !== "string") return [`${key}: ${JSON.stringify(sorted(value), null, 2)}`];
    return value.includes("\n") ? [`${key}:`, ...value.split("\n").map((line) => `  ${line}`)] : [`${key}: ${value}`];
  });
  return `${parts.join("\n")}\n`;
}

/** The value with the members of every object in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, part]) => [key, sorted(part)]));
}

export interface ToolArgument {
  name: string;
  type: string;
  isRequired: boolean;
}

/** The arguments of a tool by its schema, as far as it says so in a usual way. */
export function argumentsOf(definition: Record<string, unknown>): ToolArgument[] {
  const schema = (definition.inputSchema ?? {}) as { properties?: Record<string, unknown>; required?: unknown };
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const type = (property as { type?: unknown } | null)?.type;
    return { name, type: Array.isArray(type) ? type.join(" or ") : typeof type === "string" ? type : "any", isRequired: required.includes(name) };
  });
}
