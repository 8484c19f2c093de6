/** A key that nobody else makes up; `crypto.randomUUID` is missing on a page from a plain http address. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");
}
