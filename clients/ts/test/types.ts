// Compiled and never run: what must be accepted, and what must be refused.

import { Client, ERRORS, type NormalizedEvent, RoostError } from "roost-client";

const client = new Client({ url: "ws://127.0.0.1:8766/ws", token: () => "EXAMPLE-NOT-A-TOKEN" });

export async function accepted(): Promise<string | undefined> {
  const hello = await client.connect();
  const runtimes: string[] = hello.capabilities.supportedAgents;
  await client.call("status/get");
  await client.call("session/list", { agent_type: runtimes[0], limit: 20 });
  const { session_id } = await client.call("session/start", { workspace_id: "w", permission_mode: "acceptEdits" });
  await client.watch({ session_id });
  const { cursor } = await client.subscribe({ format: "normalized", sessions: [session_id] });
  client.on("batch", ({ events }) => events.forEach(said));
  const stop = client.on("pty_permission", async ({ tool_use_id, type, options }) => {
    const key: string | undefined = options.find((option) => option.selected)?.key ?? type;
    await client.call("permission/respond", { tool_use_id, decision: key === "deny" ? "deny" : "allow", scope: "once" });
  });
  client.on("agent_message", ({ content }) => {
    for (const block of content) if (block.type === "tool_use") console.log(block.tool_name, block.tool_input);
  });
  stop();
  return cursor;
}

/** The type of an event tells what its payload is. */
function said(event: NormalizedEvent): void {
  if (event.type === "model.output.delta") console.log(event.seq, event.payload.delta);
  // @ts-expect-error: the payload of another type
  if (event.type === "task.completed") console.log(event.payload.delta);
}

export async function refused(): Promise<void> {
  // @ts-expect-error: no such method
  await client.call("session/begin", {});
  // @ts-expect-error: parameters that must be there
  await client.call("session/send");
  // @ts-expect-error: a parameter that must be there
  await client.call("permission/respond", { tool_use_id: "t" });
  // @ts-expect-error: neither of the two words
  await client.call("permission/respond", { tool_use_id: "t", decision: "perhaps" });
  // @ts-expect-error: no such parameter
  await client.call("session/list", { count: 20 });
  // @ts-expect-error: a method without parameters
  await client.call("status/get", { verbose: true });
  // @ts-expect-error: no such field of the result
  (await client.call("status/health")).pid;
  // @ts-expect-error: no such event
  client.on("claude_song", () => {});
  // @ts-expect-error: no such field of the event
  client.on("claude_status", ({ mood }) => mood);
  // @ts-expect-error: no such error
  ERRORS.OUT_OF_COFFEE;
  // @ts-expect-error: a word and not a number
  new RoostError("BUSY", "busy", {});
}
