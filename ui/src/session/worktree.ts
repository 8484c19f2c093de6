// The working copy of its own that a session works in.

import type { SessionInfo, WorktreeInfo } from "roost-client";
import { live } from "../live/connection.svelte";
import { sessions } from "../live/sessions.svelte";

/** Absent if it works in the workspace's folder; `known` is what was found before. */
export async function worktreeOf(info: SessionInfo, known: WorktreeInfo | undefined): Promise<WorktreeInfo | undefined> {
  const { workspace_id, project_path, session_id } = info;
  const workspace = sessions.workspace(workspace_id);
  if (!workspace?.is_git_repo || workspace.path === project_path) return undefined;
  if (known?.path === project_path) return known;
  const { worktrees } = await live.call("workspace/worktree/list", { workspace_id });
  return worktrees.find((one) => !one.is_main && (one.path === project_path || one.session_id === session_id));
}
