// An agent that means harm: an ACP agent whose every text tries to be more than text.

import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const SCRIPT = "window.hacked = true";

export const TEXTS = [
  `<script>${SCRIPT}</script><img src=x onerror="${SCRIPT}"><svg onload="${SCRIPT}"></svg>`,
  `[click](javascript:${SCRIPT}) [data](data:text/html,<script>${SCRIPT}</script>) <a href="javascript:${SCRIPT}">x</a>`,
  "![picture](http://127.0.0.1:9/spy.png) <iframe src=//evil.example></iframe> <style>body{display:none}</style>",
  "a\u202egpj.exe reversed, z\u200bero width, \u001b[31mred\u001b[0m",
  "[https://bank.example/login](https://evil.example/) [write to us](mailto:mallory@evil.example) [bank.example](https://evil.example#bank.example) https://honest.example/page",
  "# Title\n\n```html\n</code></pre><script>window.hacked = true</script>\n```\n",
  "x".repeat(300_000),
];

/** Ten megabytes of output in lines that are colours, markup and no end. */
const OUTPUT = `\u001b[32m<b>ok</b>\u001b[0m ${"y".repeat(990)}\n`.repeat(10_000);

const update = (sessionId, update) => send({ method: "session/update", params: { sessionId, update } });

const methods = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }),
  "session/new": () => ({ sessionId: "harm" }),
  "session/prompt": ({ sessionId }) => {
    for (const text of TEXTS) update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${text}\n\n` } });
    const call = { toolCallId: "t1", title: `<img src=x onerror="${SCRIPT}">`, kind: "read", rawInput: { path: `/tmp/<script>${SCRIPT}</script>\u202etxt.exe` } };
    update(sessionId, { sessionUpdate: "tool_call", status: "in_progress", ...call });
    update(sessionId, { sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed", content: [{ type: "content", content: { type: "text", text: OUTPUT } }] });
    update(sessionId, { sessionUpdate: "plan", entries: [{ content: `<b onclick="${SCRIPT}">step</b>`, priority: "high", status: "pending" }] });
    return { stopReason: "end_turn" };
  },
};

if (process.argv[1] === new URL(import.meta.url).pathname) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined || method === undefined) continue;
    const answer = methods[method];
    if (answer) send({ id, result: answer(params) });
    else send({ id, error: { code: -32601, message: "no such method" } });
  }
}
