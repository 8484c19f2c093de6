// The manifest of a service that somebody describes in a form, as `roost services add-stdio` and `add-remote` make it.

export interface ServiceDraft {
  kind: "program" | "address";
  name: string;
  command: string;
  /** One argument on each line. */
  args: string;
  endpoint: string;
}

/** The manifest; `undefined` while something that it needs is missing. */
export function manifestOf(draft: ServiceDraft): Record<string, unknown> | undefined {
  const [module, command, endpoint] = [draft.name.trim(), draft.command.trim(), draft.endpoint.trim()];
  const source = draft.kind === "program" ? command : endpoint;
  if (!module || !source) return undefined;
  const args = draft.args.split("\n").map((line) => line.trim()).filter(Boolean);
  const origin =
    draft.kind === "program"
      ? { type: "stdio_mcp", command, ...(args.length > 0 && { args }) }
      : { type: "remote_mcp", endpoint, transport: "streamable_http" };
  return {
    apiVersion: "clarity.runtime/v1",
    kind: "MCPService",
    metadata: { sourceFile: source, module, serviceType: "mcp" },
    spec: {
      origin,
      enabled: true,
      autostart: true,
      restartPolicy: { mode: "on-failure", maxRestarts: 5, windowSeconds: 60 },
      policyRef: "default",
    },
  };
}
