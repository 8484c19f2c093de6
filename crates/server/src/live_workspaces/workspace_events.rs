//! Turns what happens in a workspace into messages for its followers.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use roost_model::ids::WorkspaceId;
use roost_model::payload::GitBranchChangedPayload;
use roost_workspace::git::{DiffLimits, Git};
use roost_workspace::watch::{Change, ChangeKind, RescanReason, WorkspaceEvent, WorkspaceFollower};
use roost_workspace::{GitDir, RelPath, Repository};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::connection::ephemeral;
use crate::host::Host;
use crate::workspaces::host_event;

/// A greater number of changes is sent as one `files_rescanned`.
const EACH: usize = 64;

/// Diffs are sent only if at most this many files changed together; and the bytes of each diff.
const DIFFS: usize = 8;
const DIFF: usize = 64 << 10;

/// The most bytes of file names in a `git_status_changed`.
const NAMED: usize = 64 << 10;

/// The task that publishes a workspace's events to all of its followers.
pub(super) struct WorkspaceEvents {
    host: Arc<Host>,
    workspace: WorkspaceId,
    id: String,
    repository: Arc<Repository>,
    messages: broadcast::Sender<Utf8Bytes>,
    last: Option<GitStatusMessage>,
    /// The branch at the last look; absent while none is checked out.
    branch: Option<String>,
}

impl WorkspaceEvents {
    pub(super) fn new(
        host: Arc<Host>,
        workspace: WorkspaceId,
        repository: Arc<Repository>,
        branch: Option<String>,
        messages: broadcast::Sender<Utf8Bytes>,
    ) -> Self {
        let id = workspace.to_string();
        Self { host, workspace, id, repository, messages, last: None, branch }
    }

    pub(super) async fn run(mut self, mut follow: WorkspaceFollower) {
        loop {
            match follow.next().await {
                WorkspaceEvent::Files(changes) => self.send_changes(&changes).await,
                WorkspaceEvent::Rescanned(changed, why) => self.send(rescanned(&self.id, changed as u64, reason(why))),
                WorkspaceEvent::Git => {
                    self.record_branch().await;
                    let now = status(&self.id, &self.repository).await;
                    // Much of what git writes leaves everything as it was.
                    if now.is_some() && now != self.last {
                        self.last = now;
                        self.last.iter().for_each(|status| self.send(status.message()));
                    }
                }
                WorkspaceEvent::Failed(error) => self.send(super::failed(&self.id, &error.to_string())),
            }
        }
    }

    /// Records in the log that another branch is checked out, unless the call that did it has recorded it.
    async fn record_branch(&mut self) {
        let Some(now) = branch(&self.repository).await else { return };
        let recorded = self.host.repositories.live.take_switched(&self.id);
        let Some(before) = recorded.or(self.branch.replace(now.clone())) else { return };
        if before == now {
            return;
        }
        let switched = GitBranchChangedPayload {
            workspace_id: self.workspace.clone(),
            from_branch: before,
            to_branch: now,
            session_id: None,
        };
        if let Err(error) = self.host.sessions.log.keep(Vec::new(), vec![host_event(switched.into())]).await {
            tracing::error!(%error, "That another branch is checked out could not be recorded.");
        }
    }

    async fn send_changes(&self, changes: &[Change]) {
        if changes.len() > EACH {
            return self.send(rescanned(&self.id, changes.len() as u64, "many files changed at once"));
        }
        for change in changes {
            self.send(changed(&self.id, change));
        }
        if changes.len() > DIFFS || !self.repository.status().is_git {
            return;
        }
        let git = Git::new(self.repository.root().clone());
        let limits = DiffLimits { file: DIFF, total: DIFF };
        for change in changes {
            let Ok(path) = RelPath::parse(&change.path) else { continue };
            // A file that git cannot compare has no diff; that it changed was told.
            let Ok(diff) = git.diff_file(&path, None, limits).await else { continue };
            if diff.diff.is_empty() {
                continue;
            }
            // The seed says `path`: who takes that for a changed file was told of the change just before.
            self.send(ephemeral(
                "git_diff",
                json!({
                    "workspace_id": self.id, "file": change.path, "path": change.path, "diff": diff.diff,
                    "additions": diff.additions, "deletions": diff.deletions, "is_staged": diff.is_staged,
                    "is_new_file": diff.is_new, "is_new": diff.is_new, "is_truncated": diff.is_truncated,
                }),
            ));
        }
    }

    fn send(&self, message: Utf8Bytes) {
        // Nobody is there between two who follow.
        let _ = self.messages.send(message);
    }
}

/// The branch that is checked out; `None` without a repository, or with a detached head.
pub(super) async fn branch(repository: &Repository) -> Option<String> {
    let root = repository.root().clone();
    let look = move || GitDir::find(root.path()).filter(GitDir::is_top).and_then(|git| git.branch());
    tokio::task::spawn_blocking(look).await.ok().flatten()
}

fn changed(id: &str, change: &Change) -> Utf8Bytes {
    let (word, from) = match &change.kind {
        ChangeKind::Created => ("created", None),
        ChangeKind::Modified => ("modified", None),
        ChangeKind::Deleted => ("deleted", None),
        ChangeKind::Renamed { from } => ("renamed", Some(from)),
    };
    let mut params = json!({ "workspace_id": id, "path": change.path, "change": word });
    if let Some(size) = change.size {
        params["size"] = json!(size);
    }
    if let Some(from) = from {
        params["old_path"] = json!(from);
    }
    ephemeral("file_changed", params)
}

fn reason(why: RescanReason) -> &'static str {
    match why {
        RescanReason::Lost => "more happened than the system could tell one by one",
        RescanReason::Rules => "git ignores other files than before",
        RescanReason::Blind => "not everything can be watched, so the files are looked at from time to time",
        RescanReason::Slow => "more happened than could be told one by one",
    }
}

pub(super) fn rescanned(id: &str, changed: u64, reason: &str) -> Utf8Bytes {
    ephemeral("files_rescanned", json!({ "workspace_id": id, "changed_count": changed, "reason": reason }))
}

/// The parameters of a `git_status_changed`; comparable, so that an unchanged status is not sent again.
#[derive(PartialEq)]
pub(super) struct GitStatusMessage(Value);

impl GitStatusMessage {
    pub(super) fn message(&self) -> Utf8Bytes {
        ephemeral("git_status_changed", self.0.clone())
    }
}

/// The status of a workspace's repository; `None` if there is no repository, or if git fails.
pub(super) async fn status(id: &str, repository: &Repository) -> Option<GitStatusMessage> {
    let status = Git::new(repository.root().clone()).status_at(&[]).await.ok()?;
    let changed = [&status.conflicted, &status.staged, &status.unstaged, &status.untracked].into_iter().flatten();
    let mut paths: Vec<_> = changed.map(|change| change.path.clone()).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut room = NAMED;
    let fits = |path: &String| {
        let fits = path.len() <= room;
        room = room.saturating_sub(path.len());
        fits
    };
    let paths: Vec<_> = paths.into_iter().take_while(fits).collect();
    Some(GitStatusMessage(json!({
        "workspace_id": id, "branch": status.branch.unwrap_or_default(), "ahead": status.ahead,
        "behind": status.behind, "staged_count": status.staged.len(), "unstaged_count": status.unstaged.len(),
        "untracked_count": status.untracked.len(), "has_conflicts": !status.conflicted.is_empty(),
        "changed_files": paths,
    })))
}
