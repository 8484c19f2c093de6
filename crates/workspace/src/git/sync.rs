//! What brings branches together: push, pull, fetch, merge.

use std::collections::BTreeMap;

use super::call::Call;
use super::run::{Git, Output};
use super::{Branch, GitKind, Remote, Rev};
use crate::Error;

/// What to push.
#[derive(Clone, Debug, Default)]
pub struct Push {
    /// Replace what is there, unless somebody pushed since the last fetch.
    pub force: bool,
    /// Follow the pushed branch from now on.
    pub set_upstream: bool,
    /// Where to; the branch's own remote if absent.
    pub remote: Option<Remote>,
    /// Which branch; the one that is checked out if absent.
    pub branch: Option<Branch>,
}

/// What was pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// What git said.
    pub message: String,
    /// Commits that the remote had not, as far as was known.
    pub commits: u64,
    /// The branch that is followed since, if that was wanted.
    pub upstream: Option<String>,
}

/// What a pull brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pulled {
    /// What git said.
    pub message: String,
    /// Commits that are new here.
    pub commits: u64,
    /// Files that changed.
    pub files: u64,
    /// Files whose conflict waits; the pull is not finished then.
    pub conflicted: Vec<String>,
}

/// What a fetch brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// What git said.
    pub message: String,
    /// Branches that moved.
    pub updated: Vec<String>,
    /// Branches that are new.
    pub new: Vec<String>,
    /// Branches that are gone.
    pub pruned: Vec<String>,
    /// Commits that are new here.
    pub commits: u64,
}

/// What came of bringing something together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// What git said.
    pub message: String,
    /// The commit that is checked out now.
    pub sha: String,
    /// Files whose conflict waits; it is not finished then.
    pub conflicted: Vec<String>,
}

impl Git {
    /// Pushes a branch.
    pub async fn push(&self, push: &Push) -> Result<Pushed, Error> {
        self.confined("push").await?;
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
            None => self.remote_of("push", &branch).await?,
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
        Ok(Pushed { message: output.said(), commits, upstream })
    }

    /// Commits that the remote had not when it was last seen; an estimate, so none where it cannot be made.
    async fn unpushed(&self, branch: &Branch, remote: &Remote) -> u64 {
        let (rev, seen) = (format!("refs/heads/{branch}"), format!("--remotes={remote}"));
        let counted = self.text(Call::read("push").args(["rev-list", "--count", &rev, "--not", &seen])).await;
        counted.ok().and_then(|count| count.parse().ok()).unwrap_or(0)
    }

    /// Fetches the branch that is followed and merges it, or puts the own commits on top of it.
    pub async fn pull(&self, rebase: bool) -> Result<Pulled, Error> {
        self.confined("pull").await?;
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

    /// Looks what a remote has; nothing here changes but what is known of it.
    pub async fn fetch(&self, remote: &Remote, prune: bool) -> Result<Fetched, Error> {
        self.confined("fetch").await?;
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
            message: output.said(),
            updated: names(&has_moved, &after),
            new: names(&|name| !before.contains_key(name), &after),
            pruned: names(&|name| !after.contains_key(name), &before),
            commits,
        })
    }

    /// The branches of a remote as last seen, with what they point to.
    async fn seen(&self, remote: &Remote) -> Result<BTreeMap<String, String>, Error> {
        let at = format!("refs/remotes/{remote}/");
        let args = ["for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", &at];
        let answer = self.text(Call::read("fetch").args(args)).await?;
        Ok(answer.lines().filter_map(|line| line.split_once(' ')).map(|(name, id)| (name.into(), id.into())).collect())
    }

    /// Merges a branch into the one that is checked out.
    pub async fn merge(&self, rev: &Rev, no_ff: bool, message: Option<&str>) -> Result<Merged, Error> {
        self.confined("merge").await?;
        let call = Call::write("merge").args(["merge", "--no-edit", "--no-progress"]).flag(no_ff, "--no-ff");
        let call = call.args(message.map(|message| format!("-m{message}"))).args(["--end-of-options", rev.as_str()]);
        let output = self.run(call).await?;
        self.merged("merge", output).await
    }

    /// Goes back to before the merge, or the pull that rebases, that waits for conflicts to be resolved.
    pub async fn abort_merge(&self) -> Result<(), Error> {
        self.confined("merge/abort").await?;
        let folder = self.text(Call::read("merge/abort").args(["rev-parse", "--git-path", "rebase-merge"])).await?;
        let is_rebase = tokio::fs::try_exists(self.root().path().join(folder)).await.unwrap_or(false);
        let what = if is_rebase { "rebase" } else { "merge" };
        self.answer(Call::write("merge/abort").args([what, "--abort"])).await.map(drop)
    }

    /// What came of it: where files are torn, that is the result and not an error.
    pub(crate) async fn merged(&self, operation: &'static str, output: Output) -> Result<Merged, Error> {
        let conflicted = if output.success { Vec::new() } else { self.torn(operation).await? };
        let says_conflict =
            String::from_utf8_lossy(&output.answer).contains("CONFLICT") || output.words.contains("CONFLICT");
        // Old conflicts that only forbid to begin are an error.
        if !output.success && (conflicted.is_empty() || !says_conflict) {
            return Err(output.failure(operation));
        }
        let sha = self.head(operation).await?.unwrap_or_default();
        Ok(Merged { message: output.said(), sha, conflicted })
    }

    /// Files whose conflict waits.
    async fn torn(&self, operation: &'static str) -> Result<Vec<String>, Error> {
        let args = ["diff", "--name-only", "-z", "--diff-filter=U", "--no-ext-diff", "--"];
        let answer = self.answer(Call::read(operation).args(args)).await?;
        let names = answer.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// The commit that is checked out; none before the first.
    pub(crate) async fn head(&self, operation: &'static str) -> Result<Option<String>, Error> {
        let output = self.run(Call::read(operation).args(["rev-parse", "--verify", "-q", "HEAD^{commit}"])).await?;
        Ok(output.success.then(|| String::from_utf8_lossy(&output.answer).trim_end().to_owned()))
    }
}
