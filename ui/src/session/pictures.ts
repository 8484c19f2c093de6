// Pictures in the results of tools: as MCP, ACP and Claude write them, wherever they stand in a result.

export interface ResultPicture {
  mediaType: string;
  /** Its bytes in base64. */
  data: string;
}

/** The kinds that every browser draws and that hold no script. */
const DRAWN = /^image\/(png|jpeg|gif|webp)$/;

/** What the beginning of a result in JSON looks like that holds a picture, also where it was cut. */
const HINT = /"(?:type|mimeType|media_type)"\s*:\s*"image|"data"\s*:\s*"(?:iVBOR|\/9j\/|R0lGOD|UklGR)/;

export const holdsPicture = (text: string): boolean => /^\s*[[{]/.test(text) && HINT.test(text.slice(0, 2_000));

export function picturesIn(result: unknown): ResultPicture[] {
  if (typeof result === "string") return holdsPicture(result) ? picturesIn(parsed(result)) : [];
  if (Array.isArray(result)) return result.flatMap(picturesIn);
  if (result === null || typeof result !== "object") return [];
  const picture = pictureOf(result as Record<string, unknown>);
  return picture ? [picture] : picturesIn((result as Record<string, unknown>).content);
}

/** Whether this is a block with a picture, of whatever kind. */
export const isPicture = (block: Record<string, unknown>): boolean => block.type === "image" && (typeof block.data === "string" || typeof block.source === "object");

function pictureOf(block: Record<string, unknown>): ResultPicture | undefined {
  if (!isPicture(block)) return undefined;
  const source = (block.source ?? block) as Record<string, unknown>;
  const mediaType = String(source.media_type ?? source.mimeType ?? "");
  return DRAWN.test(mediaType) && typeof source.data === "string" ? { mediaType, data: source.data } : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
