// One WebSocket: calls and their answers, events, and how it ended.

import { ConnectionLost, NotConnected, RoostError, TokenRefused } from "./errors.js";
import type { Methods } from "./protocol.js";
import type { Socket } from "./websocket.js";

/** After this long without a word from the daemon, in milliseconds, it is asked whether it is there. */
const PROBE_MS = 20_000;
/** After this long without a word, in milliseconds, the connection counts as dead. */
const DEAD_MS = 30_000;
/** How often the two are checked, in milliseconds. */
const CHECK_MS = 5_000;
/** WebSocket's code for "policy violation": the token has expired or was revoked. */
const POLICY_VIOLATION = 1008;
/** `WebSocket.OPEN`; a higher state is closing or closed. */
const OPEN = 1;

interface Waiting {
  resolve(result: never): void;
  reject(error: Error): void;
}

/** A message as it may come: an answer, a notification, or an event in the form of older daemons. */
interface Message {
  id?: number;
  result?: unknown;
  error?: { code: number; message: string; data?: Record<string, unknown> };
  method?: string;
  params?: Record<string, unknown>;
  event?: string;
  timestamp?: string;
  payload?: Record<string, unknown>;
}

export type OnEvent = (name: string, params: Record<string, unknown>) => void;

export class Connection {
  /** Resolves when the socket is open; rejects if it ends before. */
  readonly opened: Promise<void>;
  /** Resolves when the connection has ended. */
  readonly lost: Promise<ConnectionLost>;
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  #resolveLost!: (why: ConnectionLost) => void;
  #ended: ConnectionLost | undefined;
  #lastId = 0;
  #heardAt = Date.now();

  constructor(socket: Socket, onEvent: OnEvent) {
    this.#socket = socket;
    this.lost = new Promise((resolve) => (this.#resolveLost = resolve));
    this.opened = new Promise((resolve, reject) => {
      socket.onopen = () => resolve();
      void this.lost.then(reject);
    });
    // Whoever waits for it sees the failure; nobody has to wait.
    this.opened.catch(() => {});
    const check = setInterval(() => this.#checkSilence(), CHECK_MS);
    void this.lost.then(() => clearInterval(check));
    // Always there: with `ws` an error that nobody listens for ends the process, and Node.js 22 reports a refused
    // connection as an error that no close follows.
    socket.onerror = (event: Event) => this.#end(new ConnectionLost(message(event) || "the connection failed"));
    socket.onclose = ({ code, reason }: CloseEvent) => {
      const why = reason || `the connection was closed with code ${code}`;
      this.#end(code === POLICY_VIOLATION ? new TokenRefused(why) : new ConnectionLost(why));
    };
    socket.onmessage = ({ data }: MessageEvent) => {
      this.#heardAt = Date.now();
      let message: Message;
      try {
        message = JSON.parse(data);
      } catch {
        return this.close("the other side does not speak JSON; is it a Roost daemon?");
      }
      this.#receive(message, onEvent);
    };
  }

  call<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
    // A peer that has gone away may leave a socket closing for long, and what is sent into it is dropped.
    if (this.#socket.readyState > OPEN) this.#end(new ConnectionLost("the connection is closing"));
    if (this.#ended) return Promise.reject(new NotConnected(this.#ended.message));
    const id = ++this.#lastId;
    this.#send({ jsonrpc: "2.0", id, method, params });
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** Calls without waiting for an answer. */
  notify<M extends keyof Methods>(method: M, params: Methods[M]["params"]): void {
    this.#send({ jsonrpc: "2.0", method, params });
  }

  /** When the daemon last said something, in milliseconds since 1970. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** Asks whether the daemon is there; without an answer within this time, in milliseconds, the connection has ended. */
  async probe(patience: number): Promise<boolean> {
    const late = setTimeout(() => this.close(`the daemon did not answer within ${patience / 1000} s`), patience);
    try {
      await this.call("status/health", {});
    } catch (error) {
      if (!(error instanceof RoostError)) return false;
    } finally {
      clearTimeout(late);
    }
    return true;
  }

  close(why: string): void {
    this.#end(new ConnectionLost(why));
    this.#socket.close(1000);
  }

  #end(why: ConnectionLost): void {
    this.#ended ??= why;
    for (const waiting of this.#waiting.values()) waiting.reject(this.#ended);
    this.#waiting.clear();
    this.#resolveLost(this.#ended);
  }

  /** A network that is gone closes nothing. The daemon sends a heartbeat every 30 s; asking finds out sooner. */
  #checkSilence(): void {
    const silent = Date.now() - this.#heardAt;
    if (silent >= DEAD_MS) this.close(`nothing was heard from the daemon for ${DEAD_MS / 1000} s`);
    else if (silent >= PROBE_MS) this.call("status/health", {}).catch(() => {});
  }

  #send(message: unknown): void {
    if (this.#socket.readyState === OPEN) this.#socket.send(JSON.stringify(message));
  }

  #receive(message: Message, onEvent: OnEvent): void {
    const { id, result, error, method, params, event, timestamp, payload } = message;
    if (method?.startsWith("event/")) return onEvent(method.slice("event/".length), params ?? {});
    if (event) return onEvent(event, { ...payload, timestamp });
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || !waiting) return;
    this.#waiting.delete(id);
    if (error) waiting.reject(new RoostError(error.code, error.message, error.data ?? {}));
    else waiting.resolve(result as never);
  }
}

/** Node.js and `ws` say in `message` what failed; a browser says nothing. */
function message(event: Event): string {
  return "message" in event ? String(event.message) : "";
}
