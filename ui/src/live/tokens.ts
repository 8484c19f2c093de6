// The tokens of this browser. They lie in the storage of this origin only, and all tabs share them: a refresh token works
// once, so no two tabs may use it.

import { pair, tokenSource, TokenRefused, type Tokens } from "roost-client";

const KEY = "roost.tokens";
const LEASE = "roost.tokens.lease";
/** Drafts, prompts on their way, reading places and open folds. */
const KEPT = /^roost\.(draft\.|unconfirmed\.|started\.|place\.|folds$)/;
/** How long a tab may take to refresh before another one does, in milliseconds. */
const LEASE_MS = 10_000;

/** How long before they expire tokens are refreshed, and how often that is looked at, in milliseconds. */
const EARLY_MS = 180_000;
const CHECK_MS = 30_000;

export const http = location.origin;

export function stored(): Tokens | undefined {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "") as Tokens;
  } catch {
    return undefined;
  }
}

export function store(tokens: Tokens): void {
  localStorage.setItem(KEY, JSON.stringify(tokens));
}

/** Forgets the tokens, and what this browser kept of the sessions that it may not see any more. */
export function forget(): void {
  localStorage.removeItem(KEY);
  for (const storage of [localStorage, sessionStorage]) {
    for (const key of Object.keys(storage)) if (KEPT.test(key)) storage.removeItem(key);
  }
}

/** Exchanges what a QR code or a person gave for tokens; waits while somebody has to approve. */
export async function pairThisBrowser(secret: string, name: string, onWaiting: () => void): Promise<Tokens> {
  const tokens = await pair(http, secret, { name, onWaiting });
  store(tokens);
  return tokens;
}

/** The access token for the next connection, refreshed if it is old or `refused`. */
export async function accessToken(refused: boolean): Promise<string> {
  const before = stored();
  if (!before) throw new TokenRefused("this browser is not paired");
  const isFresh = Date.parse(before.access_token_expires_at) - Date.now() > 60_000;
  if (!refused && isFresh) return before.access_token;
  return exclusively(async () => {
    const now = stored();
    if (!now) throw new TokenRefused("this browser was signed out in another tab");
    // Another tab was faster: what it got is what we need.
    if (now.access_token !== before.access_token) return now.access_token;
    return tokenSource(http, now, store)(true);
  });
}

/** Refreshes the tokens before they expire, which also keeps the open connection valid. */
export function keepFresh(): void {
  setInterval(() => {
    const tokens = stored();
    if (tokens && Date.parse(tokens.access_token_expires_at) - Date.now() < EARLY_MS) void accessToken(true).catch(() => {});
  }, CHECK_MS);
}

/** Revokes this browser's tokens at the daemon; they are forgotten here even if it cannot be reached. */
export async function revoke(): Promise<void> {
  const tokens = stored();
  forget();
  if (!tokens) return;
  const body = JSON.stringify({ refresh_token: tokens.refresh_token });
  await fetch("/api/auth/revoke", { method: "POST", headers: { "content-type": "application/json" }, body }).catch(() => {});
}

/** Calls `changed` when another tab pairs or signs out; not when it only has newer tokens of the same device. */
export function onChange(changed: () => void): void {
  let device = stored()?.device_id;
  addEventListener("storage", () => {
    const now = stored()?.device_id;
    if (now !== device) changed();
    device = now;
  });
}

async function exclusively<T>(work: () => Promise<T>): Promise<T> {
  // Locks exist only where the browser trusts the connection; a page from a plain http address gets a lease instead.
  if (navigator.locks) return navigator.locks.request(KEY, work);
  const mine = `${Date.now() + LEASE_MS}.${Math.random()}`;
  for (;;) {
    const held = localStorage.getItem(LEASE);
    if (!held || Number.parseInt(held) < Date.now()) {
      localStorage.setItem(LEASE, mine);
      await pause(40);
      if (localStorage.getItem(LEASE) === mine) break;
    }
    await pause(60);
  }
  try {
    return await work();
  } finally {
    localStorage.removeItem(LEASE);
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
