// An MCP server on stdio that is as a file says: `{"description": "…"}` is what its tool says of itself, and with
// `{"fails": "why"}` it ends at once. The file is the last argument; it is read at the start and for every list.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const state = () => JSON.parse(readFileSync(process.argv.at(-1), "utf8"));

const { fails } = state();
if (fails) {
  process.stderr.write(`${fails}\n`);
  process.exit(1);
}
process.stderr.write("the server is ready\n");

const tool = () => ({
  name: "take_note",
  description: state().description,
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
});

const methods = {
  initialize: () => ({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "changing", version: "1.0.0" } }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [tool()] }),
  "tools/call": ({ arguments: given }) => ({ content: [{ type: "text", text: `noted: ${given.text}` }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = methods[method];
  const body = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: `no method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
}
