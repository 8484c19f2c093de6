// The routes for somebody at the machine. The secret comes with the link that `roost pair` shows, works once, and becomes
// one for this tab.

const KEY = "roost.local";

export interface PairInfo {
  http: string;
  token: string;
  token_expires_at: string;
  code: string;
  code_expires_at: string;
  code_scope: string;
}

export interface WaitingRequest {
  request_id: string;
  name?: string;
  user_agent: string;
  remote_addr: string;
}

export class LocalRefusal extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

export const localSecret = () => sessionStorage.getItem(KEY) ?? "";

export const leaveDesk = () => sessionStorage.removeItem(KEY);

export async function openLink(secret: string): Promise<void> {
  const { local } = await ask<{ local: string }>("/api/pair/open", { secret });
  sessionStorage.setItem(KEY, local);
}

/** What a new device needs. A code that a terminal shows stays valid unless a new one is asked for. */
export const pairInfo = (isNew: boolean) => ask<PairInfo>(`/api/pair/info?include_token=1${isNew ? "&new_code=1" : ""}`);

/** Devices that wait for approval; `undefined` if the daemon asks for none. */
export async function waitingDevices(): Promise<WaitingRequest[] | undefined> {
  try {
    return (await ask<{ pending: WaitingRequest[] }>("/api/auth/pairing/pending")).pending;
  } catch (error) {
    if (error instanceof LocalRefusal && error.status === 404) return undefined;
    throw error;
  }
}

/** The QR code of cdev's iOS app, as a picture. */
export async function appQr(): Promise<Blob> {
  const answer = await fetch("/api/pair/qr?size=512", { headers: { "x-roost-local": localSecret() } });
  if (!answer.ok) throw new LocalRefusal("The QR code of the app cannot be made", answer.status);
  return answer.blob();
}

export const decide = (request_id: string, answer: "approve" | "reject") =>
  ask<unknown>(`/api/auth/pairing/${answer}`, { request_id });

export const revokeAll = () => ask<{ message: string }>("/api/pair/refresh", {});

async function ask<T>(path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = { "x-roost-local": localSecret() };
  if (body !== undefined) headers["content-type"] = "application/json";
  const answer = await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body: body === undefined ? undefined : JSON.stringify(body) });
  if (answer.ok) return (await answer.json()) as T;
  const told = (await answer.json().catch(() => ({}))) as { error?: string };
  throw new LocalRefusal(told.error ?? answer.statusText, answer.status);
}
