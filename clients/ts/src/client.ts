// A client that keeps one connection open and never misses an event: after an interruption it connects again and goes
// on after the last event that its handlers have seen.

import { Connection } from "./connection.js";
import { ConnectionLost, NotConnected, RoostError, TokenRefused } from "./errors.js";
import { explain } from "./http.js";
import { ERRORS, PROTOCOL_VERSION } from "./protocol.js";
import type { ClientInfo, EventFormat, Events, InitializeResult, Methods } from "./protocol.js";
import { findWebSocket, type WebSocketConstructor } from "./websocket.js";

export * from "./errors.js";
export * from "./pairing.js";
export * from "./protocol.js";

/** Seconds before each try to connect again; the last one repeats. */
const BACKOFF = [0.1, 0.5, 1, 2, 5, 10];
/** How long the daemon may take to accept a connection and say hello, in milliseconds. */
const OPEN_MS = 10_000;
/** After this long, in milliseconds, a connection counts as one that works, and tries begin anew when it is lost. */
const LASTING_MS = 10_000;
/** How long a call waits for a connection, in seconds. */
const PATIENCE = 10;

type Params<M extends keyof Methods> = Methods[M]["params"];
type Result<M extends keyof Methods> = Methods[M]["result"];
/** Parameters may be left out where none is required. */
type Arguments<M extends keyof Methods> = {} extends Params<M> ? [params?: Params<M>] : [params: Params<M>];

export interface Options {
  /** Where the daemon listens, such as `ws://127.0.0.1:8766/ws`. */
  url: string;
  /**
   * The access token, or what gives one before each connection; `refused` means that the last one may not be good any
   * more. `tokenSource` makes such a function.
   */
  token?: string | ((refused: boolean) => string | Promise<string>);
  /** The name and version by which the daemon knows this client. */
  client?: ClientInfo;
  /** The WebSocket to use; if absent, the global one, or that of the package `ws` in Node.js before version 22. */
  WebSocket?: WebSocketConstructor;
  /** Seconds before each try to connect again; the last one repeats. `[0.1, 0.5, 1, 2, 5, 10]` if absent. */
  backoff?: readonly number[];
  /** Seconds that a call waits for a connection before it fails with `NotConnected`; 10 if absent. */
  patience?: number;
  /** The connection is open, and what was followed before is followed again. */
  onConnected?: (hello: InitializeResult) => void;
  /** There is no connection; the next try comes after this many seconds. */
  onLost?: (why: Error, seconds: number) => void;
  /** The daemon refused the token and a fresh one, so there is no next try: pair again. */
  onRefused?: (why: TokenRefused) => void;
  /** A handler threw, or returned a promise that was rejected; printed with `console.error` if absent. */
  onError?: (error: unknown) => void;
}

export class Client {
  readonly #options: Options;
  readonly #handlers = new Map<string, Set<(params: never) => unknown>>();
  /** What is followed, with `after` always at the last event that the handlers have seen. */
  readonly #subscriptions = new Map<EventFormat, Params<"events/subscribe">>();
  readonly #watches = new Map<string, Params<"session/watch">>();
  /** The last cursor of the cdev events. */
  #seen: string | undefined;
  /** The connection that calls use; absent while there is none. */
  #connection: Connection | undefined;
  /** The next connection, for calls that wait for it. */
  #next = new Deferred<Connection>();
  /** Aborted by `close`; each `connect` has its own. */
  #life: AbortController | undefined;
  #hello: Promise<InitializeResult> | undefined;
  /** Why there is no connection. */
  #failure: Error | undefined;
  /** How many tries there were since a connection last lasted. */
  #tries = 0;
  /** When the last connection heard something, in milliseconds since 1970. */
  #heardAt: number | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Connects. Fails at once if the daemon cannot be reached or refuses the token; with `retry` it tries until the daemon
   * is there. Once connected, it connects again by itself until `close`.
   */
  connect({ retry = false } = {}): Promise<InitializeResult> {
    if (!this.#hello) {
      this.#hello = this.#begin(retry);
      // Whoever waits for it sees the failure; calls see it, too.
      this.#hello.catch(() => {});
    }
    return this.#hello;
  }

  /** Calls a method; without a connection it waits for one, `patience` seconds at most. */
  async call<M extends keyof Methods>(method: M, ...[params]: Arguments<M>): Promise<Result<M>> {
    const connection = this.#connection ?? (await this.#wait());
    return connection.call(method, params ?? {});
  }

  /** Calls `handler` on every event of this name; returns a function that ends that. */
  on<E extends keyof Events>(event: E, handler: (params: Events[E]) => unknown): () => void {
    const handlers = this.#handlers.get(event) ?? new Set();
    this.#handlers.set(event, handlers.add(handler));
    return () => void handlers.delete(handler);
  }

  /** Follows events, over interruptions too; a second subscription of the same format replaces the first. */
  async subscribe(params: Params<"events/subscribe">): Promise<Result<"events/subscribe">> {
    const format = params.format ?? "cdev";
    return this.#follow(this.#subscriptions, format, "events/subscribe", { ...params, format });
  }

  /** Follows the events of this format no more. */
  async unsubscribe(format: EventFormat): Promise<void> {
    this.#subscriptions.delete(format);
    await this.call("events/unsubscribe", { format });
  }

  /** Watches a session, over interruptions too. */
  async watch(params: Params<"session/watch">): Promise<Result<"session/watch">> {
    return this.#follow(this.#watches, params.session_id, "session/watch", { ...params });
  }

  /** Watches a session no more. */
  async unwatch(session_id: string): Promise<void> {
    this.#watches.delete(session_id);
    await this.call("session/unwatch", { session_id });
  }

  /** When the daemon was last heard over a connection, this one or an earlier one; absent if it never was. */
  get heardAt(): Date | undefined {
    const time = this.#connection?.heardAt ?? this.#heardAt;
    return time === undefined ? undefined : new Date(time);
  }

  /**
   * Asks whether the daemon is there, for example after the machine slept. Without an answer within these seconds the
   * connection counts as lost, and the next one is made. False if there is no connection.
   */
  async probe(seconds: number): Promise<boolean> {
    return (await this.#connection?.probe(seconds * 1000)) ?? false;
  }

  /** Ends the connection; calls that wait fail. `connect` begins again, and follows what was followed. */
  close(): void {
    this.#end(new NotConnected("the client was closed"));
  }

  async #begin(retry: boolean): Promise<InitializeResult> {
    // Calls may wait already, unless they were told that an earlier connection ended for good.
    if (this.#life) this.#next = new Deferred();
    this.#life = new AbortController();
    const { signal } = this.#life;
    try {
      return await this.#open(false, signal).catch((error: unknown) => {
        if (!retry || error instanceof TokenRefused) throw error;
        return this.#retry(asError(error), signal);
      });
    } catch (error) {
      this.#giveUp(error, signal);
      throw error;
    }
  }

  /** There is no next try; calls fail with the reason. */
  #giveUp(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#end(asError(error));
    if (error instanceof TokenRefused) this.#run(() => this.#options.onRefused?.(error));
  }

  #end(why: Error): void {
    this.#hello = undefined;
    this.#heardAt = this.#connection?.heardAt ?? this.#heardAt;
    this.#connection = undefined;
    this.#next.reject(why);
    this.#life?.abort(why);
  }

  async #wait(): Promise<Connection> {
    const seconds = this.#options.patience ?? PATIENCE;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      const fail = () => {
        const why = this.#failure?.message ?? "call `connect` first";
        reject(new NotConnected(`no connection to ${this.#options.url} within ${seconds} s: ${why}`));
      };
      timer = setTimeout(fail, seconds * 1000);
    });
    return Promise.race([this.#next.promise, late]).finally(() => clearTimeout(timer));
  }

  /** Connects once. If the token is refused, it is replaced by a fresh one at once. */
  async #open(refused: boolean, signal: AbortSignal): Promise<InitializeResult> {
    try {
      return await this.#attempt(refused, signal);
    } catch (error) {
      if (refused || !(error instanceof TokenRefused) || typeof this.#options.token !== "function") throw error;
      return this.#attempt(true, signal);
    }
  }

  async #attempt(refused: boolean, signal: AbortSignal): Promise<InitializeResult> {
    const { url, client, onConnected } = this.#options;
    const token = typeof this.#options.token === "function" ? await this.#options.token(refused) : this.#options.token;
    const Socket = this.#options.WebSocket ?? (await findWebSocket());
    signal.throwIfAborted();
    // A WebSocket would fail with a SyntaxError that names neither the token nor what is wrong with it.
    if (token !== undefined && !/^[\w.~-]+$/.test(token)) throw new TokenRefused("this is not an access token of Roost");
    // A browser can set no header on a WebSocket, and an address is written into logs; hence a protocol's name.
    const protocols = token === undefined ? ["roost"] : ["roost", `bearer.${token}`];
    const connection = new Connection(new Socket(url, protocols), (name, params) => this.#event(name, params));
    const end = () => connection.close("the client was closed");
    signal.addEventListener("abort", end);
    let isLate = false;
    const deadline = setTimeout(() => {
      isLate = true;
      connection.close(`${url} did not answer within ${OPEN_MS / 1000} s`);
    }, OPEN_MS);
    void connection.lost.then(() => {
      clearTimeout(deadline);
      signal.removeEventListener("abort", end);
    });
    await connection.opened.catch(async (error: ConnectionLost) => {
      throw isLate || signal.aborted ? error : await explain(url, token, error);
    });
    try {
      const hello = await connection.call("initialize", { protocol_version: PROTOCOL_VERSION, client_info: client });
      clearTimeout(deadline);
      connection.notify("initialized", {});
      await this.#resume(connection);
      signal.throwIfAborted();
      this.#connection = connection;
      this.#next.resolve(connection);
      const openedAt = Date.now();
      void connection.lost.then((why) => {
        // A daemon that accepts connections only to end them is not called ten times a second.
        if (Date.now() - openedAt > LASTING_MS) this.#tries = 0;
        return this.#reconnect(why, signal);
      });
      this.#run(() => onConnected?.(hello));
      return hello;
    } catch (error) {
      connection.close("the connection could not be used");
      throw error;
    }
  }

  async #reconnect(why: ConnectionLost, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#heardAt = this.#connection?.heardAt ?? this.#heardAt;
    this.#connection = undefined;
    this.#next = new Deferred();
    try {
      await this.#retry(why, signal);
    } catch (error) {
      this.#giveUp(error, signal);
    }
  }

  /** Tries until there is a connection; fails only if a fresh token is refused, or on `close`. */
  async #retry(why: Error, signal: AbortSignal): Promise<InitializeResult> {
    const backoff = this.#options.backoff ?? BACKOFF;
    let refused = why instanceof TokenRefused;
    for (;;) {
      const seconds = backoff[Math.min(this.#tries++, backoff.length - 1)] ?? 0;
      this.#failure = why;
      this.#run(() => this.#options.onLost?.(why, seconds));
      await sleep(seconds, signal);
      try {
        return await this.#open(refused, signal);
      } catch (error) {
        if (signal.aborted || error instanceof TokenRefused) throw error;
        // Why a connection failed is not told to every page: it may have been the token.
        [why, refused] = [asError(error), true];
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
    followed: Map<K, Params<M>>,
    key: K,
    method: M,
    params: Params<M>,
  ): Promise<Result<M>> {
    const connection = this.#connection ?? (await this.#wait());
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
    for (const handler of this.#handlers.get(name) ?? []) this.#run(() => handler(params as never));
    const { cursor, session_id } = params;
    if (typeof cursor !== "string") return;
    const format = name === "batch" ? "normalized" : "cdev";
    if (format === "cdev") this.#seen = cursor;
    const subscription = this.#subscriptions.get(format);
    if (subscription) subscription.after = cursor;
    const watch = this.#watches.get(String(session_id));
    if (watch) watch.after = cursor;
  }

  /** Runs the application's code. Its mistakes are reported, and change nothing for others. */
  #run(work: () => unknown): void {
    const report = this.#options.onError ?? console.error;
    try {
      const result = work();
      if (result instanceof Promise) result.catch(report);
    } catch (error) {
      report(error);
    }
  }
}

/** A promise that is settled from outside. */
class Deferred<T> {
  resolve!: (value: T) => void;
  reject!: (why: Error) => void;
  readonly promise = new Promise<T>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    // Whoever waits for it sees the failure; nobody has to wait.
    this.promise.catch(() => {});
  }
}

function sleep(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    }, seconds * 1000);
    signal.addEventListener("abort", abort);
  });
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
