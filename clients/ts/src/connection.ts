// One WebSocket: calls and their answers, events, and how it ended.

import type { Methods } from "./protocol.js";

/** The daemon says something every 30 s; after this long without a word the connection is taken as dead. */
const SILENCE_MS = 75_000;
/** WebSocket's word for "policy violation": the token is not, or no longer, good. */
const REFUSED = 1008;

/** A call that the daemon answered with an error. */
export class RoostError extends Error {
  override name = "RoostError";

  constructor(
    readonly code: number,
    message: string,
    /** `code` as a word, and what the error is about. */
    readonly data: Record<string, unknown>,
  ) {
    super(message);
  }
}

/** The connection ended; a call that waited for its answer may or may not have been carried out. */
export class ConnectionLost extends Error {
  override name = "ConnectionLost";

  constructor(message: string, readonly refused = false) {
    super(message);
  }
}

interface Waiting {
  resolve(result: never): void;
  reject(error: Error): void;
}

/** A message as it may come: an answer, a notification, or an old client's event. */
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
  /** Resolves when the connection has ended. */
  readonly lost: Promise<ConnectionLost>;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  #resolveLost!: (why: ConnectionLost) => void;
  #ended: ConnectionLost | undefined;
  #lastId = 0;
  #heardAt = Date.now();

  private constructor(socket: WebSocket, onEvent: OnEvent) {
    this.#socket = socket;
    this.lost = new Promise((resolve) => (this.#resolveLost = resolve));
    const silence = setInterval(() => {
      if (Date.now() - this.#heardAt > SILENCE_MS) this.close("nothing was heard for too long");
    }, SILENCE_MS / 5);
    void this.lost.then(() => clearInterval(silence));
    socket.onclose = ({ code, reason }) =>
      this.#end(new ConnectionLost(reason || `the connection ended (${code})`, code === REFUSED));
    socket.onmessage = ({ data }) => {
      this.#heardAt = Date.now();
      this.#receive(JSON.parse(data) as Message, onEvent);
    };
  }

  /** Waits until the socket is open. */
  static open(socket: WebSocket, onEvent: OnEvent): Promise<Connection> {
    const connection = new Connection(socket, onEvent);
    return new Promise((resolve, reject) => {
      socket.onopen = () => resolve(connection);
      void connection.lost.then(reject);
    });
  }

  call<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = ++this.#lastId;
    this.#send({ jsonrpc: "2.0", id, method, params });
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** Calls without waiting for an answer. */
  notify<M extends keyof Methods>(method: M, params: Methods[M]["params"]): void {
    this.#send({ jsonrpc: "2.0", method, params });
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

  #send(message: unknown): void {
    // What a closing socket would only drop or refuse; whoever waits is told when it has closed.
    if (this.#socket.readyState === 1) this.#socket.send(JSON.stringify(message));
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
