// A client that keeps one connection open and never misses an event: after an interruption it connects again and goes
// on after the last event that its handlers have seen.

import { Connection, ConnectionLost, RoostError } from "./connection.js";
import { ERRORS, PROTOCOL_VERSION } from "./protocol.js";
import type { ClientInfo, EventFormat, Events, InitializeResult, Methods } from "./protocol.js";

export { ConnectionLost, RoostError };
export * from "./protocol.js";

/** Seconds before each try to connect again; the last one repeats. */
const BACKOFF = [1, 2, 4, 8, 16, 30];

type Params<M extends keyof Methods> = Methods[M]["params"];
type Result<M extends keyof Methods> = Methods[M]["result"];
/** Parameters may be left out where none is required. */
type Arguments<M extends keyof Methods> = {} extends Params<M> ? [params?: Params<M>] : [params: Params<M>];

export interface Options {
  /** Where the daemon listens, such as `ws://127.0.0.1:8766/ws`. */
  url: string;
  /** Gives the access token before each connection; `refused` means that the last one may not be good any more. */
  token?: (refused: boolean) => string | Promise<string>;
  /** The name and version by which the daemon knows this client. */
  client?: ClientInfo;
  /** Where there is no global one. */
  WebSocket?: new (url: string, protocols: string[]) => WebSocket;
  /** Seconds before each try to connect again; the last one repeats. */
  backoff?: readonly number[];
  /** The connection is open, and what was followed before is followed again. */
  onConnected?: (hello: InitializeResult) => void;
  /** There is no connection; the next try comes after this many seconds. */
  onLost?: (why: Error, seconds: number) => void;
}

export class Client {
  readonly #options: Options;
  readonly #handlers = new Map<string, Set<(params: never) => void>>();
  /** What is followed, with `after` always at the last event that the handlers have seen. */
  readonly #subscriptions = new Map<EventFormat, Params<"events/subscribe">>();
  readonly #watches = new Map<string, Params<"session/watch">>();
  /** The last cursor of the cdev events. */
  #seen: string | undefined;
  #connection = new Awaited<Connection>();
  #closed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Connects, or fails; once connected, it connects again by itself until `close`. */
  connect(): Promise<InitializeResult> {
    return this.#open(false);
  }

  /** Calls a method; without a connection it waits for one. */
  async call<M extends keyof Methods>(method: M, ...[params]: Arguments<M>): Promise<Result<M>> {
    const connection = await this.#connection.promise;
    return connection.call(method, params ?? {});
  }

  /** Calls `handler` on every event of this name; returns what ends that. */
  on<E extends keyof Events>(event: E, handler: (params: Events[E]) => void): () => void {
    const handlers = this.#handlers.get(event) ?? new Set();
    this.#handlers.set(event, handlers.add(handler));
    return () => void handlers.delete(handler);
  }

  /** Follows events, over interruptions too; a second subscription of the same format replaces the first. */
  async subscribe(params: Params<"events/subscribe">): Promise<Result<"events/subscribe">> {
    const connection = await this.#connection.promise;
    const format = params.format ?? "cdev";
    return this.#follow(connection, this.#subscriptions, format, "events/subscribe", { ...params, format });
  }

  /** Follows no more. */
  async unsubscribe(format: EventFormat): Promise<void> {
    this.#subscriptions.delete(format);
    await this.call("events/unsubscribe", { format });
  }

  /** Watches a session, over interruptions too. */
  async watch(params: Params<"session/watch">): Promise<Result<"session/watch">> {
    const connection = await this.#connection.promise;
    return this.#follow(connection, this.#watches, params.session_id, "session/watch", { ...params });
  }

  /** Watches a session no more. */
  async unwatch(session_id: string): Promise<void> {
    this.#watches.delete(session_id);
    await this.call("session/unwatch", { session_id });
  }

  /** Ends the connection for good; calls that wait fail. */
  close(): void {
    this.#closed = true;
    const why = new ConnectionLost("the client was closed");
    this.#connection.promise.then((connection) => connection.close(why.message)).catch(() => {});
    this.#connection.reject(why);
  }

  async #open(refused: boolean): Promise<InitializeResult> {
    const { url, token, client, onConnected, WebSocket: Socket = WebSocket } = this.#options;
    // A browser can set no header on a WebSocket, and an address is written into logs; hence a protocol's name.
    const protocols = token ? ["roost", `bearer.${await token(refused)}`] : ["roost"];
    const connection = await Connection.open(new Socket(url, protocols), (name, params) => this.#event(name, params));
    try {
      const hello = await connection.call("initialize", { protocol_version: PROTOCOL_VERSION, client_info: client });
      connection.notify("initialized", {});
      await this.#resume(connection);
      if (this.#closed) throw new ConnectionLost("the client was closed");
      this.#connection.resolve(connection);
      void connection.lost.then((why) => this.#reconnect(why));
      onConnected?.(hello);
      return hello;
    } catch (error) {
      connection.close("it could not be used");
      throw error;
    }
  }

  async #reconnect(why: ConnectionLost): Promise<void> {
    if (this.#closed) return;
    this.#connection = new Awaited();
    const backoff = this.#options.backoff ?? BACKOFF;
    let [last, refused]: [Error, boolean] = [why, why.refused];
    for (let attempt = 0; !this.#closed; attempt++) {
      const seconds = backoff[Math.min(attempt, backoff.length - 1)] ?? 0;
      this.#options.onLost?.(last, seconds);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      if (this.#closed) return;
      try {
        await this.#open(refused);
        return;
      } catch (error) {
        // Why an upgrade failed is not told to a browser: it may have been the token.
        [last, refused] = [error instanceof Error ? error : new Error(String(error)), true];
      }
    }
  }

  /** Follows on the new connection what was followed on the last one. */
  async #resume(connection: Connection): Promise<void> {
    // With a subscription, what was missed comes with it; without one each session tells what was missed of it.
    const told = this.#subscriptions.has("cdev");
    for (const [id, watch] of this.#watches) {
      const params = told ? { ...watch, after: undefined } : watch;
      await this.#from(connection, "session/watch", params).catch((error: unknown) => {
        if (!(error instanceof RoostError) || error.code !== ERRORS.SESSION_NOT_FOUND) throw error;
        this.#watches.delete(id);
      });
    }
    for (const subscription of this.#subscriptions.values()) {
      // A name stands for a place that this client may have left behind.
      await this.#from(connection, "events/subscribe", { ...subscription, name: undefined });
    }
  }

  /** Begins to follow and remembers it. */
  async #follow<M extends "events/subscribe" | "session/watch", K>(
    connection: Connection,
    followed: Map<K, Params<M>>,
    key: K,
    method: M,
    params: Params<M>,
  ): Promise<Result<M>> {
    // Before the answer: the first events may come together with it.
    followed.set(key, params);
    try {
      const result = await connection.call(method, params);
      params.after ??= "cursor" in result ? result.cursor : this.#seen;
      return result;
    } catch (error) {
      if (followed.get(key) === params) followed.delete(key);
      throw error;
    }
  }

  /** Calls a method that goes on after a cursor; where events after it are gone, that is told, and the rest comes. */
  async #from<M extends "events/subscribe" | "session/watch">(connection: Connection, method: M, params: Params<M>) {
    try {
      return await connection.call(method, params);
    } catch (error) {
      if (!(error instanceof RoostError) || error.code !== ERRORS.CURSOR_TRUNCATED) throw error;
      const { session_id, resume_at, resume_cursor } = error.data;
      this.#event("truncated", { session_id, resume_at });
      return connection.call(method, { ...params, after: String(resume_cursor) });
    }
  }

  #event(name: string, params: Record<string, unknown>): void {
    for (const handler of this.#handlers.get(name) ?? []) {
      try {
        handler(params as never);
      } catch (error) {
        // One handler's mistake is nobody else's: it is reported as an uncaught one, and the next event comes.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    const { cursor, session_id } = params;
    if (typeof cursor !== "string") return;
    const format = name === "batch" ? "normalized" : "cdev";
    if (format === "cdev") this.#seen = cursor;
    const subscription = this.#subscriptions.get(format);
    if (subscription) subscription.after = cursor;
    const watch = this.#watches.get(String(session_id));
    if (watch) watch.after = cursor;
  }
}

/** A promise with its handles outside. */
class Awaited<T> {
  resolve!: (value: T) => void;
  reject!: (why: Error) => void;
  readonly promise = new Promise<T>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    // Whoever awaits it sees the failure; nobody may.
    this.promise.catch(() => {});
  }
}
