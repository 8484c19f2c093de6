// What waits for somebody, where they look: in the title, on the icon, and as a system notification while the page is
// open but not seen.

import { sessions } from "./sessions.svelte";
import { oneLine } from "../text/hidden";
import { callFacts } from "../session/call";
import type { PendingRequest } from "roost-client";
import { router, sessionAddress } from "./router.svelte";

export const notificationsPossible = () => "Notification" in window && window.isSecureContext;

class Attention {
  permission = $state(notificationsPossible() ? Notification.permission : "denied");
  #told = new Set<string>();
  #isFirst = true;

  async ask(): Promise<void> {
    this.permission = await Notification.requestPermission();
  }

  /** Tells what is new; what was there when the page opened is no news. */
  update(pending: readonly PendingRequest[]): void {
    const fresh = pending.filter((request) => !this.#told.has(request.tool_use_id));
    for (const request of fresh) this.#told.add(request.tool_use_id);
    const badge = navigator as Navigator & { setAppBadge?: (count: number) => Promise<void> };
    void badge.setAppBadge?.(pending.length).catch(() => {});
    if (!this.#isFirst && document.hidden && this.permission === "granted") fresh.forEach(notify);
    this.#isFirst = !sessions.isLoaded;
  }
}

function notify(request: PendingRequest): void {
  const session = sessions.byId(request.session_id);
  const facts = callFacts(request.tool_name, request.tool_input, undefined);
  const notification = new Notification(session?.summary ?? "Roost", {
    body: "question" in request.pending.ask ? request.pending.ask.question.message : oneLine(facts.subject, 120),
    tag: request.tool_use_id,
    icon: "/icon-192.png",
  });
  notification.onclick = () => {
    window.focus();
    router.go(sessionAddress(request.session_id));
    notification.close();
  };
}

export const attention = new Attention();
