//! Lists, switches, creates and deletes branches.

use super::call::Call;
use super::run::Git;
use super::{Branch, GitKind, Remote, read};
use crate::Error;

/// A branch of this repository, or a remote branch as of the last fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchInfo {
    /// Its name; that of a remote branch begins with the remote's.
    pub name: String,
    /// Whether it is checked out in this working copy.
    pub is_current: bool,
    /// Whether it is a remote branch.
    pub is_remote: bool,
    /// Its upstream branch, such as `origin/main`.
    pub upstream: Option<String>,
    /// How many commits the upstream lacks.
    pub ahead: u64,
    /// How many commits only the upstream has.
    pub behind: u64,
    /// The object id of its commit.
    pub sha: String,
}

/// The branches of a repository, and which one is checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branches {
    /// The branch that is checked out; absent with a detached head.
    pub current: Option<String>,
    /// All branches, local ones before remote ones.
    pub all: Vec<BranchInfo>,
}

/// The result of a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switched {
    /// The branch before; `HEAD` if it was detached.
    pub from: String,
    /// The branch that is checked out now.
    pub to: String,
}

impl Git {
    /// All local and remote branches. They are read with gix, or by git where the repository is unusual.
    pub async fn branches(&self) -> Result<Branches, Error> {
        let root = self.root().clone();
        let found = tokio::task::spawn_blocking(move || read::branches(&root)).await;
        match found.ok().flatten() {
            Some(found) => Ok(found),
            None => self.branches_by_git().await,
        }
    }

    /// All branches by `git for-each-ref`, which works for every repository but is slower.
    async fn branches_by_git(&self) -> Result<Branches, Error> {
        let format = "--format=%(refname)%00%(HEAD)%00%(upstream:short)%00%(upstream:track,nobracket)%00%(symref)%00%(objectname)";
        let call = Call::read("branches").args(["for-each-ref", format, "refs/heads", "refs/remotes"]);
        let (answer, current, ()) =
            tokio::try_join!(self.text(call), self.current("branches"), self.check_toplevel("branches"))?;
        Ok(Branches { current, all: answer.lines().filter_map(branch).collect() })
    }

    /// The branch that is checked out, even before its first commit; `None` with a detached head.
    pub(crate) async fn current(&self, operation: &'static str) -> Result<Option<String>, Error> {
        let output = self.run(Call::read(operation).args(["symbolic-ref", "--short", "-q", "HEAD"])).await?;
        let name = String::from_utf8_lossy(&output.answer).trim_end().to_owned();
        match (output.success, output.words.is_empty()) {
            (true, _) => Ok(Some(name)),
            (false, true) => Ok(None),
            (false, false) => Err(output.failure(operation)),
        }
    }

    /// Switches to a branch, and creates it if `create`. For a remote branch it switches to the local one of the same
    /// name, which then tracks it.
    pub async fn checkout(&self, branch: &Branch, create: bool) -> Result<Switched, Error> {
        self.check_toplevel("checkout").await?;
        let from = self.current("checkout").await?.unwrap_or_else(|| "HEAD".into());
        let call = Call::write("checkout").args(["switch", "--no-progress"]);
        let name = branch.as_str();
        let to = match name.split_once('/') {
            _ if create => {
                self.answer(call.args(["-c", name])).await?;
                name
            }
            Some((_, short)) if !self.has("refs/heads/", name).await? && self.has("refs/remotes/", name).await? => {
                let call =
                    if self.has("refs/heads/", short).await? { call.arg(short) } else { call.args(["--track", name]) };
                self.answer(call).await?;
                short
            }
            _ => {
                self.answer(call.arg(name)).await?;
                name
            }
        };
        Ok(Switched { from, to: to.to_owned() })
    }

    async fn has(&self, prefix: &str, name: &str) -> Result<bool, Error> {
        let full = format!("{prefix}{name}");
        let call = Call::read("checkout").args(["show-ref", "--verify", "--quiet", &full]);
        Ok(self.run(call).await?.success)
    }

    /// Deletes a local branch; one that is not merged only with `force`.
    pub async fn delete_branch(&self, branch: &Branch, force: bool) -> Result<(), Error> {
        self.check_toplevel("branch/delete").await?;
        let how = if force { "-D" } else { "-d" };
        self.answer(Call::write("branch/delete").args(["branch", how, "--", branch.as_str()])).await.map(drop)
    }

    /// Refuses a branch that is not merged into `HEAD`: if it were deleted here and on its remote, its commits would be
    /// lost.
    pub async fn check_merged(&self, branch: &Branch) -> Result<(), Error> {
        let full = format!("refs/heads/{branch}");
        let call = Call::read("branch/delete").args(["merge-base", "--is-ancestor", &full, "HEAD"]);
        let output = self.run(call).await?;
        match (output.success, output.words.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => Err(Error::Git {
                operation: "branch/delete",
                message: format!("{branch} has commits that would be lost, as it is not merged; use force if they may"),
                kind: GitKind::Dirty,
            }),
            (false, false) => Err(output.failure("branch/delete")),
        }
    }

    /// Deletes a branch on a remote.
    pub async fn delete_remote_branch(&self, remote: &Remote, branch: &Branch) -> Result<(), Error> {
        self.check_toplevel("branch/delete").await?;
        let args = ["push", "--quiet", "--delete", "--", remote.as_str(), branch.as_str()];
        self.answer(Call::network("branch/delete").args(args)).await.map(drop)
    }

    /// The remote of a branch: that of its upstream, else `origin`, else the only one.
    pub async fn branch_remote(&self, operation: &'static str, branch: &Branch) -> Result<Remote, Error> {
        let key = format!("branch.{branch}.remote");
        let output = self.run(Call::read(operation).args(["config", "--get", &key])).await?;
        let followed = String::from_utf8_lossy(&output.answer).trim_end().to_owned();
        if output.success
            && let Ok(remote) = Remote::parse(&followed)
        {
            return Ok(remote);
        }
        let names = self.remote_names(operation).await?;
        let only = (names.len() == 1).then(|| names.first()).flatten();
        match names.iter().find(|name| *name == "origin").or(only) {
            Some(name) => Remote::parse(name),
            None => Err(Error::Git {
                operation,
                message: format!("{branch} follows no remote's branch; name the remote"),
                kind: GitKind::NoRemote,
            }),
        }
    }

    /// Sets the upstream of a branch, such as `origin/main`.
    pub async fn set_upstream(&self, branch: &Branch, upstream: &Branch) -> Result<(), Error> {
        self.check_toplevel("upstream/set").await?;
        let to = format!("--set-upstream-to={upstream}");
        self.answer(Call::write("upstream/set").args(["branch", &to, "--", branch.as_str()])).await.map(drop)
    }
}

fn branch(line: &str) -> Option<BranchInfo> {
    let mut fields = line.split('\0');
    let mut next = || fields.next();
    let (name, head, upstream, track, symref, sha) = (next()?, next()?, next()?, next()?, next()?, next()?);
    // `origin/HEAD` only says which branch a clone begins with.
    if !symref.is_empty() {
        return None;
    }
    let (name, is_remote) = match name.strip_prefix("refs/heads/") {
        Some(name) => (name, false),
        None => (name.strip_prefix("refs/remotes/")?, true),
    };
    let count = |word: &str| {
        let part = track.split(", ").find_map(|part| part.strip_prefix(word));
        part.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    };
    Some(BranchInfo {
        name: name.to_owned(),
        is_current: head == "*",
        is_remote,
        upstream: (!upstream.is_empty()).then(|| upstream.to_owned()),
        ahead: count("ahead"),
        behind: count("behind"),
        sha: sha.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_tells_how_far_it_is_from_the_one_it_follows() {
        let found = branch("refs/heads/a/b\0*\0origin/a/b\0ahead 1, behind 22\0\x00abc").unwrap();
        assert_eq!((found.name.as_str(), found.is_current, found.is_remote), ("a/b", true, false));
        assert_eq!((found.upstream.as_deref(), found.ahead, found.behind), (Some("origin/a/b"), 1, 22));
        assert!(branch("refs/remotes/origin/x\0 \0\0\0\x00abc").unwrap().is_remote);
        assert_eq!(branch("refs/remotes/origin/HEAD\0 \0\0\0refs/remotes/origin/x\0abc"), None);
        assert_eq!(branch("nonsense"), None);
    }
}
