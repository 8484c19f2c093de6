// Files for a prompt: kept in the workspace by the daemon, so that the agent can read them by their path.

import { accessToken } from "./tokens";

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
