// The cheapest MCP server over HTTP: plain JSON answers, no sessions, no SDK. Has "echo" and as many further tools as
// its second argument says. Prints its port.
import { createServer } from "node:http";

const inputSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const tool = (name) => ({ name, description: "Says the text again.", inputSchema });
const more = Number(process.argv[2] ?? 0);
const tools = [tool("echo"), ...Array.from({ length: more }, (_, index) => tool(`echo_${index}`))];

function answer(method, params) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion ?? "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "echo", version: "0" },
      };
    case "tools/list":
      return { tools };
    case "tools/call":
      return { content: [{ type: "text", text: params.arguments.text ?? "" }] };
    case "ping":
      return {};
    default:
      return undefined;
  }
}

const server = createServer((request, response) => {
  if (request.method !== "POST") return response.writeHead(405).end();
  let body = "";
  request.on("data", (part) => (body += part));
  request.on("end", () => {
    const { id, method, params } = JSON.parse(body);
    if (id === undefined) return response.writeHead(202).end();
    const result = answer(method, params ?? {});
    const error = { code: -32601, message: "no such method" };
    const reply = JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) });
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(reply) });
    response.end(reply);
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
