// Markdown of agents as HTML. It is hostile input: no HTML of its own, no pictures from elsewhere, links only to the web,
// and what comes out is cleaned once more.

import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";
import { revealHidden, revealInProse } from "./hidden";

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });

// A picture would be fetched from whoever the agent names; its address is shown instead.
markdown.renderer.rules.image = (tokens, index) => {
  const token = tokens[index];
  const [text, source] = [token?.content ?? "", String(token?.attrGet("src") ?? "")];
  return `<span class="picture">[${escape(text || "picture")}: ${escape(source)}]</span>`;
};

// Code may be copied and run: there no character may hide, as it may in prose.
markdown.core.ruler.push("reveal", ({ tokens }) => {
  for (const token of tokens.flatMap((one) => [one, ...(one.children ?? [])])) {
    if (/^(fence|code_block|code_inline)$/.test(token.type)) token.content = revealHidden(token.content);
  }
});

markdown.validateLink = (link) => /^(https?:|mailto:)/i.test(link.trim());

const purify = DOMPurify(window);
purify.addHook("afterSanitizeAttributes", (node) => {
  // A block of code that is wider than the screen scrolls, also by keyboard.
  if (node.tagName === "PRE") node.setAttribute("tabindex", "0");
  if (node.tagName !== "A") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
  // A link shows where it leads, whatever its text says; a phone has no pointer that could rest on it.
  node.setAttribute("title", node.getAttribute("href") ?? "");
  const place = placeOf(node.getAttribute("href") ?? "");
  if (!place || saysPlace(node.textContent ?? "", place)) return;
  const mark = node.ownerDocument.createElement("span");
  mark.className = "place";
  mark.textContent = ` (${place})`;
  node.append(mark);
});

/** The host of a web address, or the whole of a mail address. */
function placeOf(address: string): string {
  try {
    const { protocol, host, pathname } = new URL(address);
    return protocol === "mailto:" ? decodeURIComponent(pathname) : host;
  } catch {
    return "";
  }
}

/** Whether a link's text is an address at this place, and not one that only begins or ends like it. */
function saysPlace(text: string, place: string): boolean {
  const said = text.trim().toLowerCase().replace(/^(?:https?:\/\/|mailto:)/, "");
  return said.startsWith(place) && /^(?:$|[/?#])/.test(said.slice(place.length));
}

const ALLOWED = {
  ALLOWED_TAGS: [
    "p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a", "h1", "h2", "h3", "h4",
    "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "span",
  ],
  ALLOWED_ATTR: ["href", "title", "class", "start"],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

const cache = new Map<string, string>();
const CACHED = 400;

export function renderMarkdown(source: string): string {
  const known = cache.get(source);
  if (known !== undefined) return known;
  const html = purify.sanitize(markdown.render(revealInProse(source)), ALLOWED);
  cache.set(source, html);
  const oldest = cache.keys().next().value;
  if (cache.size > CACHED && oldest !== undefined) cache.delete(oldest);
  return html;
}

function escape(text: string): string {
  return markdown.utils.escapeHtml(text);
}
