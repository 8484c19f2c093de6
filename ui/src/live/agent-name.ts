// What people call an agent, where the protocol has an id.

import { live } from "./connection.svelte";

/** The name of an agent; its id if the daemon knows no other. */
export function agentName(id: string): string {
  return id === "mcp" ? "MCP client" : (live.agent(id)?.displayName ?? id);
}
