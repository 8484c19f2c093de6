// Pairing a device, and keeping its tokens fresh.

import { post, refusal } from "./http.js";
import type { Scope, Timestamp } from "./protocol.js";

/** An access token is replaced this long before it expires, in milliseconds, so that it does not expire on its way. */
const REFRESH_EARLY_MS = 30_000;
/** How often a device that waits for approval asks again, in milliseconds. */
const APPROVAL_POLL_MS = 2_000;

/** What a paired device keeps. Whoever has it may act as this device: store it as you would a password. */
export interface Tokens {
  /** Opens connections for 15 minutes. */
  access_token: string;
  access_token_expires_at: Timestamp;
  /** Gets the next pair of tokens, once, within 7 days. */
  refresh_token: string;
  refresh_token_expires_at: Timestamp;
  /** The device, as `roost devices` lists it. */
  device_id: string;
  /** What the device may do. */
  scope: Scope;
}

/**
 * Pairs this device with the daemon at `http`, such as `http://127.0.0.1:8766`.
 *
 * `secret` is the six digits that `roost pair` shows, or the `token` of `roost pair --json`. If the daemon asks for
 * approval, it calls `onWaiting`, and waits until somebody at the machine has approved or rejected the device.
 */
export async function pair(http: string, secret: string, options: { name?: string; onWaiting?: () => void } = {}): Promise<Tokens> {
  const digits = secret.replace(/\s/g, "");
  const pairing_token = /^\d{6}$/.test(digits) ? (await ask(http, "api/pair/code", { code: digits })).pairing_token : secret;
  for (;;) {
    const answer = await ask(http, "api/auth/exchange", { pairing_token, name: options.name });
    if (answer.status !== "pending_approval") return answer;
    options.onWaiting?.();
    await new Promise((resolve) => setTimeout(resolve, APPROVAL_POLL_MS));
  }
}

/**
 * A `token` for a `Client`: gives the access token, and exchanges the refresh token for new ones when it is old or was
 * refused. `store` gets the new tokens, which must replace the old ones: a refresh token works only once.
 */
export function tokenSource(
  http: string,
  tokens: Tokens,
  store: (tokens: Tokens) => void | Promise<void>,
): (refused: boolean) => Promise<string> {
  return async (refused) => {
    const expiresIn = Date.parse(tokens.access_token_expires_at) - Date.now();
    if (refused || expiresIn < REFRESH_EARLY_MS) {
      tokens = await ask(http, "api/auth/refresh", { refresh_token: tokens.refresh_token });
      await store(tokens);
    }
    return tokens.access_token;
  };
}

async function ask(http: string, path: string, body: unknown) {
  const answer = await post(new URL(path, http.endsWith("/") ? http : `${http}/`), body);
  if (!answer.ok) throw await refusal(answer);
  return answer.json();
}
