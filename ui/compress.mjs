// Compresses the built files once, so that the daemon never has to: beside each file that gets much smaller lies one
// that ends with `.br`.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

/** Files smaller than this, in bytes, fit into one packet anyway. */
const SMALLEST = 1024;

export function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

export function compress(folder) {
  for (const file of filesOf(folder).filter((name) => /\.(js|css|html|svg)$/.test(name))) {
    const bytes = readFileSync(file);
    const small = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
    if (bytes.length >= SMALLEST && small.length < bytes.length * 0.9) writeFileSync(`${file}.br`, small);
  }
}
