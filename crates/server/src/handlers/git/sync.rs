//! `git/push`, `git/pull`, `git/fetch`, `git/merge` and `git/stash*`.

use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use roost_model::payload::GitOperationCompletedPayload;
use roost_rpc::{
    Done, Fault, GitFetchParams, GitFetchResult, GitMergeParams, GitMergeResult, GitParams, GitPullParams,
    GitPullResult, GitPushParams, GitPushResult, GitStash, GitStashApplyParams, GitStashIndexParams,
    GitStashListResult, GitStashParams, GitStashResult,
};
use roost_workspace::Error;
use roost_workspace::git::{Branch, Fetched, Git, Merged, Progress, Push, Pushed, Remote, Rev, Stash, StashDo};
use serde_json::json;
use tokio::sync::mpsc;

use super::Repository;
use crate::dispatch::Context;
use crate::fault;

/// Progress reports that may wait to be sent.
const WAITING: usize = 16;
/// How often progress within the same phase is sent.
const OFTEN: Duration = Duration::from_millis(250);

impl Repository<'_> {
    /// Runs an operation. Its progress is sent to the workspace's followers, and `git/cancel` ends it.
    pub(super) async fn run_with_progress<T, F: Future<Output = Result<T, Error>>>(
        &self,
        operation: &'static str,
        work: impl FnOnce(Git) -> F,
    ) -> Result<T, Error> {
        let ended = self.context.host.repositories.running_operations.begin(self.entry.id.as_str());
        let (progress, received) = mpsc::channel(WAITING);
        let work = work(self.git.clone().with_progress(progress).with_cancel((*ended).clone()));
        tokio::join!(work, self.publish_progress(operation, received)).0
    }

    /// Sends the progress of an operation to the workspace's followers, until the operation ends.
    fn publish_progress(&self, operation: &'static str, mut progress: mpsc::Receiver<Progress>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut last: Option<(String, Instant)> = None;
            while let Some(Progress { phase, percent, .. }) = progress.recv().await {
                if last.as_ref().is_some_and(|(before, when)| *before == phase && when.elapsed() < OFTEN) {
                    continue;
                }
                let mut params = json!({ "workspace_id": self.entry.id, "operation": operation, "phase": phase });
                if let Some(percent) = percent {
                    params["percent"] = percent.into();
                }
                let presence = &self.context.host.presence;
                presence.notify_followers(self.entry.id.as_str(), "git_operation_progress", &params);
                last = Some((phase, Instant::now()));
            }
        })
    }
}

pub(crate) async fn push(context: &Context<'_>, params: GitPushParams) -> Result<GitPushResult, Fault> {
    let push = Push {
        force: params.force.unwrap_or_default(),
        set_upstream: params.set_upstream.unwrap_or_default(),
        remote: params.remote.as_deref().map(Remote::parse).transpose().map_err(fault::during("push"))?,
        branch: params.branch.as_deref().map(Branch::parse).transpose().map_err(fault::during("push"))?,
    };
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let pushed = push_as(&repository, push).await?;
    Ok(GitPushResult {
        success: true,
        message: pushed.message,
        commits_pushed: pushed.commits,
        pushed: true,
        upstream_set: pushed.upstream.is_some(),
        upstream: pushed.upstream,
    })
}

/// Pushes, out of turn, because it takes long and touches no file here.
pub(super) async fn push_as(repository: &Repository<'_>, push: Push) -> Result<Pushed, Fault> {
    repository
        .run_out_of_turn(
            "push",
            async |git| git.push(&push).await,
            |pushed, completed| {
                completed.commits_pushed = Some(pushed.commits);
                completed.message = Some(pushed.message.clone());
            },
        )
        .await
}

pub(crate) async fn pull(context: &Context<'_>, params: GitPullParams) -> Result<GitPullResult, Fault> {
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let rebase = params.rebase.unwrap_or_default();
    let pulled = repository
        .change(
            "pull",
            async |git| git.pull(rebase).await,
            |pulled, completed| {
                completed.success = pulled.conflicted.is_empty();
                completed.commits_pulled = Some(pulled.commits);
                completed.files_affected = Some(pulled.files);
                completed.message = Some(pulled.message.clone());
                completed.conflicted_files = Some(pulled.conflicted.clone()).filter(|files| !files.is_empty());
            },
        )
        .await?;
    Ok(GitPullResult {
        success: pulled.conflicted.is_empty(),
        message: pulled.message,
        commits_pulled: pulled.commits,
        files_changed: pulled.files,
        conflicted_files: pulled.conflicted,
    })
}

pub(crate) async fn fetch(context: &Context<'_>, params: GitFetchParams) -> Result<GitFetchResult, Fault> {
    let remote = Remote::parse(params.remote.as_deref().unwrap_or("origin")).map_err(fault::during("fetch"))?;
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let fetched = fetch_as(&repository, &remote, params.prune.unwrap_or_default()).await?;
    Ok(GitFetchResult {
        success: true,
        message: fetched.message,
        updated_refs: fetched.updated,
        new_branches: fetched.new,
        pruned_branches: fetched.pruned,
        new_commits: fetched.commits,
    })
}

/// Fetches, out of turn for the same reason as a push.
pub(super) async fn fetch_as(repository: &Repository<'_>, remote: &Remote, prune: bool) -> Result<Fetched, Fault> {
    let describe = |fetched: &Fetched, completed: &mut GitOperationCompletedPayload| {
        completed.commits_pulled = Some(fetched.commits);
    };
    repository.run_out_of_turn("fetch", async |git| git.fetch(remote, prune).await, describe).await
}

pub(crate) async fn cancel(context: &Context<'_>, params: GitParams) -> Result<Done, Fault> {
    let entry = context.host.workspaces.named(params.workspace_id.as_deref())?;
    let success = context.host.repositories.running_operations.end(entry.id.as_str());
    let message = if success { "What ran is cancelled" } else { "Nothing runs" };
    Ok(Done { success, message: message.into() })
}

pub(crate) async fn merge(context: &Context<'_>, params: GitMergeParams) -> Result<GitMergeResult, Fault> {
    let rev = Rev::parse(&params.branch).map_err(fault::during("merge"))?;
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let (no_ff, message) = (params.no_ff.unwrap_or_default(), params.message.as_deref());
    let work = async |git: Git| git.merge(&rev, no_ff, message).await;
    let describe = |merged: &Merged, completed: &mut GitOperationCompletedPayload| {
        completed.branch = Some(rev.to_string());
        describe_merge(merged, completed);
    };
    Ok(merge_result(repository.change("merge", work, describe).await?))
}

pub(super) fn describe_merge(merged: &Merged, completed: &mut GitOperationCompletedPayload) {
    completed.success = merged.conflicted.is_empty();
    completed.sha = Some(merged.sha.clone()).filter(|_| merged.conflicted.is_empty());
    completed.message = Some(merged.message.clone());
    completed.conflicted_files = Some(merged.conflicted.clone()).filter(|files| !files.is_empty());
}

pub(super) fn merge_result(merged: Merged) -> GitMergeResult {
    GitMergeResult {
        success: merged.conflicted.is_empty(),
        message: merged.message,
        commit_sha: merged.sha,
        has_conflicts: !merged.conflicted.is_empty(),
        conflicted_files: merged.conflicted,
    }
}

pub(crate) async fn abort(context: &Context<'_>, params: GitParams) -> Result<Done, Fault> {
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    repository.change("merge/abort", async |git| git.abort_merge().await, |(), _| {}).await?;
    Ok(Done { success: true, message: "The merge is aborted".into() })
}

pub(crate) async fn stash(context: &Context<'_>, params: GitStashParams) -> Result<GitStashResult, Fault> {
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let (message, untracked) = (params.message.as_deref(), params.include_untracked.unwrap_or_default());
    let work = async |git: Git| git.stash(message, untracked).await;
    let describe = |stash: &Stash, completed: &mut GitOperationCompletedPayload| {
        completed.message = Some(stash.message.clone());
    };
    let stash = repository.change("stash", work, describe).await?;
    Ok(GitStashResult { success: true, message: stash.message, name: stash.name })
}

pub(crate) async fn stashes(context: &Context<'_>, params: GitParams) -> Result<GitStashListResult, Fault> {
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let stashes = repository.git.stashes().await.map_err(fault::workspace)?;
    let count = stashes.len() as u64;
    let stashes = stashes.into_iter().map(|stash| GitStash {
        index: stash.index as u32,
        name: stash.name,
        branch: stash.branch,
        message: stash.message,
    });
    Ok(GitStashListResult { stashes: super::super::history::fitting(stashes), count })
}

pub(crate) async fn apply(context: &Context<'_>, params: GitStashApplyParams) -> Result<GitMergeResult, Fault> {
    let GitStashApplyParams { workspace_id, index, pop: pops } = params;
    let params = GitStashIndexParams { workspace_id, index };
    if pops == Some(true) {
        pop(context, params).await
    } else {
        change_stash(context, params, StashDo::Apply, "stash/apply").await
    }
}

pub(crate) async fn pop(context: &Context<'_>, params: GitStashIndexParams) -> Result<GitMergeResult, Fault> {
    change_stash(context, params, StashDo::Pop, "stash/pop").await
}

pub(crate) async fn drop_stash(context: &Context<'_>, params: GitStashIndexParams) -> Result<GitMergeResult, Fault> {
    change_stash(context, params, StashDo::Drop, "stash/drop").await
}

async fn change_stash(
    context: &Context<'_>,
    params: GitStashIndexParams,
    what: StashDo,
    operation: &'static str,
) -> Result<GitMergeResult, Fault> {
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let index = params.index.unwrap_or(0) as usize;
    let work = async |git: Git| git.stash_do(what, index).await;
    Ok(merge_result(repository.change(operation, work, describe_merge).await?))
}
