//! `git/*`: status, diff, staging and commits of a workspace's repository.

pub(crate) mod history;
pub(crate) mod refs;
pub(crate) mod sync;
pub(crate) mod worktree;

use std::path::Path;

use roost_model::event::EventBody;
use roost_model::payload::GitOperationCompletedPayload;
use roost_rpc::{
    Fault, GitCommitParams, GitCommitResult, GitDiffParams, GitDiffResult, GitDiscardResult, GitFile, GitFileDiff,
    GitParams, GitPathsParams, GitStageResult, GitStateResult, GitStatusResult, GitUnstageResult,
};
use roost_workspace::git::{Change, DiffLimits, FileDiff, Git, GitState, NewCommit, Push, Side};
use roost_workspace::{Error, RelPath};

use super::{file, routing};
use crate::dispatch::{Context, PAGE_BYTES};
use crate::fault;
use crate::size::size;
use crate::workspaces::{WorkspaceEntry, host_event};

/// The most bytes of git's message that an event holds.
const WORDS: usize = 2 << 10;
/// The most conflicted files that an event names.
const NAMED: usize = 100;

/// A workspace's repository as a call uses it.
pub(super) struct Repository<'a> {
    context: &'a Context<'a>,
    pub(super) entry: WorkspaceEntry,
    pub(super) git: Git,
}

impl<'a> Repository<'a> {
    /// Opens the repository of this workspace, or of the default one.
    pub(super) async fn open(context: &'a Context<'a>, workspace: Option<&str>) -> Result<Self, Fault> {
        let entry = context.host.workspaces.named(workspace)?;
        let root = file::blocking(&entry, Ok).await?;
        Ok(Self { context, entry, git: Git::new(root) })
    }

    /// Changes the repository when its turn has come, and records the outcome as an event.
    async fn change<T, F: Future<Output = Result<T, Error>>>(
        &self,
        operation: &'static str,
        work: impl FnOnce(Git) -> F,
        describe: impl FnOnce(&T, &mut GitOperationCompletedPayload),
    ) -> Result<T, Fault> {
        let _turn = self.turn().await;
        let done = self.run_with_progress(operation, work).await;
        self.finish_operation(operation, done, describe).await
    }

    /// Runs an operation that talks to a remote and touches no file here. It gives up its turn first, so that no other
    /// call has to wait for the network.
    async fn run_out_of_turn<T, F: Future<Output = Result<T, Error>>>(
        &self,
        operation: &'static str,
        work: impl FnOnce(Git) -> F,
        describe: impl FnOnce(&T, &mut GitOperationCompletedPayload),
    ) -> Result<T, Fault> {
        self.context.give_way();
        let done = self.run_with_progress(operation, work).await;
        self.finish_operation(operation, done, describe).await
    }

    async fn turn(&self) -> tokio::sync::OwnedMutexGuard<()> {
        self.context.host.repositories.queues.join(self.entry.id.to_string()).await.await
    }

    /// Records the outcome of an operation; `describe` adds what it achieved to the event.
    async fn finish_operation<T>(
        &self,
        operation: &'static str,
        result: Result<T, Error>,
        describe: impl FnOnce(&T, &mut GitOperationCompletedPayload),
    ) -> Result<T, Fault> {
        let result = result.map_err(|error| error.during(operation));
        let mut completed = self.completed(operation, result.as_ref().err());
        if let Ok(done) = &result {
            describe(done, &mut completed);
        }
        self.record_completed(completed).await;
        result.map_err(fault::workspace)
    }

    fn completed(&self, operation: &str, error: Option<&Error>) -> GitOperationCompletedPayload {
        GitOperationCompletedPayload {
            workspace_id: self.entry.id.clone(),
            operation: operation.to_owned(),
            success: error.is_none(),
            message: None,
            error: error.map(ToString::to_string),
            sha: None,
            branch: None,
            files_affected: None,
            commits_pushed: None,
            commits_pulled: None,
            conflicted_files: None,
        }
    }

    async fn record_completed(&self, mut completed: GitOperationCompletedPayload) {
        for words in [&mut completed.message, &mut completed.error].into_iter().flatten() {
            words.truncate(words.floor_char_boundary(WORDS));
        }
        if let Some(files) = &mut completed.conflicted_files {
            files.truncate(NAMED);
        }
        self.record(completed).await;
    }

    /// Records an event. The operation is done by then, so a failure to record it is only logged.
    async fn record(&self, body: impl Into<EventBody>) {
        if let Err(error) = self.context.host.sessions.log.keep(Vec::new(), vec![host_event(body.into())]).await {
            tracing::error!(%error, "What was done with a repository could not be recorded.");
        }
    }

    /// The session that the caller names as the author, which must belong to this workspace.
    async fn session(&self, id: Option<&str>) -> Result<Option<String>, Fault> {
        let Some(id) = id else { return Ok(None) };
        let record = self.context.host.sessions.get(id).await?;
        if routing::belongs_to(&record, &self.entry) {
            return Ok(Some(record.session_id.to_string()));
        }
        let why = format_args!("the session {id} works in another workspace than {:?}", self.entry.name);
        Err(Fault::params(why).with("field", "session_id").with("session_id", id))
    }

    fn name(&self) -> String {
        folder_name(&self.entry)
    }
}

fn folder_name(entry: &WorkspaceEntry) -> String {
    let path = Path::new(&entry.path);
    path.file_name().map_or_else(|| entry.name.clone(), |name| name.to_string_lossy().into_owned())
}

pub(crate) async fn status(context: &Context<'_>, params: GitParams) -> Result<GitStatusResult, Fault> {
    let entry = context.host.workspaces.named(params.workspace_id.as_deref())?;
    let repository = context.host.repositories.live.repository(&entry).await?;
    let status = repository.git_status().await.map_err(fault::workspace)?;
    let mut budget = FileBudget { left: PAGE_BYTES, omitted: 0 };
    Ok(GitStatusResult {
        is_clean: status.is_clean(),
        conflicted: budget.files(&status.conflicted),
        staged: budget.files(&status.staged),
        unstaged: budget.files(&status.unstaged),
        untracked: budget.files(&status.untracked),
        branch: status.branch.clone().unwrap_or_default(),
        upstream: status.upstream.clone(),
        ahead: status.ahead,
        behind: status.behind,
        omitted: (budget.omitted > 0).then_some(budget.omitted),
        repo_name: folder_name(&entry),
        repo_root: entry.path,
    })
}

/// The bytes that are left in an answer, and how many files did not fit.
struct FileBudget {
    left: usize,
    omitted: u64,
}

impl FileBudget {
    fn files(&mut self, changes: &[Change]) -> Vec<GitFile> {
        let mut files = Vec::new();
        for change in changes {
            let file = GitFile {
                not_utf8: change.raw.as_ref().map(|_| true),
                path: change.path.clone(),
                status: change.status.into(),
                additions: change.additions,
                deletions: change.deletions,
                old_path: change.from.clone(),
            };
            let size = size(&file) + 1;
            if size > self.left {
                self.omitted += 1;
                continue;
            }
            self.left -= size;
            files.push(file);
        }
        files
    }
}

pub(crate) async fn state(context: &Context<'_>, params: GitParams) -> Result<GitStateResult, Fault> {
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let probe = repository.git.probe().await.map_err(fault::workspace)?;
    let remotes = match probe.state {
        GitState::NoGit => Vec::new(),
        _ => repository.git.remotes().await.map_err(fault::workspace)?,
    };
    let status = probe.status.unwrap_or_default();
    let mut budget = FileBudget { left: PAGE_BYTES, omitted: 0 };
    let conflicted = budget.files(&status.conflicted);
    let (staged, unstaged) = (budget.files(&status.staged), budget.files(&status.unstaged));
    let untracked = budget.files(&status.untracked);
    let upstream = status.upstream.unwrap_or_default();
    Ok(GitStateResult {
        staged,
        unstaged,
        untracked,
        conflicted,
        omitted: (budget.omitted > 0).then_some(budget.omitted),
        is_git_repo: probe.state != GitState::NoGit,
        has_commits: status.head.is_some(),
        state: match probe.state {
            // Here clients know it by another word than in a workspace.
            GitState::Init => "git_initialized".into(),
            state => state.word().into(),
        },
        branch: status.branch.unwrap_or_default(),
        has_upstream: !upstream.is_empty(),
        upstream,
        ahead: status.ahead,
        behind: status.behind,
        staged_count: status.staged.len() as u64,
        unstaged_count: status.unstaged.len() as u64,
        untracked_count: status.untracked.len() as u64,
        has_conflicts: !status.conflicted.is_empty(),
        has_remote: !remotes.is_empty(),
        remote: remotes.first().map(|remote| remote.name.clone()).unwrap_or_default(),
        remotes: remotes.into_iter().map(refs::remote).collect(),
        repo_name: repository.name(),
        repo_root: repository.entry.path,
    })
}

pub(crate) async fn diff(context: &Context<'_>, params: GitDiffParams) -> Result<GitDiffResult, Fault> {
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let side = params.staged.map(|staged| if staged { Side::Staged } else { Side::Unstaged });
    let path = params.path.as_deref().filter(|path| !path.is_empty()).map(RelPath::parse).transpose();
    let Some(path) = path.map_err(fault::workspace)? else {
        let sides = side.map_or_else(|| vec![Side::Unstaged, Side::Staged], |side| vec![side]);
        return fitting_diffs(|limits| repository.git.diff_all(&sides, limits)).await;
    };
    let mut limits = DiffLimits::default();
    loop {
        let found = repository.git.diff_file(&path, side.clone(), limits).await.map_err(fault::workspace)?;
        let FileDiff { path, diff, is_staged, is_new, is_binary, is_truncated, .. } = found;
        let result = GitDiffResult { path, diff, is_staged, is_new, is_binary, is_truncated, diffs: None };
        if fits(&result) {
            return Ok(result);
        }
        limits.file /= 2;
    }
}

/// Diffs of many files. The limits are halved until the answer fits.
async fn fitting_diffs<F: Future<Output = Result<Vec<FileDiff>, Error>>>(
    diffs: impl Fn(DiffLimits) -> F,
) -> Result<GitDiffResult, Fault> {
    let mut limits = DiffLimits::default();
    loop {
        let found: Vec<_> = diffs(limits).await.map_err(fault::workspace)?.into_iter().map(file_diff).collect();
        let result = GitDiffResult {
            path: String::new(),
            diff: String::new(),
            is_staged: false,
            is_new: false,
            is_binary: false,
            is_truncated: found.iter().any(|diff| diff.is_truncated),
            diffs: Some(found),
        };
        if fits(&result) {
            return Ok(result);
        }
        if limits.total == 0 {
            // Even the names alone are too many.
            let some = result.diffs.map(|diffs| super::history::fitting(diffs.into_iter()));
            return Ok(GitDiffResult { diffs: some, is_truncated: true, ..result });
        }
        // Control characters take six times their size in JSON, and many files much for themselves.
        limits.total = if limits.total < 32 << 10 { 0 } else { limits.total / 2 };
    }
}

fn fits(result: &GitDiffResult) -> bool {
    serde_json::to_string(result).map_or(0, |text| text.len()) <= PAGE_BYTES
}

fn file_diff(diff: FileDiff) -> GitFileDiff {
    GitFileDiff {
        path: diff.path,
        diff: diff.diff,
        is_staged: diff.is_staged,
        is_new: diff.is_new,
        is_binary: diff.is_binary,
        is_truncated: diff.is_truncated,
        additions: diff.additions,
        deletions: diff.deletions,
    }
}

fn parse_paths(paths: &[String]) -> Result<Vec<RelPath>, Fault> {
    if paths.is_empty() {
        return Err(
            Fault::params("paths must name at least one file; \".\" is the whole workspace").with("field", "paths")
        );
    }
    // Whoever names nothing by mistake does not mean everything.
    if paths.iter().any(String::is_empty) {
        return Err(Fault::params("a path is empty; \".\" is the whole workspace").with("field", "paths"));
    }
    paths.iter().map(|path| RelPath::parse(path)).collect::<Result<_, _>>().map_err(fault::workspace)
}

pub(crate) async fn stage(context: &Context<'_>, params: GitPathsParams) -> Result<GitStageResult, Fault> {
    let paths = parse_paths(&params.paths)?;
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let describe =
        |(): &(), completed: &mut GitOperationCompletedPayload| completed.files_affected = Some(paths.len() as u64);
    repository.change("stage", async |git| git.stage(&paths).await, describe).await?;
    Ok(GitStageResult { success: true, staged: params.paths })
}

pub(crate) async fn unstage(context: &Context<'_>, params: GitPathsParams) -> Result<GitUnstageResult, Fault> {
    let paths = parse_paths(&params.paths)?;
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let describe =
        |(): &(), completed: &mut GitOperationCompletedPayload| completed.files_affected = Some(paths.len() as u64);
    repository.change("unstage", async |git| git.unstage(&paths).await, describe).await?;
    Ok(GitUnstageResult { success: true, unstaged: params.paths })
}

pub(crate) async fn discard(context: &Context<'_>, params: GitPathsParams) -> Result<GitDiscardResult, Fault> {
    let paths = parse_paths(&params.paths)?;
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let discarded = repository
        .change(
            "discard",
            async |git| git.discard(&paths).await,
            |files, completed| completed.files_affected = Some(files.len() as u64),
        )
        .await?;
    Ok(GitDiscardResult { success: true, discarded })
}

pub(crate) async fn commit(context: &Context<'_>, params: GitCommitParams) -> Result<GitCommitResult, Fault> {
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let session = repository.session(params.session_id.as_deref()).await?;
    let new = NewCommit { message: params.message, session };
    let committed = repository
        .change(
            "commit",
            async |git| git.commit(&new).await,
            |committed, completed| {
                completed.sha = Some(committed.sha.clone());
                completed.files_affected = Some(committed.files as u64);
                completed.message = Some(format!("Committed {} file(s): {}", committed.files, committed.subject));
            },
        )
        .await?;
    // What is committed stays committed, whatever becomes of the push.
    let push_error = match params.push {
        Some(true) => sync::push_as(&repository, Push::default()).await.err().map(|fault| fault.message),
        _ => None,
    };
    Ok(GitCommitResult {
        success: true,
        sha: committed.short_sha,
        message: committed.subject,
        files_committed: committed.files as u64,
        pushed: params.push == Some(true) && push_error.is_none(),
        push_error,
    })
}
