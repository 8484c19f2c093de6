// One connection of the official TypeScript SDK with an ACP agent, and what it saw.
//
//     node client.mjs NODE_MODULES PLAN
//
// The plan is a JSON object; `client.py` takes the same one:
//   command      the agent's command line, as an array; or `url`, with `transport` "ws" or "http" and `headers`
//   version      1, or 2 for the draft (only here)
//   cwd          the session's folder
//   load         the id of a session to load instead of beginning one
//   prompts      what to say, one after the other
//   answer       the kind of option that answers a permission request ("allow_once", "reject_once", …),
//                or "cancel" to cancel the turn instead
//   cancel_on    a kind of session update; when the first one arrives, the turn is cancelled
// It prints one JSON object with what it saw; over a WebSocket or HTTP also every message (`wire`). It ends with 0
// unless the connection itself broke.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";

const [modules, planText] = process.argv.slice(2);
const plan = { version: 1, prompts: [], answer: "allow_once", ...JSON.parse(planText) };
const require = createRequire(`${modules}/`);
const acp = require(plan.version === 2 ? "@agentclientprotocol/sdk/experimental/v2" : "@agentclientprotocol/sdk");

const report = { version: null, agent: null, session: null, turns: [], permissions: [] };
/** Every message, for those who check them; over stdio they are noted outside. */
const wire = { sent: [], received: [] };
let turn = null;
let cancelled = false;

const app = acp
  .client({ name: "roost-conformance" })
  .onRequest(acp.methods.client.session.requestPermission, async (ctx) => {
    const { toolCall, title, options } = ctx.params;
    report.permissions.push({ title: title ?? toolCall.title, options: options.map((option) => option.kind) });
    if (plan.answer === "cancel") {
      await cancel(ctx.agent);
      return { outcome: { outcome: "cancelled" } };
    }
    const option = options.find((option) => option.kind === plan.answer);
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  })
  .onNotification(acp.methods.client.session.update, async (ctx) => {
    const { update } = ctx.params;
    if (update.sessionUpdate === "state_update" && update.state === "idle") {
      // Version 2 says by this that a turn is over; its reply to the prompt says only that it was taken.
      turn?.idle(update.stopReason);
    }
    if (turn && update.sessionUpdate === plan.cancel_on) {
      await cancel(ctx.agent);
    }
  });

async function cancel(agent) {
  if (!cancelled) {
    cancelled = true;
    await agent.notify(acp.methods.agent.session.cancel, { sessionId: report.session });
  }
}

async function run(agent) {
  const info = { name: "roost-conformance", version: "1" };
  const hello =
    plan.version === 2
      ? { protocolVersion: 2, info, capabilities: {} }
      : { protocolVersion: 1, clientInfo: info, clientCapabilities: {} };
  const initialized = await agent.request(acp.methods.agent.initialize, hello);
  report.version = initialized.protocolVersion;
  report.agent = (initialized.agentInfo ?? initialized.info)?.name ?? null;
  const where = { cwd: plan.cwd, mcpServers: [] };
  if (plan.load) {
    report.session = plan.load;
    const loading = { sessionId: plan.load, ...where };
    await (plan.version === 2
      ? agent.request(acp.methods.agent.session.resume, { ...loading, replayFrom: { type: "start" } })
      : agent.request(acp.methods.agent.session.load, loading));
  } else {
    report.session = (await agent.request(acp.methods.agent.session.new, where)).sessionId;
  }
  for (const text of plan.prompts) {
    const idle = Promise.withResolvers();
    turn = { stop: null, idle: idle.resolve };
    report.turns.push(turn);
    const prompt = { sessionId: report.session, prompt: [{ type: "text", text }] };
    try {
      const answer = await agent.request(acp.methods.agent.session.prompt, prompt);
      turn.stop = plan.version === 2 ? await idle.promise : answer.stopReason;
    } catch (error) {
      turn.error = { code: error.code, message: error.message, data: error.data };
    }
    delete turn.idle;
  }
}

/** Node's own WebSocket takes headers beside the protocols; the SDK passes them behind, as to the package `ws`. */
class NodeWebSocket extends WebSocket {
  constructor(url, protocols, options) {
    super(url, { protocols, headers: options?.headers });
  }
}

/** The stream, whose messages are noted. */
function noted({ readable, writable }) {
  const note = (messages) =>
    new TransformStream({
      transform(message, passed) {
        messages.push(message);
        passed.enqueue(message);
      },
    });
  const outgoing = note(wire.sent);
  // A connection that breaks is told by the readable side.
  outgoing.readable.pipeTo(writable).catch(() => {});
  report.wire = wire;
  return { readable: readable.pipeThrough(note(wire.received)), writable: outgoing.writable };
}

function open() {
  if (plan.transport === "ws") {
    const { createWebSocketStream } = require("@agentclientprotocol/sdk/experimental/ws-client");
    const options = { headers: plan.headers, WebSocket: NodeWebSocket };
    return { stream: noted(createWebSocketStream(plan.url, options)) };
  }
  if (plan.transport === "http") {
    const { createHttpStream } = require("@agentclientprotocol/sdk/experimental/http-client");
    return { stream: noted(createHttpStream(plan.url, { headers: plan.headers })) };
  }
  const child = spawn(plan.command[0], plan.command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  return { child, stream: acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)) };
}

const { child, stream } = open();
const ended = child && new Promise((resolve) => child.once("exit", (code, signal) => resolve(signal ?? code)));
await app.connectWith(stream, run);
if (child) {
  child.stdin.end();
  report.exit = await ended;
}
console.log(JSON.stringify(report));
process.exit(0);
