//! `git/branch*`, `git/checkout`, `git/remote*` and `git/init`.

use roost_model::payload::{GitBranchChangedPayload, GitOperationCompletedPayload};
use roost_rpc::{
    Done, Fault, GitBranch, GitBranchDeleteParams, GitBranchDeleteResult, GitBranchesResult, GitCheckoutParams,
    GitCheckoutResult, GitInitParams, GitInitResult, GitParams, GitRemote, GitRemoteAddParams, GitRemoteAddResult,
    GitRemoteListResult, GitRemoteParams, GitUpstreamParams,
};
use roost_workspace::git::{Branch, BranchInfo, Git, Remote, RemoteInfo};

use super::Repository;
use crate::dispatch::Context;
use crate::fault;

pub(crate) async fn branches(context: &Context<'_>, params: GitParams) -> Result<GitBranchesResult, Fault> {
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let found = repository.git.branches().await.map_err(fault::workspace)?;
    let current = found.all.iter().find(|branch| branch.is_current);
    Ok(GitBranchesResult {
        upstream: current.and_then(|branch| branch.upstream.clone()),
        ahead: current.map_or(0, |branch| branch.ahead),
        behind: current.map_or(0, |branch| branch.behind),
        current: found.current.unwrap_or_default(),
        branches: super::super::history::fitting(found.all.into_iter().map(branch)),
    })
}

fn branch(branch: BranchInfo) -> GitBranch {
    GitBranch {
        name: branch.name,
        is_current: branch.is_current,
        is_remote: branch.is_remote,
        upstream: branch.upstream,
        ahead: branch.ahead,
        behind: branch.behind,
    }
}

pub(crate) async fn checkout(context: &Context<'_>, params: GitCheckoutParams) -> Result<GitCheckoutResult, Fault> {
    let branch = Branch::parse(&params.branch).map_err(fault::during("checkout"))?;
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let create = params.create.unwrap_or_default();
    let work = async |git: Git| git.checkout(&branch, create).await;
    let switched = repository
        .change("checkout", work, |switched, completed| {
            completed.branch = Some(switched.to.clone());
            completed.message = Some(format!("Switched to {}", switched.to));
        })
        .await?;
    if switched.from != switched.to {
        context.host.repositories.live.switched(repository.entry.id.as_str(), &switched.to);
        repository
            .record(GitBranchChangedPayload {
                workspace_id: repository.entry.id.clone(),
                from_branch: switched.from.clone(),
                to_branch: switched.to.clone(),
                session_id: None,
            })
            .await;
    }
    let message = format!("Switched to {}", switched.to);
    Ok(GitCheckoutResult { success: true, branch: switched.to, from_branch: switched.from, message })
}

pub(crate) async fn delete(
    context: &Context<'_>,
    params: GitBranchDeleteParams,
) -> Result<GitBranchDeleteResult, Fault> {
    let branch = Branch::parse(&params.branch).map_err(fault::during("branch/delete"))?;
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let (force, there) = (params.force.unwrap_or_default(), params.delete_remote.unwrap_or_default());
    let describe = |remote: &Option<Remote>, done: &mut GitOperationCompletedPayload| {
        done.branch = Some(branch.to_string());
        done.message = remote.as_ref().map(|remote| format!("Deleted {branch} here; it goes on {remote} next"));
    };
    let work = async |git: Git| {
        // Where it is followed is known only as long as the branch is there.
        let remote = if there { Some(git.branch_remote("branch/delete", &branch).await?) } else { None };
        if there && !force {
            git.check_merged(&branch).await?;
        }
        git.delete_branch(&branch, force).await?;
        Ok(remote)
    };
    let remote = repository.change("branch/delete", work, describe).await?;
    let remote_error = match &remote {
        Some(remote) => {
            let describe = |(): &(), done: &mut GitOperationCompletedPayload| {
                done.branch = Some(format!("{remote}/{branch}"));
            };
            let work = async |git: Git| git.delete_remote_branch(remote, &branch).await;
            repository.run_out_of_turn("branch/delete", work, describe).await.err().map(|fault| fault.message)
        }
        None => None,
    };
    let message = match &remote {
        Some(remote) if remote_error.is_none() => format!("Deleted {branch} here and on {remote}"),
        Some(remote) => format!("Deleted {branch} here, but not on {remote}"),
        None => format!("Deleted {branch}"),
    };
    let deleted_remote = remote.is_some() && remote_error.is_none();
    Ok(GitBranchDeleteResult { success: true, branch: branch.to_string(), message, deleted_remote, remote_error })
}

pub(crate) async fn set_upstream(context: &Context<'_>, params: GitUpstreamParams) -> Result<Done, Fault> {
    let branch = Branch::parse(&params.branch).map_err(fault::during("upstream/set"))?;
    let upstream = Branch::parse(&params.upstream).map_err(fault::during("upstream/set"))?;
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let work = async |git: Git| git.set_upstream(&branch, &upstream).await;
    repository.change("upstream/set", work, |(), completed| completed.branch = Some(branch.to_string())).await?;
    Ok(Done { success: true, message: format!("{branch} follows {upstream}") })
}

pub(crate) async fn remotes(context: &Context<'_>, params: GitParams) -> Result<GitRemoteListResult, Fault> {
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let remotes = repository.git.remotes().await.map_err(fault::workspace)?;
    Ok(GitRemoteListResult { remotes: remotes.into_iter().map(remote).collect() })
}

pub(super) fn remote(remote: RemoteInfo) -> GitRemote {
    GitRemote {
        name: remote.name,
        fetch_url: remote.fetch_url,
        push_url: remote.push_url,
        provider: remote.provider.word().into(),
        tracking_branches: remote.branches,
    }
}

pub(crate) async fn add_remote(context: &Context<'_>, params: GitRemoteAddParams) -> Result<GitRemoteAddResult, Fault> {
    let name = Remote::parse(&params.name).map_err(fault::during("remote/add"))?;
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let work = async |git: Git| git.add_remote(&name, &params.url).await;
    let message = format!("{name} is added");
    let describe =
        |_: &RemoteInfo, completed: &mut GitOperationCompletedPayload| completed.message = Some(message.clone());
    let mut added = repository.change("remote/add", work, describe).await?;
    // What is added stays added, whatever becomes of the fetch.
    let fetched = match params.fetch {
        Some(true) => Some(super::sync::fetch_as(&repository, &name, false).await),
        _ => None,
    };
    if let Some(Ok(_)) = fetched {
        let all = repository.git.remotes().await.map_err(fault::workspace)?;
        added = all.into_iter().find(|remote| remote.name == added.name).unwrap_or(added);
    }
    let (fetched_branches, fetch_error) = match fetched {
        Some(Ok(_)) => (Some(added.branches.clone()), None),
        Some(Err(fault)) => (None, Some(fault.message)),
        None => (None, None),
    };
    Ok(GitRemoteAddResult { success: true, message, remote: remote(added), fetched_branches, fetch_error })
}

pub(crate) async fn remove_remote(context: &Context<'_>, params: GitRemoteParams) -> Result<Done, Fault> {
    let name = Remote::parse(&params.name).map_err(fault::during("remote/remove"))?;
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let message = format!("{name} is removed");
    let describe = |(): &(), completed: &mut GitOperationCompletedPayload| completed.message = Some(message.clone());
    repository.change("remote/remove", async |git| git.remove_remote(&name).await, describe).await?;
    Ok(Done { success: true, message })
}

pub(crate) async fn init(context: &Context<'_>, params: GitInitParams) -> Result<GitInitResult, Fault> {
    let branch = Branch::parse(params.initial_branch.as_deref().unwrap_or("main")).map_err(fault::during("init"))?;
    let message = params.commit_message.as_deref().unwrap_or("Initial commit");
    let first = params.initial_commit.unwrap_or_default().then_some(message);
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let made = repository
        .change(
            "init",
            async |git| git.init(&branch, first).await,
            |made, completed| {
                completed.branch = Some(made.branch.clone());
                completed.sha = made.commit.as_ref().map(|commit| commit.sha.clone());
            },
        )
        .await?;
    Ok(GitInitResult {
        success: true,
        message: "The folder is a repository".into(),
        branch: made.branch,
        commit_sha: made.commit.as_ref().map(|commit| commit.short_sha.clone()),
        files_committed: made.commit.map(|commit| commit.files as u64),
    })
}
