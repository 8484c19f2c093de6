// The client for Node.js, which has a WebSocket since version 22; before, it comes from the package `ws`. Browsers load
// client.ts itself, so that nothing there looks for a package.

import { setFallback } from "./websocket.js";

export * from "./client.js";

setFallback(async () => {
  try {
    const { WebSocket } = await import("ws");
    return WebSocket;
  } catch (cause) {
    throw new Error("Node.js has no WebSocket before version 22: run `npm install ws`, or use a newer one", { cause });
  }
});
