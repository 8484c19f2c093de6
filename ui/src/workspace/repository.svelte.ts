// The repository of the workspace on the screen: its state as git has it, and what is being done with it.

import type { GitOperationProgress, GitStatusResult, Methods } from "roost-client";
import { ERRORS, RoostError } from "roost-client";
import { explain, live } from "../live/connection.svelte";
import { toasts } from "../live/toasts.svelte";

type GitMethod = Extract<keyof Methods, `git/${string}` | `workspace/worktree/${string}`>;

export class OpenRepository {
  status = $state.raw<GitStatusResult>();
  /** Why there is no status. */
  failure = $state("");
  /** The folder has no repository, but could be made one. */
  hasNone = $state(false);
  /** The operation that runs now; empty if none does. */
  running = $state("");
  progress = $state.raw<GitOperationProgress>();
  /** Grows with every change of files or of the repository. */
  changes = $state(0);
  #undo: (() => void)[] = [];

  constructor(readonly workspaceId: string) {
    const { client } = live;
    const ours = <E extends { workspace_id: string }>(run: (event: E) => void) => (event: E) => {
      if (event.workspace_id === workspaceId) run(event);
    };
    const refresh = ours(() => void this.refresh());
    this.#undo = [
      client.on("git_status_changed", refresh),
      client.on("git_operation_completed", refresh),
      client.on("file_changed", ours(() => (this.changes += 1))),
      client.on("files_rescanned", ours(() => (this.changes += 1))),
      client.on("git_operation_progress", ours((progress) => (this.progress = progress))),
      live.beforeLive(() => this.#follow()),
    ];
    if (live.isLive) void this.#follow().catch(() => {});
  }

  close(): void {
    for (const undo of this.#undo) undo();
    if (live.isLive) void live.call("workspace/unsubscribe", { workspace_id: this.workspaceId }).catch(() => {});
  }

  async refresh(): Promise<void> {
    try {
      this.status = await live.call("git/status", { workspace_id: this.workspaceId });
      [this.failure, this.hasNone] = ["", false];
      this.changes += 1;
    } catch (error) {
      this.hasNone = error instanceof RoostError && error.code === ERRORS.NOT_A_GIT_REPO;
      // Without a connection the bar above says so, and what is shown stays.
      if (!(error instanceof RoostError)) return;
      // What git does not tell any more is not shown as if it did.
      [this.failure, this.status] = [explain(error), undefined];
    }
  }

  /** Has git do something; what comes of it is told. Returns the result, or nothing if it failed. */
  async run<M extends GitMethod>(method: M, params: Methods[M]["params"], done: string): Promise<Methods[M]["result"] | undefined> {
    this.running = method;
    this.progress = undefined;
    try {
      const result = await live.call(method, { ...params, workspace_id: this.workspaceId });
      const told = result as { success?: boolean; message?: string; conflicted_files?: string[] };
      if (told.success === false) toasts.fail(told.conflicted_files?.length ? `Conflicts in ${told.conflicted_files.join(", ")}` : (told.message ?? "git refused"));
      else if (done) toasts.say(done);
      return result;
    } catch (error) {
      toasts.fail(explain(error));
      return undefined;
    } finally {
      this.running = "";
      await this.refresh();
    }
  }

  async #follow(): Promise<void> {
    try {
      await live.call("workspace/subscribe", { workspace_id: this.workspaceId });
    } catch (error) {
      // Of one that is gone the page says so.
      if (!(error instanceof RoostError && error.code === ERRORS.WORKSPACE_NOT_FOUND)) throw error;
    }
    await this.refresh();
  }
}
