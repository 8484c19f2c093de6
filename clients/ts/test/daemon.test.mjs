// The client against a real daemon.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";

import { Client, pair, TokenRefused, tokenSource } from "roost-client";
import { WebSocket as Ws } from "ws";

import { Daemon, withDaemon } from "./daemon.mjs";

/** Starts a session of the demo agent and returns its id. */
async function demoSession(client) {
  const { workspaces } = await client.call("workspace/list");
  const started = await client.call("session/start", { workspace_id: workspaces[0].id, mode: "new", agent_type: "demo" });
  return started.session_id;
}

test("a device pairs by code or token, and a wrong code is refused", withDaemon, async (test) => {
  const daemon = await Daemon.start(test);
  const { code, token } = await daemon.offer();
  const wrong = code === "000000" ? "000001" : "000000";
  await assert.rejects(pair(daemon.http, wrong), TokenRefused);
  const byCode = await pair(daemon.http, `${code.slice(0, 3)} ${code.slice(3)}`, { name: "test" });
  const byToken = await pair(daemon.http, token);
  assert.notEqual(byCode.device_id, byToken.device_id);
  assert.equal(byCode.scope, "operate");
});

test("fresh tokens are stored, and the old refresh token is not needed again", withDaemon, async (test) => {
  const daemon = await Daemon.start(test);
  const tokens = await pair(daemon.http, (await daemon.offer()).token);
  const stored = [];
  const token = tokenSource(daemon.http, tokens, (fresh) => void stored.push(fresh));
  assert.equal(await token(false), tokens.access_token);
  const client = new Client({ url: daemon.url, token: () => token(true) });
  await client.connect();
  client.close();
  assert.equal(stored.length, 1);
  assert.notEqual(stored[0].refresh_token, tokens.refresh_token);
});

test("a wrong token is refused, and the error says so", withDaemon, async (test) => {
  const daemon = await Daemon.start(test);
  for (const WebSocket of [undefined, Ws]) {
    const client = new Client({ url: daemon.url, token: "cdev_s_wrong", WebSocket });
    await assert.rejects(client.connect(), TokenRefused);
  }
});

test("a device that is revoked is told, and tries no more", withDaemon, async (test) => {
  const daemon = await Daemon.start(test);
  const tokens = await pair(daemon.http, (await daemon.offer()).token);
  const refused = new Promise((resolve) => {
    const token = tokenSource(daemon.http, tokens, () => assert.fail("a revoked device gets no tokens"));
    const client = new Client({ url: daemon.url, token, onRefused: resolve });
    client.connect().then(() => {
      const body = JSON.stringify({ refresh_token: tokens.refresh_token });
      return fetch(`${daemon.http}/api/auth/revoke`, { method: "POST", headers: { "content-type": "application/json" }, body });
    });
  });
  assert.ok((await refused) instanceof TokenRefused);
});

for (const [name, WebSocket] of [["the WebSocket that is found", undefined], ["ws", Ws]]) {
  test(`${name}: over a restart of the daemon every event comes once and in order`, withDaemon, async (test) => {
    const daemon = await Daemon.start(test);
    const tokens = await pair(daemon.http, (await daemon.offer()).token);
    const token = tokenSource(daemon.http, tokens, () => {});
    const states = new EventTarget();
    const tell = (name) => states.dispatchEvent(new Event(name));
    const client = new Client({
      url: daemon.url,
      token,
      WebSocket,
      onLost: () => tell("lost"),
      onConnected: () => tell("connected"),
    });
    test.after(() => client.close());
    await client.connect();
    const session_id = await demoSession(client);
    const seqs = [];
    client.on("batch", ({ events }) => {
      for (const { seq, type } of events) {
        seqs.push(seq);
        if (type === "task.completed") tell("done");
      }
    });
    await client.subscribe({ format: "normalized", sessions: [session_id], after: "beginning" });
    const turn = async () => {
      const done = once(states, "done");
      await client.call("session/send", { session_id, prompt: "hello" });
      await done;
    };
    await turn();
    const [lost, connected] = [once(states, "lost"), once(states, "connected")];
    await daemon.stop();
    await lost;
    await daemon.start();
    await connected;
    await turn();
    assert.deepEqual(seqs, seqs.map((_, index) => index + 1));
  });
}
