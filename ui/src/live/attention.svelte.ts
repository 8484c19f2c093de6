// What waits for somebody, where they look: in the title, on the icon, and as a system notification while the page is
// open but not seen.

import { sessions } from "./sessions.svelte";
import { oneLine } from "../text/hidden";
import { callFacts } from "../session/call";
import type { PendingRequest } from "roost-client";
import { router, sessionAddress } from "./router.svelte";

const areThere = () => "Notification" in window && window.isSecureContext;

/** Whether this page may show some. A certificate that the browser does not trust, such as a self-signed one that somebody let through, brings no service worker, without which a phone shows none. */
export const notificationsPossible = () => areThere() && attention.hasWorker;

class Attention {
  permission = $state(areThere() ? Notification.permission : "denied");
  /** Whether the service worker is registered. */
  hasWorker = $state(false);
  #announced = new Set<string>();
  #isFirst = true;

  constructor() {
    void navigator.serviceWorker?.ready.then(() => (this.hasWorker = true));
    // A notification that was touched names the place to show.
    navigator.serviceWorker?.addEventListener("message", ({ data }: MessageEvent) => {
      if (typeof data?.go === "string" && data.go.startsWith("/s/")) router.go(data.go);
    });
  }

  async ask(): Promise<void> {
    this.permission = await Notification.requestPermission();
  }

  /** Tells what is new; what was there when the page opened is no news. */
  update(pending: readonly PendingRequest[]): void {
    const fresh = pending.filter((request) => !this.#announced.has(request.tool_use_id));
    for (const request of fresh) this.#announced.add(request.tool_use_id);
    const badge = navigator as Navigator & { setAppBadge?: (count: number) => Promise<void> };
    void badge.setAppBadge?.(pending.length).catch(() => {});
    if (!this.#isFirst && document.hidden && this.permission === "granted") fresh.forEach((request) => void notify(request).catch(() => {}));
    this.#isFirst = !sessions.isLoaded;
  }
}

async function notify(request: PendingRequest): Promise<void> {
  const session = sessions.byId(request.session_id);
  const facts = callFacts(request.tool_name, request.tool_input, undefined);
  const { ask } = request.pending;
  const title = oneLine(session?.summary ?? "Roost", 80);
  const address = sessionAddress(request.session_id);
  const options = {
    body: oneLine("question" in ask ? ask.question.message : facts.subject, 120),
    tag: request.tool_use_id,
    icon: "/icon-192.png",
    data: { address },
  };
  // On a phone only a service worker may show one.
  const worker = await navigator.serviceWorker?.getRegistration();
  if (worker) return worker.showNotification(title, options);
  const notification = new Notification(title, options);
  notification.onclick = () => {
    window.focus();
    router.go(address);
    notification.close();
  };
}

export const attention = new Attention();
