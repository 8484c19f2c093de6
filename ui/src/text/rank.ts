// How well a text fits what somebody types.

/** Shorter queries are found nearly everywhere if their characters may lie apart. */
const SCATTERED = 3;

/**
 * The less the better: 0 if the text begins with the query, 1 if one of its words does, 2 if the query stands within it, 3 if
 * its characters come in this order; `undefined` if it does not fit.
 */
export function rankOf(text: string, query: string): number | undefined {
  const [low, wanted] = [text.toLowerCase(), query.trim().toLowerCase()];
  if (low.startsWith(wanted)) return 0;
  for (let at = low.indexOf(wanted); at !== -1; at = low.indexOf(wanted, at + 1)) if (!/[\p{L}\p{N}]/u.test(low[at - 1] ?? "")) return 1;
  if (low.includes(wanted)) return 2;
  if (wanted.length < SCATTERED) return undefined;
  let at = 0;
  for (const character of wanted.replace(/\s/g, "")) {
    at = low.indexOf(character, at) + 1;
    if (at === 0) return undefined;
  }
  return 3;
}
