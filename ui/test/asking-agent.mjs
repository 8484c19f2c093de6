// An agent that asks for leave to do whatever its prompt says: an ACP agent whose prompts are the arguments of a call as
// JSON, with `name`, `kind` and `title` beside them. `{"repeat": 20000}` in place of a text stands for that many characters.

import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
/** Who waits for the answer to a question, by its id. */
const waiting = new Map();
let last = 0;

async function ask(sessionId, { name, title = "a call", kind = "execute", input }) {
  const id = `ask-${++last}`;
  const rawInput = Object.fromEntries(Object.entries(input).map(([key, value]) => [key, typeof value?.repeat === "number" ? "x".repeat(value.repeat) : value]));
  const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }, { optionId: "no", name: "No", kind: "reject_once" }];
  const answered = new Promise((resolve) => waiting.set(id, resolve));
  send({ id, method: "session/request_permission", params: { sessionId, toolCall: { toolCallId: id, name, title, kind, rawInput }, options } });
  const { outcome } = await answered;
  const status = outcome.optionId === "yes" ? "completed" : "failed";
  send({ method: "session/update", params: { sessionId, update: { sessionUpdate: "tool_call_update", toolCallId: id, status } } });
}

const methods = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }),
  "session/new": () => ({ sessionId: `asking-${process.pid}` }),
  "session/prompt": async ({ sessionId, prompt }) => {
    const calls = [JSON.parse(prompt.map((block) => block.text ?? "").join(""))].flat();
    await Promise.all(calls.map((call) => ask(sessionId, call)));
    return { stopReason: "end_turn" };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  if (waiting.has(id) && !method) waiting.get(id)(result);
  else if (id !== undefined && methods[method]) void Promise.resolve(methods[method](params)).then((answer) => send({ id, result: answer }));
  else if (id !== undefined && method) send({ id, error: { code: -32601, message: "no such method" } });
}
