// Builds the web app: `node build.mjs` writes `dist`, `node build.mjs --check COMMITTED` also compares it with what is
// committed. Compressed files are compared by what is in them, because releases of Node.js compress differently.

import { existsSync, readFileSync } from "node:fs";
import { relative, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { build } from "vite";
import { compress, filesOf } from "./compress.mjs";

const DIST = new URL("./dist", import.meta.url).pathname;
/** What the first load may weigh: script of the page and all that it imports at once, compressed. */
const FIRST_LOAD_BYTES = 180 * 1024;

await build({ logLevel: "warn" });
compress(DIST);
checkFirstLoad();

const [option, committed] = process.argv.slice(2);
if (option === "--check") compare(committed);

function checkFirstLoad() {
  const page = readFileSync(join(DIST, "index.html"), "utf8");
  const scripts = new Set([...page.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map((found) => found[1]));
  const sent = (script) => (existsSync(join(DIST, `${script}.br`)) ? `${script}.br` : script);
  const size = [...scripts].reduce((sum, script) => sum + readFileSync(join(DIST, sent(script))).length, 0);
  if (size > FIRST_LOAD_BYTES) throw new Error(`the first load has ${size} bytes of script; ${FIRST_LOAD_BYTES} are allowed`);
  console.log(`first load: ${(size / 1024).toFixed(1)} KB of script in ${scripts.size} files`);
}

function compare(folder) {
  const [fresh, kept] = [contents(DIST), contents(folder)];
  const names = new Set([...fresh.keys(), ...kept.keys()]);
  const different = [...names].filter((name) => fresh.get(name)?.equals(kept.get(name) ?? Buffer.alloc(0)) !== true);
  if (different.length === 0) return;
  console.error(`ui/dist is not what ui/src becomes; run \`cargo xtask ui build\` and commit it:\n  ${different.join("\n  ")}`);
  process.exit(1);
}

function contents(folder) {
  if (!existsSync(folder)) return new Map();
  return new Map(
    filesOf(folder).map((file) => {
      const bytes = readFileSync(file);
      return [relative(folder, file), file.endsWith(".br") ? brotliDecompressSync(bytes) : bytes];
    }),
  );
}
