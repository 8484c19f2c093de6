// The client against a daemon that is a few lines: what it sends, and what it does when the connection is cut.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, ConnectionLost, ERRORS, NotConnected, RoostError } from "roost-client";

/** Nobody listens there. */
const URL = "ws://127.0.0.1:1/ws";

/** A daemon that answers by method and keeps what it was sent; the next `down` connections fail. */
class Daemon {
  heard = [];
  sockets = [];
  down = 0;
  answers = { initialize: {}, "events/subscribe": { cursor: "b1" }, "session/watch": {} };

  constructor(answers = {}) {
    Object.assign(this.answers, answers);
  }

  /** What a client makes its sockets with. */
  get WebSocket() {
    const daemon = this;
    return class extends Socket {
      constructor(url, protocols) {
        super(daemon, protocols);
      }
    };
  }

  get socket() {
    return this.sockets.at(-1);
  }

  sent(method) {
    return this.heard.filter(([name]) => name === method).map(([, params]) => params);
  }
}

class Socket {
  readyState = 0;

  constructor(daemon, protocols) {
    this.daemon = daemon;
    this.protocols = protocols;
    daemon.sockets.push(this);
    queueMicrotask(() => {
      if (daemon.down > 0) {
        daemon.down -= 1;
        return this.cut(1006);
      }
      this.readyState = 1;
      this.onopen();
    });
  }

  send(text) {
    const { id, method, params } = JSON.parse(text);
    this.daemon.heard.push([method, params]);
    const answer = this.daemon.answers[method];
    const outcome = typeof answer === "function" ? answer(params) : { result: answer };
    if (id !== undefined && answer) queueMicrotask(() => this.say({ jsonrpc: "2.0", id, ...outcome }));
  }

  say(message) {
    this.onmessage({ data: JSON.stringify(message) });
  }

  event(name, params) {
    this.say({ jsonrpc: "2.0", method: `event/${name}`, params });
  }

  close() {
    this.cut(1000);
  }

  cut(code) {
    this.readyState = 3;
    this.onclose({ code, reason: "" });
  }
}

/** A connected client, and a promise of the next connection. */
async function connected(daemon, options = {}) {
  let tell = () => {};
  const { WebSocket } = daemon;
  const client = new Client({ url: URL, WebSocket, backoff: [0], onConnected: () => tell(), ...options });
  await client.connect();
  return { client, again: () => new Promise((resolve) => (tell = resolve)) };
}

test("the first call is initialize, and the token goes as a protocol", async () => {
  const daemon = new Daemon();
  const { client } = await connected(daemon, { token: () => "EXAMPLE", client: { name: "test" } });
  assert.deepEqual(daemon.socket.protocols, ["roost", "bearer.EXAMPLE"]);
  assert.deepEqual(daemon.heard[0], ["initialize", { protocol_version: "1.0", client_info: { name: "test" } }]);
  assert.equal(daemon.heard[1][0], "initialized");
  client.close();
});

test("an error is told with its number and its word", async () => {
  const error = { code: ERRORS.SESSION_NOT_FOUND, message: "no session", data: { code: "SESSION_NOT_FOUND" } };
  const daemon = new Daemon({ "session/get": () => ({ error }) });
  const { client } = await connected(daemon);
  await assert.rejects(client.call("session/get", { session_id: "s" }), (thrown) => {
    assert.ok(thrown instanceof RoostError);
    assert.deepEqual([thrown.code, thrown.data.code], [-32010, "SESSION_NOT_FOUND"]);
    return true;
  });
  client.close();
});

test("after a cut a subscription goes on after the last event that was seen", async () => {
  const daemon = new Daemon();
  const { client, again } = await connected(daemon);
  const seen = [];
  client.on("batch", ({ cursor }) => seen.push(cursor));
  await client.subscribe({ format: "normalized", sessions: ["s"], name: "archive" });
  daemon.socket.event("batch", { events: [], cursor: "b7" });
  daemon.socket.cut(1006);
  await again();
  const [first, second] = daemon.sent("events/subscribe");
  assert.deepEqual(first, { format: "normalized", sessions: ["s"], name: "archive" });
  assert.deepEqual(second, { format: "normalized", sessions: ["s"], after: "b7" });
  assert.deepEqual(seen, ["b7"]);
  client.close();
});

test("a subscription that has seen nothing goes on where it began", async () => {
  const daemon = new Daemon();
  const { client, again } = await connected(daemon);
  await client.subscribe({});
  daemon.socket.cut(1006);
  await again();
  assert.deepEqual(daemon.sent("events/subscribe")[1], { format: "cdev", after: "b1" });
  client.close();
});

test("after a cut a watched session goes on after its own last event", async () => {
  const daemon = new Daemon();
  const { client, again } = await connected(daemon);
  await client.watch({ session_id: "s" });
  daemon.socket.event("claude_status", { session_id: "s", state: "idle", cursor: "b3.1" });
  daemon.socket.event("claude_status", { session_id: "t", state: "idle", cursor: "b4.1" });
  daemon.socket.cut(1006);
  await again();
  assert.deepEqual(daemon.sent("session/watch")[1], { session_id: "s", after: "b3.1" });
  client.close();
});

test("a watched session is not told twice where a subscription tells of it", async () => {
  const daemon = new Daemon();
  const { client, again } = await connected(daemon);
  await client.subscribe({ format: "cdev" });
  await client.watch({ session_id: "s" });
  daemon.socket.event("claude_status", { session_id: "s", state: "idle", cursor: "b3.1" });
  daemon.socket.cut(1006);
  await again();
  assert.deepEqual(daemon.sent("session/watch")[1], { session_id: "s" });
  assert.deepEqual(daemon.sent("events/subscribe")[1], { format: "cdev", after: "b3.1" });
  client.close();
});

test("events that are gone are told, and those that are still there follow", async () => {
  const data = { code: "CURSOR_TRUNCATED", session_id: "s", resume_at: 90, resume_cursor: "!b7" };
  const error = { code: ERRORS.CURSOR_TRUNCATED, message: "gone", data };
  const subscribe = ({ after }) => (after === "b7" ? { error } : { result: { cursor: "b1" } });
  const daemon = new Daemon({ "events/subscribe": subscribe });
  const { client, again } = await connected(daemon);
  const gone = [];
  client.on("truncated", (what) => gone.push(what));
  await client.subscribe({ format: "normalized" });
  daemon.socket.event("batch", { events: [], cursor: "b7" });
  daemon.socket.cut(1006);
  await again();
  assert.deepEqual(gone, [{ session_id: "s", resume_at: 90 }]);
  assert.equal(daemon.sent("events/subscribe")[2].after, "!b7");
  client.close();
});

test("a session that told nothing since it is watched goes on after the last event of the others", async () => {
  const daemon = new Daemon();
  const { client, again } = await connected(daemon);
  daemon.socket.event("claude_status", { session_id: "t", state: "idle", cursor: "b4.1" });
  await client.watch({ session_id: "s" });
  daemon.socket.cut(1006);
  await again();
  assert.deepEqual(daemon.sent("session/watch"), [{ session_id: "s" }, { session_id: "s", after: "b4.1" }]);
  client.close();
});

test("a call that waits when the line is cut fails, and one that comes meanwhile waits for the next connection", async () => {
  const daemon = new Daemon({ "status/health": () => ({ result: { healthy: true } }) });
  const { client } = await connected(daemon);
  const cut = client.call("status/get");
  await Promise.resolve();
  daemon.socket.cut(1006);
  await assert.rejects(cut, ConnectionLost);
  assert.equal((await client.call("status/health")).healthy, true);
  assert.equal(daemon.sockets.length, 2);
  client.close();
});

test("a call on a socket that is closing is not sent, and the client connects again without waiting for the close", async () => {
  const daemon = new Daemon({ "status/health": () => ({ result: { healthy: true } }) });
  const { client, again } = await connected(daemon);
  const waiting = client.call("status/get");
  await Promise.resolve();
  // A peer that has gone away never answers the close, and a browser waits long for that.
  daemon.socket.readyState = 2;
  await assert.rejects(client.call("status/health"), NotConnected);
  await assert.rejects(waiting, ConnectionLost);
  await again();
  assert.equal((await client.call("status/health")).healthy, true);
  assert.equal(daemon.sent("status/health").length, 1, "nothing went into the socket that was closing");
  client.close();
});

test("it tries again and again, asking for a better token where the last one may have been refused", async () => {
  const daemon = new Daemon();
  const asked = [];
  const waits = [];
  const { client, again } = await connected(daemon, {
    token: (refused) => (asked.push(refused), "EXAMPLE"),
    onLost: (_, seconds) => waits.push(seconds),
    backoff: [0, 0.001, 0.002],
  });
  daemon.down = 4;
  daemon.socket.cut(1006);
  await again();
  assert.deepEqual(asked, [false, false, true, true, true, true]);
  assert.deepEqual(waits, [0, 0.001, 0.002, 0.002, 0.002]);
  daemon.socket.cut(1008);
  await again();
  assert.equal(asked.at(-1), true);
  client.close();
});

test("a closed client stays closed, and who waits is told", async () => {
  const daemon = new Daemon();
  const { client } = await connected(daemon);
  const waiting = client.call("status/get");
  await Promise.resolve();
  client.close();
  await assert.rejects(waiting, ConnectionLost);
  await assert.rejects(client.call("status/get"), ConnectionLost);
  assert.equal(daemon.sockets.length, 1);
});

test("an old client's heartbeat is an event like others", async () => {
  const daemon = new Daemon();
  const { client } = await connected(daemon);
  const beats = [];
  client.on("heartbeat", (beat) => beats.push(beat));
  daemon.socket.say({ event: "heartbeat", timestamp: "t", payload: { sequence: 4 } });
  assert.deepEqual(beats, [{ sequence: 4, timestamp: "t" }]);
  client.close();
});

test("what a handler throws or rejects is reported, and the other handlers and events go on", async () => {
  const daemon = new Daemon();
  const reported = [];
  const { client } = await connected(daemon, { onError: ({ message }) => reported.push(message) });
  const beats = [];
  client.on("heartbeat", () => {
    throw new Error("thrown");
  });
  client.on("heartbeat", async () => {
    throw new Error("rejected");
  });
  client.on("heartbeat", ({ sequence }) => beats.push(sequence));
  daemon.socket.say({ event: "heartbeat", payload: { sequence: 1 } });
  daemon.socket.say({ event: "heartbeat", payload: { sequence: 2 } });
  await new Promise(setImmediate);
  assert.deepEqual(beats, [1, 2]);
  assert.deepEqual(reported, ["thrown", "thrown", "rejected", "rejected"]);
  client.close();
});

test("what is no JSON ends the connection, and the client tries again", async () => {
  const daemon = new Daemon();
  const lost = [];
  const { client, again } = await connected(daemon, { onLost: ({ message }) => lost.push(message) });
  daemon.socket.onmessage({ data: "<html>" });
  await again();
  assert.match(lost[0], /does not speak JSON/);
  client.close();
});

test("a connection that falls silent is asked after 20 seconds and given up after 30", async ({ mock }) => {
  mock.timers.enable({ apis: ["setInterval", "setTimeout", "Date"] });
  const daemon = new Daemon();
  const lost = [];
  const { client } = await connected(daemon, { onLost: ({ message }) => lost.push(message) });
  mock.timers.tick(15_000);
  assert.deepEqual(daemon.sent("status/health"), []);
  mock.timers.tick(5_000);
  assert.deepEqual(daemon.sent("status/health"), [{}]);
  mock.timers.tick(10_000);
  await Promise.resolve();
  assert.deepEqual(lost, ["nothing was heard from the daemon for 30 s"]);
  client.close();
});

test("a client tells when the daemon was last heard, and one that is asked at once is given up at once", async ({ mock }) => {
  mock.timers.enable({ apis: ["setInterval", "setTimeout", "Date"], now: 1_000 });
  const daemon = new Daemon({ "status/health": {} });
  const client = new Client({ url: URL, WebSocket: daemon.WebSocket });
  assert.equal(client.heardAt, undefined);
  assert.equal(await client.probe(2), false, "without a connection nobody is there");
  await client.connect();
  mock.timers.tick(5_000);
  assert.equal(client.heardAt.getTime(), 1_000);
  assert.equal(await client.probe(2), true);
  assert.equal(client.heardAt.getTime(), 6_000);
  delete daemon.answers["status/health"];
  const asked = client.probe(2);
  mock.timers.tick(2_000);
  assert.equal(await asked, false);
  assert.equal(client.heardAt.getTime(), 6_000, "what was heard stays known");
  client.close();
});

test("a connection on which something is heard stays", async ({ mock }) => {
  mock.timers.enable({ apis: ["setInterval", "setTimeout", "Date"] });
  const daemon = new Daemon();
  const { client } = await connected(daemon, { onLost: () => assert.fail("it was given up") });
  for (let beat = 0; beat < 10; beat++) {
    mock.timers.tick(25_000);
    daemon.socket.say({ event: "heartbeat", payload: {} });
  }
  client.close();
});

test("a daemon that accepts a connection and says nothing is an error after ten seconds", async ({ mock }) => {
  mock.timers.enable({ apis: ["setInterval", "setTimeout", "Date"] });
  const daemon = new Daemon({ initialize: undefined });
  const connecting = new Client({ url: URL, WebSocket: daemon.WebSocket }).connect();
  while (daemon.heard.length === 0) await Promise.resolve();
  mock.timers.tick(10_000);
  await assert.rejects(connecting, { name: "ConnectionLost", message: `${URL} did not answer within 10 s` });
});

test("a call that finds no connection in time fails with the reason, and was not sent", async () => {
  const daemon = new Daemon();
  const { client } = await connected(daemon, { backoff: [3600], patience: 0 });
  daemon.socket.cut(1006);
  await new Promise(setImmediate);
  await assert.rejects(client.call("status/get"), (thrown) => {
    assert.ok(thrown instanceof NotConnected);
    assert.match(thrown.message, /within 0 s: the connection was closed with code 1006/);
    return true;
  });
  client.close();
});

test("a call before `connect` says what to do", async () => {
  const client = new Client({ url: URL, patience: 0 });
  await assert.rejects(client.call("status/get"), /call `connect` first/);
});

test("a call fails at once where the connection could not be made", async () => {
  const daemon = new Daemon();
  daemon.down = 1;
  const client = new Client({ url: URL, WebSocket: daemon.WebSocket, patience: 3600 });
  await assert.rejects(client.connect(), NotConnected);
  await assert.rejects(client.call("status/get"), NotConnected);
});

test("a client that is closed between two tries stops trying at once", async () => {
  const daemon = new Daemon();
  const waits = [];
  const { client } = await connected(daemon, { backoff: [3600], onLost: () => waits.push(client.call("status/get")) });
  daemon.socket.cut(1006);
  await new Promise(setImmediate);
  client.close();
  await assert.rejects(waits[0], /the client was closed/);
  assert.equal(daemon.sockets.length, 1);
});

test("a client that was closed connects again and follows what it followed", async () => {
  const daemon = new Daemon();
  const { client } = await connected(daemon);
  await client.subscribe({ format: "normalized" });
  client.close();
  await client.connect();
  assert.deepEqual(daemon.sent("events/subscribe")[1], { format: "normalized", after: "b1" });
  client.close();
});

test("whoever connects twice has one connection", async () => {
  const daemon = new Daemon();
  const client = new Client({ url: URL, WebSocket: daemon.WebSocket });
  await Promise.all([client.connect(), client.connect()]);
  assert.equal(daemon.sockets.length, 1);
  client.close();
});

test("a daemon that ends every connection at once is tried less and less often", async () => {
  const daemon = new Daemon();
  const waits = [];
  const { client, again } = await connected(daemon, { backoff: [0, 0.001], onLost: (_, seconds) => waits.push(seconds) });
  for (let cut = 0; cut < 3; cut++) {
    daemon.socket.cut(1006);
    await again();
  }
  assert.deepEqual(waits, [0, 0.001, 0.001]);
  client.close();
});
