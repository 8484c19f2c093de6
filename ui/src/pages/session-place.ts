// Where a session works, as lists show it: the workspace, and the branch if it is known.

import type { SessionInfo } from "roost-client";
import { sessions } from "../live/sessions.svelte";
import { oneLine } from "../text/hidden";

/** The workspace and branch of a session, behind a dot; empty if it belongs to no workspace. */
export function placeOf(session: SessionInfo): string {
  const workspace = sessions.workspace(session.workspace_id);
  if (!workspace) return "";
  const branch = session.project_path === workspace.path ? workspace.git?.branch : workingCopy(session.project_path, workspace.path);
  return ` · ${oneLine(workspace.name)}${branch ? ` › ${oneLine(branch)}` : ""}`;
}

/** The name of a working copy of a workspace, which lies within it; it says as much as the name of its branch. */
function workingCopy(path: string, workspace: string): string | undefined {
  const folder = `${workspace}/.roost/worktrees/`;
  return path.startsWith(folder) ? path.slice(folder.length).split("/")[0] : undefined;
}
