// Where the page is. Addresses are those of UI.md: each session, file and moment has one.

export type Place =
  | { name: "inbox" }
  | { name: "new" }
  | { name: "session"; id: string; seq?: number; isThen?: true }
  | { name: "workspaces" }
  | { name: "workspace"; id: string; tab: string; path: string }
  | { name: "services"; id: string }
  | { name: "activity"; about: string }
  | { name: "status" }
  | { name: "devices" }
  | { name: "more" }
  | { name: "pair" }
  | { name: "nowhere" };

/** The element that scrolls with a page; a session and some others scroll within themselves. */
const PAGE = "main";
/** How long a page may take to be as long as it was, in milliseconds. */
const GROWN_MS = 1_000;

/** Scrolls the page; one that is still being read is followed until it is long enough. */
function scrollPage(top: number, until = performance.now() + GROWN_MS): void {
  requestAnimationFrame(() => {
    const page = document.getElementById(PAGE);
    page?.scrollTo({ top });
    if (page && page.scrollTop < top - 1 && performance.now() < until) scrollPage(top, until);
  });
}

export function parse(pathname: string, hash: string, search: string): Place {
  const [first = "", id = "", tab = ""] = pathname.split("/").filter(Boolean).map(decoded);
  const seq = Number.parseInt(hash.slice(1));
  const path = new URLSearchParams(search).get("path") ?? "";
  switch (first) {
    case "":
      return { name: "inbox" };
    case "s":
      if (!id) return { name: "inbox" };
      return { name: "session", id, seq: Number.isNaN(seq) ? undefined : seq, ...(new URLSearchParams(search).has("then") && { isThen: true as const }) };
    case "w":
      return id ? { name: "workspace", id, tab: tab || "changes", path } : { name: "workspaces" };
    case "services":
      return { name: "services", id };
    case "activity":
      return { name: "activity", about: new URLSearchParams(search).get("about") ?? "" };
    case "new":
    case "status":
    case "devices":
    case "more":
    case "pair":
      return { name: first };
    default:
      return { name: "nowhere" };
  }
}

/** A part of an address; one that somebody wrote wrongly stays as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

class Router {
  place = $state.raw<Place>(parse(location.pathname, location.hash, location.search));

  constructor() {
    addEventListener("popstate", ({ state }: PopStateEvent) => {
      this.#read();
      scrollPage(Number((state as { top?: number } | null)?.top) || 0);
    });
    addEventListener("hashchange", () => this.#read());
    document.addEventListener("click", (event) => this.#click(event));
  }

  go(address: string, { replace = false } = {}): void {
    const before = location.pathname;
    if (replace) history.replaceState(history.state, "", address);
    else {
      // Where somebody was in this page, for when they come back.
      history.replaceState({ top: document.getElementById(PAGE)?.scrollTop ?? 0 }, "");
      history.pushState(null, "", address);
    }
    this.#read();
    if (location.pathname !== before) scrollPage(0);
  }

  #read(): void {
    this.place = parse(location.pathname, location.hash, location.search);
  }

  /** Links of the page itself need no new page. */
  #click(event: MouseEvent): void {
    const link = (event.target as Element).closest?.("a[href]");
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!(link instanceof HTMLAnchorElement) || !isPlain || event.defaultPrevented) return;
    if (link.origin !== location.origin || link.target || link.download) return;
    event.preventDefault();
    this.go(link.pathname + link.search + link.hash);
  }
}

export const router = new Router();

export const sessionAddress = (id: string, seq?: number) => `/s/${encodeURIComponent(id)}${seq ? `#${seq}` : ""}`;

/** The session as it was after an event. */
export const momentAddress = (id: string, seq: number) => `/s/${encodeURIComponent(id)}?then#${seq}`;

export function workspaceAddress(id: string, tab = "", path = ""): string {
  const query = path ? `?path=${encodeURIComponent(path)}` : "";
  return `/w/${encodeURIComponent(id)}${tab ? `/${tab}` : ""}${query}`;
}

export const serviceAddress = (id: string) => `/services/${encodeURIComponent(id)}`;

/** The timeline of one service or session, or of everything. */
export const activityAddress = (about = "") => `/activity${about ? `?about=${encodeURIComponent(about)}` : ""}`;
