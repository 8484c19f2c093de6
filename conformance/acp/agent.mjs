// An agent of the official TypeScript SDK that answers as fast as the SDK can: what most ACP agents can do at best.
//
//     node agent.mjs NODE_MODULES
//
// The prompt "flood COUNT SIZE" is answered with COUNT pieces of SIZE characters, everything else with one piece.

import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";

const acp = createRequire(`${process.argv[2]}/`)("@agentclientprotocol/sdk");

acp
  .agent({ name: "sdk-agent" })
  .onRequest(acp.methods.agent.initialize, () => ({ protocolVersion: 1, agentCapabilities: {} }))
  .onRequest(acp.methods.agent.session.new, () => ({ sessionId: randomUUID() }))
  .onRequest(acp.methods.agent.session.prompt, async ({ params, client }) => {
    const [, count, size] = /^flood (\d+) (\d+)$/.exec(params.prompt[0].text) ?? [null, 1, 5];
    const text = "x".repeat(Number(size));
    for (let sent = 0; sent < Number(count); sent++) {
      const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
      await client.notify(acp.methods.client.session.update, { sessionId: params.sessionId, update });
    }
    return { stopReason: "end_turn" };
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
