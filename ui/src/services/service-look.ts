// How a service looks in a list: one word, one shape, one colour; and which group it belongs to.

import type { Health, ServiceSummary } from "roost-client";
import type { IconName } from "../parts/icons";

export type Tone = "done" | "working" | "waiting" | "failed" | "muted";

export interface ServiceLook {
  icon: IconName;
  word: string;
  tone: Tone;
}

const ILL: Partial<Record<Health, string>> = {
  DEGRADED: "partly working",
  TIMEOUT: "too slow",
  UNAUTHORIZED: "refuses our login",
  UNREACHABLE: "cannot be reached",
};

export function lookOf(service: ServiceSummary): ServiceLook {
  switch (service.lifecycle) {
    case "QUARANTINED":
      return { icon: "octagonX", word: "quarantined", tone: "failed" };
    case "CRASHED":
      return { icon: "circleX", word: "failed", tone: "failed" };
    case "STARTING":
      return { icon: "loader", word: "starting", tone: "working" };
    case "STOPPING":
      return { icon: "loader", word: "stopping", tone: "working" };
    case "STOPPED":
      return { icon: "square", word: "stopped", tone: "muted" };
    case "REGISTERED":
      return { icon: "circle", word: "never started", tone: "muted" };
    case "RUNNING": {
      const ill = ILL[service.health];
      return ill ? { icon: "triangleAlert", word: ill, tone: "waiting" } : { icon: "circleCheck", word: "running", tone: "done" };
    }
    default:
      // A daemon that is newer than this page may know more.
      return { icon: "circle", word: String(service.lifecycle).toLowerCase(), tone: "muted" };
  }
}

/** Whether somebody should look at it: it failed, answers badly, or tools of it wait for approval. */
export function needsSomebody(service: ServiceSummary): boolean {
  const { tone } = lookOf(service);
  return tone === "failed" || tone === "waiting" || (service.interface?.heldBack ?? 0) > 0;
}

export interface ServiceGroup {
  title: string;
  services: ServiceSummary[];
}

/** By health: what needs somebody first. */
export function groupsOf(services: readonly ServiceSummary[]): ServiceGroup[] {
  const ill = services.filter(needsSomebody);
  const rest = services.filter((service) => !ill.includes(service));
  const isUp = (service: ServiceSummary) => ["RUNNING", "STARTING", "STOPPING"].includes(service.lifecycle);
  return [
    { title: "Needs you", services: ill },
    { title: "Running", services: rest.filter(isUp) },
    { title: "Not running", services: rest.filter((service) => !isUp(service)) },
  ].filter((group) => group.services.length > 0);
}

export const nameOf = (service: ServiceSummary) => service.displayName || service.namespace;

const KINDS: Record<string, string> = { stdio_mcp: "program", remote_mcp: "address", local_wasm: "module" };
export const kindOf = (service: ServiceSummary) => KINDS[service.originType] ?? service.originType;
