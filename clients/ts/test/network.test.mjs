// The client over real sockets, against servers that refuse it. Once with the WebSocket that the client finds, once with
// that of the package `ws`: they report failures in different ways.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";

import { Client, NotConnected, pair, TokenRefused, tokenSource } from "roost-client";
import { WebSocket as Ws } from "ws";

/** A failure must be told long before this, in milliseconds; a client that waits for the connection to die does not. */
const timeout = 20_000;

/** A server that answers everything with this status; its port, and what it was asked. */
async function refusing(test, status, body = "") {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(status).end(body);
  });
  server.on("upgrade", (_, socket) => socket.end(`HTTP/1.1 ${status} No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  test.after(() => server.close());
  return { address: `127.0.0.1:${server.address().port}`, asked };
}

/** An address that nobody listens at. */
async function nobody() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return `127.0.0.1:${port}`;
}

for (const [name, WebSocket] of [["the WebSocket that is found", undefined], ["ws", Ws]]) {
  test(`${name}: a refused connection is an error that names the reason`, { timeout }, async () => {
    const client = new Client({ url: `ws://${await nobody()}/ws`, WebSocket });
    await assert.rejects(client.connect(), (thrown) => {
      assert.ok(thrown instanceof NotConnected);
      assert.match(thrown.message, /ECONNREFUSED/);
      return true;
    });
  });

  test(`${name}: a refused token is replaced once, and then refused for good`, { timeout }, async (test) => {
    const { address } = await refusing(test, 401, "Unauthorized");
    const [asked, refusals] = [[], []];
    const token = (refused) => (asked.push(refused), "EXAMPLE");
    const onRefused = (why) => refusals.push(why);
    const client = new Client({ url: `ws://${address}/ws`, WebSocket, token, onRefused });
    await assert.rejects(client.connect({ retry: true }), TokenRefused);
    assert.deepEqual(asked, [false, true]);
    assert.equal(refusals.length, 1);
    await assert.rejects(client.call("status/get"), TokenRefused);
  });

  test(`${name}: another refusal is told in the daemon's words`, { timeout }, async (test) => {
    const { address } = await refusing(test, 403, JSON.stringify({ error: "add it to security.allowed_hosts" }));
    const client = new Client({ url: `ws://${address}/ws`, WebSocket });
    const message = `http://${address} answered HTTP 403: add it to security.allowed_hosts`;
    await assert.rejects(client.connect(), { name: "NotConnected", message });
  });

  test(`${name}: a server without a WebSocket is an error`, { timeout }, async (test) => {
    const { address } = await refusing(test, 200, "{}");
    await assert.rejects(new Client({ url: `ws://${address}/ws`, WebSocket }).connect(), { name: "ConnectionLost" });
  });

  test(`${name}: while the daemon is away it is tried again and again`, { timeout }, async () => {
    const failures = [];
    await new Promise((resolve) => {
      const onLost = (why) => failures.push(why) === 3 && (client.close(), resolve());
      const client = new Client({ url: `ws://127.0.0.1:1/ws`, WebSocket, backoff: [0], onLost });
      client.connect({ retry: true }).catch(() => {});
    });
    assert.ok(failures.every((why) => why instanceof NotConnected));
  });
}

test("a token that could not even be sent is refused", async () => {
  const client = new Client({ url: "ws://127.0.0.1:1/ws", token: "EXAMPLE, and more" });
  await assert.rejects(client.connect(), TokenRefused);
});

test("pairing with a daemon that is away is an error that names the reason", { timeout }, async () => {
  await assert.rejects(pair(`http://${await nobody()}`, "164194"), /ECONNREFUSED/);
});

test("a device that must be approved asks again until it is", { timeout }, async (test) => {
  test.mock.timers.enable({ apis: ["setTimeout"] });
  const tokens = { access_token: "a", device_id: "d" };
  const answers = [[202, { status: "pending_approval" }], [202, { status: "pending_approval" }], [200, tokens]];
  const server = createServer((_, response) => {
    const [status, body] = answers.shift();
    response.writeHead(status).end(JSON.stringify(body));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  test.after(() => server.close());
  const pairing = pair(`http://127.0.0.1:${server.address().port}`, "cdev_p_EXAMPLE");
  let isPaired = false;
  void pairing.finally(() => (isPaired = true));
  while (!isPaired) {
    await new Promise(setImmediate);
    test.mock.timers.tick(2_000);
  }
  assert.deepEqual(await pairing, tokens);
});

test("a refresh token that is refused is a refused token", { timeout }, async (test) => {
  const { address, asked } = await refusing(test, 401, JSON.stringify({ error: "pair again" }));
  const old = { access_token: "a", access_token_expires_at: "2000-01-01T00:00:00.000Z", refresh_token: "r" };
  const token = tokenSource(`http://${address}`, old, () => assert.fail("there is nothing to store"));
  await assert.rejects(token(false), { name: "TokenRefused", message: /pair again/ });
  assert.deepEqual(asked, ["/api/auth/refresh"]);
});
