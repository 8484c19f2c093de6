// The daemon over HTTP: pairing, and why a WebSocket did not open.

import { ConnectionLost, NotConnected, TokenRefused } from "./errors.js";

/** How long the daemon may take to answer, in milliseconds. */
const ANSWER_MS = 10_000;

/** Sends JSON and returns the answer, whatever its status. */
export async function post(url: URL, body: unknown, token?: string): Promise<Response> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  try {
    return await fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      // A token is for the daemon, and for nobody it might point at.
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  } catch (error) {
    throw new NotConnected(`no answer from ${url.origin}: ${reason(error)}`, { cause: error });
  }
}

/** The error that an answer stands for. */
export async function refusal(answer: Response): Promise<Error> {
  const text = await answer.text().catch(() => "");
  const why = `${new URL(answer.url).origin} answered HTTP ${answer.status}: ${sentence(text)}`;
  return answer.status === 401 ? new TokenRefused(why) : new NotConnected(why);
}

/**
 * Why a WebSocket did not open. The WebSocket API hides the HTTP status, so the same daemon is called over HTTP with the
 * same token. A page of another origin cannot read a refusal either, and gets `failure` back.
 */
export async function explain(url: string, token: string | undefined, failure: ConnectionLost): Promise<Error> {
  const health = { jsonrpc: "2.0", id: 1, method: "status/health" };
  try {
    const answer = await post(new URL("api/rpc", url.replace(/^ws/, "http")), health, token);
    return answer.ok ? failure : await refusal(answer);
  } catch (error) {
    return error instanceof ConnectionLost ? error : failure;
  }
}

/** The daemon's refusals are `{"error": "…"}`; a proxy's may be a page, of which a line is enough. */
function sentence(body: string): string {
  try {
    return String(JSON.parse(body).error);
  } catch {
    return body.trim().slice(0, 200) || "no reason given";
  }
}

/** Node.js says only "fetch failed" and keeps the reason in `cause`; an address of several IPs has only a code. */
function reason(error: unknown): string {
  const { message, cause } = error as { message: string; cause?: { message?: string; code?: string } };
  return cause?.message || cause?.code || message;
}
