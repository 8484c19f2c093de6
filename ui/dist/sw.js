// The shell works without the network: it opens at once and says that it is offline. Nothing of the daemon's answers is
// kept here. The page's files have a hash in their names, so one that was fetched never changes.

const CACHE = "shell-1";
/** How long the daemon may take before the page that is kept is shown, in milliseconds. */
const PATIENCE_MS = 2_000;
/** The addresses that are the page; everything else there is the daemon's own. */
const PLACES = /^\/((s|w|services|activity|new|status|devices|more|pair)(\/|$))?$|^\/(s|w|services)\//;

self.addEventListener("install", (event) => {
  event.waitUntil(keepShell().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (request.mode === "navigate" && PLACES.test(pathname)) event.respondWith(shell(event));
  else if (pathname.startsWith("/assets/")) event.respondWith(asset(request));
});

/** The page from the daemon, or the last one if none comes: a network that swallows everything fails nothing. */
async function shell(event) {
  const fresh = freshShell(event.request);
  // It may come later, and is kept for the next time.
  event.waitUntil(fresh.catch(() => {}));
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  const answer = await Promise.race([fresh.catch(() => undefined), late]);
  return answer ?? (await caches.match("/")) ?? fresh;
}

async function freshShell(request) {
  const answer = await fetch(request);
  if (answer.ok && answer.headers.get("content-type")?.startsWith("text/html")) await replaceShell(answer.clone());
  return answer;
}

/** Keeps the page with the files that it begins with, which were fetched before there was a worker. */
async function keepShell() {
  const cache = await caches.open(CACHE);
  await cache.add("/");
  const html = await (await cache.match("/")).text();
  await cache.addAll([...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, file]) => file));
}

/** Keeps the page, and forgets the files of an older one. */
async function replaceShell(answer) {
  const cache = await caches.open(CACHE);
  const [before, html] = [await cache.match("/"), await answer.clone().text()];
  if (before && (await before.text()) === html) return;
  for (const request of await cache.keys()) {
    if (new URL(request.url).pathname.startsWith("/assets/")) await cache.delete(request);
  }
  await cache.put("/", answer);
}

async function asset(request) {
  const kept = await caches.match(request);
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.ok) await (await caches.open(CACHE)).put(request, answer.clone());
  return answer;
}

/** A notification leads to its session, in a window that is open or in a new one. */
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { address } = event.notification.data ?? {};
  event.waitUntil(show(address ?? "/"));
});

async function show(address) {
  const [window] = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (!window) return self.clients.openWindow(address);
  window.postMessage({ go: address });
  return window.focus();
}
