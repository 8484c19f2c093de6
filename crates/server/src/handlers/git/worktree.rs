//! `workspace/worktree/*`: working copies beside a workspace's own.

use std::path::{Path, PathBuf};

use roost_model::payload::GitOperationCompletedPayload;
use roost_model::session::SessionRecord;
use roost_rpc::{
    Done, Fault, FaultCode, GitDiffResult, GitMergeResult, GitParams, WorktreeAddParams, WorktreeAddResult,
    WorktreeInfo, WorktreeListResult, WorktreeMergeParams, WorktreeParams,
};
use roost_workspace::git::{Branch, Git, Merged, Rev, SessionWorktree, WORKTREES, Worktree};

use super::Repository;
use crate::dispatch::Context;
use crate::fault;
use crate::handlers::history::workspace_sessions;

impl Repository<'_> {
    /// Refuses while a session works in the working copy of this name.
    async fn check_idle(&self, name: &str, advice: &str) -> Result<(), Fault> {
        let folder = Path::new(&self.entry.path).join(WORKTREES).join(name);
        let all = self.context.host.sessions.log.sessions(usize::MAX).await.map_err(fault::log)?;
        let is_busy =
            |record: &&SessionRecord| record.open_task.is_some() && Path::new(&record.cwd).starts_with(&folder);
        let Some(record) = all.iter().find(is_busy) else { return Ok(()) };
        let why = format_args!("session {} works there; {advice}", record.session_id);
        Err(Fault::new(FaultCode::SessionInvalid, why).with("session_id", &record.session_id))
    }
}

pub(crate) async fn list(context: &Context<'_>, params: GitParams) -> Result<WorktreeListResult, Fault> {
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let (all, sessions) =
        tokio::try_join!(repository.git.worktrees(), repository.git.session_worktrees()).map_err(fault::workspace)?;
    let records = workspace_sessions(&context.host.sessions, &repository.entry).await?;
    let mut worktrees = Vec::with_capacity(all.len());
    for worktree in all {
        let session = sessions.iter().find(|session| session.path == worktree.path);
        let record = records.iter().find(|record| Path::new(&record.cwd) == worktree.path);
        let session_id = record.filter(|_| session.is_some()).map(|record| record.session_id.to_string());
        worktrees.push(WorktreeInfo { session_id, ..info(&repository, worktree, session) });
    }
    Ok(WorktreeListResult { count: worktrees.len() as u64, worktrees })
}

fn info(repository: &Repository<'_>, worktree: Worktree, session: Option<&SessionWorktree>) -> WorktreeInfo {
    let is_main = worktree.path == Path::new(&repository.entry.path);
    let is_ours = worktree.path.starts_with(&repository.entry.path) && !is_main;
    let name = worktree.path.file_name().filter(|_| is_ours).map(|name| name.to_string_lossy().into_owned());
    WorktreeInfo {
        name: name.unwrap_or_default(),
        path: worktree.path.to_string_lossy().into_owned(),
        branch: worktree.branch.unwrap_or_default(),
        head: worktree.head.unwrap_or_default(),
        base: session.map(|session| session.base.clone()),
        session_id: None,
        is_main,
        is_locked: worktree.locked.is_some(),
        is_prunable: worktree.is_prunable,
    }
}

pub(crate) async fn add(context: &Context<'_>, params: WorktreeAddParams) -> Result<WorktreeAddResult, Fault> {
    let branch = params.branch.unwrap_or_else(|| format!("roost/{}", params.name));
    let branch = Branch::parse(&branch).map_err(fault::during("worktree/add"))?;
    let base = params.base.as_deref().map(Rev::parse).transpose().map_err(fault::during("worktree/add"))?;
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let work = async |git: Git| {
        let worktree = git.add_worktree(&params.name, &branch, base.as_ref()).await?;
        Ok((worktree, git.session_worktree("worktree/add", &params.name).await?))
    };
    let describe = |_: &(Worktree, SessionWorktree), completed: &mut GitOperationCompletedPayload| {
        completed.branch = Some(branch.to_string());
    };
    let (worktree, made) = repository.change("worktree/add", work, describe).await?;
    Ok(WorktreeAddResult { success: true, worktree: info(&repository, worktree, Some(&made)) })
}

/// Creates a worktree for a new session; returns its folder and its name.
pub(in crate::handlers) async fn for_session(
    context: &Context<'_>,
    workspace: &str,
) -> Result<(PathBuf, String), Fault> {
    let repository = Repository::open(context, Some(workspace)).await?;
    // The end of an id is the part by which ids of one day differ.
    let id = uuid::Uuid::now_v7().simple().to_string();
    let name = &id[id.len() - 8..];
    let work = async |git: Git| git.add_session_worktree(name).await;
    let describe = |made: &SessionWorktree, completed: &mut GitOperationCompletedPayload| {
        completed.branch = Some(made.branch.clone());
    };
    let made = repository.change("worktree/add", work, describe).await?;
    Ok((made.path, made.name))
}

/// Removes the worktree of a session that could not be created.
pub(in crate::handlers) async fn forget(context: &Context<'_>, workspace: &str, name: &str) -> Result<(), Fault> {
    let repository = Repository::open(context, Some(workspace)).await?;
    repository.change("worktree/discard", async |git| git.discard_worktree(name).await, |_, _| {}).await.map(drop)
}

pub(crate) async fn remove(context: &Context<'_>, params: WorktreeParams) -> Result<Done, Fault> {
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    repository.check_idle(&params.name, "stop it first").await?;
    let force = params.force.unwrap_or_default();
    let work = async |git: Git| git.remove_worktree(&params.name, force).await;
    repository.change("worktree/remove", work, |(), _| {}).await?;
    Ok(Done { success: true, message: format!("{} is removed", params.name) })
}

pub(crate) async fn diff(context: &Context<'_>, params: WorktreeParams) -> Result<GitDiffResult, Fault> {
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    super::fitting_diffs(|limits| repository.git.worktree_diff(&params.name, limits)).await
}

pub(crate) async fn merge(context: &Context<'_>, params: WorktreeMergeParams) -> Result<GitMergeResult, Fault> {
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let session = repository.session(params.session_id.as_deref()).await?;
    repository.check_idle(&params.name, "wait for it, or stop it first").await?;
    let work = async |git: Git| git.merge_worktree(&params.name, params.message.as_deref(), session.as_deref()).await;
    let describe = |(branch, merged): &(String, Merged), completed: &mut GitOperationCompletedPayload| {
        completed.branch = Some(branch.clone());
        super::sync::describe_merge(merged, completed);
    };
    Ok(super::sync::merge_result(repository.change("worktree/merge", work, describe).await?.1))
}

pub(crate) async fn discard(context: &Context<'_>, params: WorktreeParams) -> Result<Done, Fault> {
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    if params.force != Some(true) {
        repository.check_idle(&params.name, "stop it first, or use force").await?;
    }
    let work = async |git: Git| git.discard_worktree(&params.name).await;
    let message = match repository.change("worktree/discard", work, |_, _| {}).await? {
        Some(branch) => format!("{} is removed; its branch {branch} was there before and stays", params.name),
        None => format!("{} and its branch are removed", params.name),
    };
    Ok(Done { success: true, message })
}
