//! Reads branches with gix, without starting git.
//!
//! If anything about the repository is unusual, the functions return `None`, and git is asked instead.

use std::time::{Duration, Instant};

use gix::bstr::ByteSlice;
use gix::open::Permissions;
use gix::sec::{Permission, Trust};
use gix::{ObjectId, Reference, Repository};

use super::{BranchInfo, Branches};
use crate::Root;

/// How long commits are counted before git is asked, which can be cancelled.
const PATIENCE: Duration = Duration::from_secs(5);

/// All branches of the repository in exactly this folder; `None` if git must be asked. Waits for the disk.
pub(super) fn branches(root: &Root) -> Option<Branches> {
    let mut permissions = Permissions::all();
    // As for git itself: variables of the daemon's own are none of the workspace's.
    permissions.env.git_prefix = Permission::Deny;
    let options = gix::open::Options::default().permissions(permissions);
    let repository = options.open(root.path()).ok()?.to_thread_local();
    let real = std::fs::canonicalize(root.path()).ok()?;
    // As for git itself: a folder that only looks like a repository, without a `.git`, is none.
    if std::fs::canonicalize(repository.git_dir()).ok()? == real {
        return None;
    }
    // Whether a repository of somebody else may be read, git knows.
    if repository.git_dir_trust() != Trust::Full || std::fs::canonicalize(repository.workdir()?).ok()? != real {
        return None;
    }
    let until = Instant::now() + PATIENCE;
    let current = repository.head_name().ok()?.map(|name| name.shorten().to_str_lossy().into_owned());
    let references = repository.references().ok()?;
    let mut all = Vec::new();
    for reference in references.local_branches().ok()?.chain(references.remote_branches().ok()?) {
        all.extend(branch(&repository, &reference.ok()?, current.as_deref(), until)?);
    }
    Some(Branches { current, all })
}

/// A branch. `Some(None)` if it is only another name of one; `None` if git must be asked.
fn branch(
    repository: &Repository,
    reference: &Reference<'_>,
    current: Option<&str>,
    until: Instant,
) -> Option<Option<BranchInfo>> {
    // `origin/HEAD` only says which branch a clone begins with.
    let Some(id) = reference.try_id().map(gix::Id::detach) else { return Some(None) };
    let name = reference.name().shorten().to_str().ok()?.to_owned();
    let is_remote = reference.name().as_bstr().starts_with(b"refs/remotes/");
    let followed = if is_remote { None } else { upstream(repository, reference)? };
    let (ahead, behind) = match followed.as_ref().and_then(|(_, there)| *there) {
        Some(there) if there != id => (only(repository, id, there, until)?, only(repository, there, id, until)?),
        _ => (0, 0),
    };
    let is_current = !is_remote && current == Some(name.as_str());
    let upstream = followed.map(|(name, _)| name);
    Some(Some(BranchInfo { name, is_current, is_remote, upstream, ahead, behind, sha: id.to_string() }))
}

/// The name of an upstream branch, and its commit if the branch exists.
type UpstreamRef = (String, Option<ObjectId>);

/// The upstream of a branch. `Some(None)` if it has none; `None` if git must be asked.
fn upstream(repository: &Repository, reference: &Reference<'_>) -> Option<Option<UpstreamRef>> {
    let name = reference.name();
    let full = match repository.branch_remote_name(name.shorten(), gix::remote::Direction::Fetch) {
        None => return Some(None),
        // A branch may follow another of this repository.
        Some(remote) if remote.as_bstr() == "." => {
            repository.branch_remote_ref_name(name, gix::remote::Direction::Fetch)?.ok()?
        }
        Some(_) => match repository.branch_remote_tracking_ref_name(name, gix::remote::Direction::Fetch) {
            None => return Some(None),
            Some(full) => full.ok()?,
        },
    };
    let there = match repository.try_find_reference(full.as_ref()).ok()? {
        None => None,
        Some(there) => Some(there.try_id()?.detach()),
    };
    Some(Some((full.shorten().to_str().ok()?.to_owned(), there)))
}

/// How many commits of `one` are not in `other`; `None` if counting takes too long.
fn only(repository: &Repository, one: ObjectId, other: ObjectId, until: Instant) -> Option<u64> {
    let walk = repository.rev_walk([one]).with_hidden([other]).all().ok()?;
    walk.map(|commit| commit.ok().filter(|_| Instant::now() < until).map(|_| 1)).sum()
}
