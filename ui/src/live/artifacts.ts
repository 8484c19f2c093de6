// What was too big for an event, read piece by piece.

import { live } from "./connection.svelte";

/** Bytes of one piece. */
const PIECE = 512 * 1024;

export async function readArtifact(artifact_id: string): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let offset = 0; ; ) {
    const piece = await live.call("artifact/read", { artifact_id, offset, length: PIECE });
    const bytes = piece.encoding === "base64" ? decodeBase64(piece.content) : new TextEncoder().encode(piece.content);
    pieces.push(bytes);
    offset += bytes.length;
    if (bytes.length === 0 || offset >= piece.size) return new Uint8Array(await new Blob(pieces).arrayBuffer());
  }
}

export async function readArtifactText(artifact_id: string): Promise<string> {
  return new TextDecoder().decode(await readArtifact(artifact_id));
}

export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

export async function encodeBase64(file: Blob): Promise<string> {
  const address = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error("the file cannot be read"));
    reader.readAsDataURL(file);
  });
  return address.slice(address.indexOf(",") + 1);
}
