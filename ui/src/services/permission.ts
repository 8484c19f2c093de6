// What this device may do with services; the daemon decides, this only says so before somebody tries.

import type { Scope } from "roost-client";
import { live } from "../live/connection.svelte";

/** Why something that needs this scope cannot be done now; empty if it can. */
export function blockedFor(needed: Extract<Scope, "operate" | "admin">): string {
  if (live.blocked) return live.blocked;
  const has = live.scope;
  if (has === "admin" || has === needed) return "";
  return needed === "admin" ? "Needs a device that was paired with `roost pair --scope admin`" : "This device may only watch";
}
