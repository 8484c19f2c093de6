// The connections that this browser has had, so that what was sent over an earlier one is still known as its own.

const KEY = "roost.clients";
/** As many as somebody has in the sessions that they look at. */
const KEPT = 200;

let known: string[] = [];
try {
  known = JSON.parse(localStorage.getItem(KEY) ?? "[]") as string[];
} catch {
  // Whatever stood there, it is written anew with the next connection.
}

export function rememberOwnClient(id: string): void {
  known = [...known.filter((other) => other !== id), id].slice(-KEPT);
  localStorage.setItem(KEY, JSON.stringify(known));
}

export const isOwnClient = (id: string | undefined): boolean => id !== undefined && known.includes(id);
