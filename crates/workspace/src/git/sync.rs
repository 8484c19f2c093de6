//! Push, pull, fetch and merge.

use std::collections::BTreeMap;

use super::call::Call;
use super::run::{Git, Output};
use super::{Branch, GitKind, Remote, Rev};
use crate::Error;

/// What to push, and where to.
#[derive(Clone, Debug, Default)]
pub struct Push {
    /// Overwrites the remote branch, unless somebody has pushed since the last fetch (`--force-with-lease`).
    pub force: bool,
    /// Makes the pushed branch the upstream.
    pub set_upstream: bool,
    /// The remote; that of the branch if absent.
    pub remote: Option<Remote>,
    /// The branch; the one that is checked out if absent.
    pub branch: Option<Branch>,
}

/// The result of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// Everything that git wrote, without progress.
    pub message: String,
    /// How many commits were new to the remote, as of the last fetch.
    pub commits: u64,
    /// The new upstream, if it was to be set.
    pub upstream: Option<String>,
}

/// The result of a pull.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pulled {
    /// Everything that git wrote, without progress.
    pub message: String,
    /// How many commits are new here.
    pub commits: u64,
    /// How many files differ between the commits before and after; 0 while conflicts wait.
    pub files: u64,
    /// Files with unresolved conflicts; the pull is not finished if there are any.
    pub conflicted: Vec<String>,
}

/// The result of a fetch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Everything that git wrote, without progress.
    pub message: String,
    /// Remote branches that point to another commit than before.
    pub updated: Vec<String>,
    /// Remote branches that were not known before.
    pub new: Vec<String>,
    /// Remote branches that no longer exist; known only if pruning was asked for.
    pub pruned: Vec<String>,
    /// How many commits are new here.
    pub commits: u64,
}

/// The result of a merge, or of applying a stash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Everything that git wrote, without progress.
    pub message: String,
    /// The object id of `HEAD` afterwards.
    pub sha: String,
    /// Files with unresolved conflicts; the merge is not finished if there are any.
    pub conflicted: Vec<String>,
}

impl Git {
    /// Pushes a branch: the checked out one to its own remote, unless `push` names others.
    pub async fn push(&self, push: &Push) -> Result<Pushed, Error> {
        self.check_toplevel("push").await?;
        let branch = match &push.branch {
            Some(branch) => branch.clone(),
            None => Branch::parse(&self.current("push").await?.ok_or_else(|| Error::Git {
                operation: "push",
                message: "no branch is checked out; name one".into(),
                kind: GitKind::NoSuchRef,
            })?)?,
        };
        let remote = match &push.remote {
            Some(remote) => {
                self.known_remote("push", remote).await?;
                remote.clone()
            }
            None => self.branch_remote("push", &branch).await?,
        };
        let is_explicit = push.set_upstream || push.remote.is_some() || push.branch.is_some();
        let commits = self.unpushed(&branch, &remote).await;
        let call = Call::network("push").args(["push", "--progress"]);
        let call = call.flag(push.force, "--force-with-lease").flag(push.set_upstream, "--set-upstream");
        // Without names git decides by the user's push.default; the branch may be called otherwise over there.
        let call = if is_explicit { call.args(["--", remote.as_str(), branch.as_str()]) } else { call };
        let output = self.run(call).await?;
        if !output.success {
            return Err(output.failure("push"));
        }
        let upstream = push.set_upstream.then(|| format!("{remote}/{branch}"));
        Ok(Pushed { message: output.message(), commits, upstream })
    }

    /// How many commits the remote lacked at the last fetch. An estimate, so 0 if git cannot tell.
    async fn unpushed(&self, branch: &Branch, remote: &Remote) -> u64 {
        let (rev, seen) = (format!("refs/heads/{branch}"), format!("--remotes={remote}"));
        let counted = self.text(Call::read("push").args(["rev-list", "--count", &rev, "--not", &seen])).await;
        counted.ok().and_then(|count| count.parse().ok()).unwrap_or(0)
    }

    /// Fetches the upstream and merges it, or rebases onto it.
    pub async fn pull(&self, rebase: bool) -> Result<Pulled, Error> {
        self.check_toplevel("pull").await?;
        let before = self.head("pull").await?;
        let how = if rebase { "--rebase" } else { "--no-rebase" };
        let output = self.run(Call::network("pull").args(["pull", "--progress", "--no-edit", how])).await?;
        let merged = self.merged("pull", output).await?;
        let Merged { message, sha, conflicted } = merged;
        let (mut commits, mut files) = (0, 0);
        if let Some(before) = before.filter(|before| conflicted.is_empty() && *before != sha) {
            let range = format!("{before}..{sha}");
            let count = Call::read("pull").args(["rev-list", "--count", &range]);
            let names = Call::read("pull").args(["diff", "--name-only", "-z", "--no-ext-diff", &before, &sha, "--"]);
            let (count, names) = tokio::try_join!(self.text(count), self.answer(names))?;
            commits = count.parse().unwrap_or(0);
            files = names.iter().filter(|&&byte| byte == 0).count() as u64;
        }
        Ok(Pulled { message, commits, files, conflicted })
    }

    /// Fetches from a remote; only its remote branches change.
    pub async fn fetch(&self, remote: &Remote, prune: bool) -> Result<Fetched, Error> {
        self.check_toplevel("fetch").await?;
        self.known_remote("fetch", remote).await?;
        let before = self.seen(remote).await?;
        let call = Call::network("fetch").args(["fetch", "--progress"]).flag(prune, "--prune");
        let output = self.run(call.args(["--", remote.as_str()])).await?;
        if !output.success {
            return Err(output.failure("fetch"));
        }
        let after = self.seen(remote).await?;
        let names = |keep: &dyn Fn(&str) -> bool, of: &BTreeMap<String, String>| -> Vec<String> {
            of.keys().filter(|name| keep(name)).cloned().collect()
        };
        let mut range: String = after.values().map(|id| format!("{id}\n")).collect();
        range.extend(before.values().map(|id| format!("^{id}\n")));
        let count = Call::read("fetch").args(["rev-list", "--count", "--stdin"]).input(range.into_bytes());
        let commits = if before == after { 0 } else { self.text(count).await?.parse().unwrap_or(0) };
        let has_moved = |name: &str| before.get(name).is_some_and(|id| after.get(name) != Some(id));
        Ok(Fetched {
            message: output.message(),
            updated: names(&has_moved, &after),
            new: names(&|name| !before.contains_key(name), &after),
            pruned: names(&|name| !after.contains_key(name), &before),
            commits,
        })
    }

    /// The branches of a remote with their commits, as of the last fetch.
    async fn seen(&self, remote: &Remote) -> Result<BTreeMap<String, String>, Error> {
        let at = format!("refs/remotes/{remote}/");
        let args = ["for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", &at];
        let answer = self.text(Call::read("fetch").args(args)).await?;
        Ok(answer.lines().filter_map(|line| line.split_once(' ')).map(|(name, id)| (name.into(), id.into())).collect())
    }

    /// Merges a branch into the one that is checked out.
    pub async fn merge(&self, rev: &Rev, no_ff: bool, message: Option<&str>) -> Result<Merged, Error> {
        self.check_toplevel("merge").await?;
        let call = Call::write("merge").args(["merge", "--no-edit", "--no-progress"]).flag(no_ff, "--no-ff");
        let call = call.args(message.map(|message| format!("-m{message}"))).args(["--end-of-options", rev.as_str()]);
        let output = self.run(call).await?;
        self.merged("merge", output).await
    }

    /// Aborts the merge, or the rebase of a pull, that stopped with conflicts.
    pub async fn abort_merge(&self) -> Result<(), Error> {
        self.check_toplevel("merge/abort").await?;
        let folder = self.text(Call::read("merge/abort").args(["rev-parse", "--git-path", "rebase-merge"])).await?;
        let is_rebase = tokio::fs::try_exists(self.root().path().join(folder)).await.unwrap_or(false);
        let what = if is_rebase { "rebase" } else { "merge" };
        self.answer(Call::write("merge/abort").args([what, "--abort"])).await.map(drop)
    }

    /// The result of a merge. New conflicts are a result, not an error.
    pub(crate) async fn merged(&self, operation: &'static str, output: Output) -> Result<Merged, Error> {
        let conflicted = if output.success { Vec::new() } else { self.torn(operation).await? };
        let says_conflict =
            String::from_utf8_lossy(&output.answer).contains("CONFLICT") || output.words.contains("CONFLICT");
        // Old conflicts that only forbid to begin are an error.
        if !output.success && (conflicted.is_empty() || !says_conflict) {
            return Err(output.failure(operation));
        }
        let sha = self.head(operation).await?.unwrap_or_default();
        Ok(Merged { message: output.message(), sha, conflicted })
    }

    /// The files with unresolved conflicts.
    async fn torn(&self, operation: &'static str) -> Result<Vec<String>, Error> {
        let args = ["diff", "--name-only", "-z", "--diff-filter=U", "--no-ext-diff", "--"];
        let answer = self.answer(Call::read(operation).args(args)).await?;
        let names = answer.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// The object id of `HEAD`; `None` before the first commit.
    pub(crate) async fn head(&self, operation: &'static str) -> Result<Option<String>, Error> {
        let output = self.run(Call::read(operation).args(["rev-parse", "--verify", "-q", "HEAD^{commit}"])).await?;
        Ok(output.success.then(|| String::from_utf8_lossy(&output.answer).trim_end().to_owned()))
    }
}
