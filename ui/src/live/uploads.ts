// Files for a prompt: kept in the workspace by the daemon, so that the agent can read them by their path.

import { encodeBase64 } from "./artifacts";
import { accessToken } from "./tokens";

/** Pictures as a prompt carries them. */
export function encodeImages(images: readonly File[]): Promise<{ data: string; name: string; media_type: string }[]> {
  return Promise.all(images.map(async (image) => ({ data: await encodeBase64(image), name: image.name, media_type: image.type })));
}

/** The path of the file within the workspace, once the daemon has it. */
export async function uploadFile(workspace: string, file: File): Promise<string> {
  const form = new FormData();
  form.append("file", file);
  const headers = { authorization: `Bearer ${await accessToken(false)}` };
  const answer = await fetch(`/api/uploads?workspace_id=${encodeURIComponent(workspace)}`, { method: "POST", headers, body: form });
  const taken = (await answer.json()) as { local_path?: string; message?: string };
  if (!answer.ok || !taken.local_path) throw new Error(`${file.name} was not taken: ${taken.message ?? `the daemon answers ${answer.status}`}`);
  return taken.local_path;
}
