// Colours for code. The highlighter is loaded when the first code is shown; it adds spans and changes no sizes.

/** Code longer than this, in characters, stays plain. */
const LONGEST = 60_000;

const load = () => import("highlight.js/lib/common").then((module) => module.default);

const BY_EXTENSION: Record<string, string> = {
  rs: "rust", ts: "typescript", tsx: "typescript", js: "javascript", mjs: "javascript", jsx: "javascript", py: "python",
  go: "go", java: "java", kt: "kotlin", swift: "swift", c: "c", h: "c", cc: "cpp", cpp: "cpp", hpp: "cpp", cs: "csharp",
  rb: "ruby", php: "php", sh: "bash", bash: "bash", zsh: "bash", json: "json", yml: "yaml", yaml: "yaml", toml: "ini",
  ini: "ini", md: "markdown", html: "xml", svelte: "xml", vue: "xml", xml: "xml", svg: "xml", css: "css", scss: "scss",
  sql: "sql", diff: "diff", patch: "diff", lua: "lua", r: "r", graphql: "graphql",
};

export function languageOf(path: string): string | undefined {
  const name = path.split("/").at(-1) ?? "";
  if (name === "Makefile") return "makefile";
  return BY_EXTENSION[name.split(".").at(-1)?.toLowerCase() ?? ""];
}

/** The code as HTML with colours; `undefined` if the language is not known or the code is too long. */
export async function highlight(code: string, language: string | undefined): Promise<string | undefined> {
  if (!language || code.length > LONGEST) return undefined;
  const highlighter = await load();
  const name = BY_EXTENSION[language] ?? language;
  if (!highlighter.getLanguage(name)) return undefined;
  // The highlighter escapes the code; it adds nothing but spans with classes.
  return highlighter.highlight(code, { language: name, ignoreIllegals: true }).value;
}

/** Colours the fenced code in an element. */
export async function highlightWithin(element: HTMLElement): Promise<void> {
  for (const code of element.querySelectorAll<HTMLElement>("pre > code[class*='language-']:not(.hljs)")) {
    const language = /language-([\w+#-]+)/.exec(code.className)?.[1];
    const html = await highlight(code.textContent ?? "", language);
    if (html === undefined || !code.isConnected) continue;
    code.innerHTML = html;
    code.classList.add("hljs");
  }
}
