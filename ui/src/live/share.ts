// Links to places of the page, for a colleague's paired device. An installed app has no bar that shows an address.

import { toasts } from "./toasts.svelte";

/** Hands a link over: to the device's own list of receivers where it has one, else to the clipboard. */
export async function shareLink(address: string, title: string): Promise<void> {
  const url = new URL(address, location.href).href;
  const isTouched = matchMedia("(pointer: coarse)").matches;
  if (isTouched && "share" in navigator) {
    try {
      return await navigator.share({ title, url });
    } catch (error) {
      // Somebody changed their mind; everything else leaves the clipboard.
      if (error instanceof DOMException && error.name === "AbortError") return;
    }
  }
  if (await copied(url)) toasts.say("Link copied");
  else toasts.fail(`This browser lets no page copy. The link is ${url}`);
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Over plain http there is no clipboard but the selection's.
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const before = document.activeElement as HTMLElement | null;
  const field = Object.assign(document.createElement("textarea"), { value: text, readOnly: true, className: "hidden-text" });
  // What lies outside of an open dialog cannot have the focus.
  (before?.closest("dialog") ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  before?.focus();
  return isCopied;
}
