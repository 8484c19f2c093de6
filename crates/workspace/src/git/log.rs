//! Reads the log: commits, their refs, and the graph between them.

use super::call::Call;
use super::graph::{self, GraphPosition};
use super::run::Git;
use super::{GitKind, Rev};
use crate::{Error, RelPath};

/// The format of a commit: fields separated by NUL, which no message and no name can hold.
const FORMAT: &str = "--format=tformat:%H%x00%h%x00%P%x00%an%x00%ae%x00%at%x00%ar%x00%D%x00%s%x00%b";
const FIELDS: usize = 10;

/// The kinds of refs that are shown, whatever the user has configured.
const DECORATED: [&str; 5] = [
    "--decorate=full",
    "--decorate-refs=HEAD",
    "--decorate-refs=refs/heads/",
    "--decorate-refs=refs/remotes/",
    "--decorate-refs=refs/tags/",
];

/// Which commits a page of the log holds.
#[derive(Clone, Debug, Default)]
pub struct LogQuery {
    /// The greatest number of commits on the page.
    pub limit: usize,
    /// How many commits are skipped before the page.
    pub skip: usize,
    /// Where the log begins; `HEAD` if absent.
    pub rev: Option<Rev>,
    /// Only commits that changed this path.
    pub path: Option<RelPath>,
    /// Only commits whose author's name or address contains this text, in any case.
    pub author: Option<String>,
    /// Only commits after this time, in any form that git accepts.
    pub since: Option<String>,
    /// Only commits before this time, in any form that git accepts.
    pub until: Option<String>,
    /// Whether the graph is laid out; all commits before the page are read then.
    pub graph: bool,
}

/// The kinds of names that can point to a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefType {
    /// `HEAD`, the commit that is checked out.
    Head,
    /// A branch of this repository.
    LocalBranch,
    /// A remote branch, as of the last fetch.
    RemoteBranch,
    /// A tag, lightweight or annotated.
    Tag,
}

impl RefType {
    /// The value on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::LocalBranch => "local_branch",
            Self::RemoteBranch => "remote_branch",
            Self::Tag => "tag",
        }
    }
}

/// A ref that points to a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRef {
    /// Its short name, such as `main` or `origin/main`.
    pub name: String,
    /// Whether it is a branch, a tag or `HEAD`.
    pub kind: RefType,
}

/// A commit of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The full object id, in hexadecimal.
    pub sha: String,
    /// The abbreviated object id, unique in the repository.
    pub short_sha: String,
    /// The object ids of its parents; several for a merge.
    pub parents: Vec<String>,
    /// The author's name, as the commit has it.
    pub author: String,
    /// The author's e-mail address, as the commit has it.
    pub author_email: String,
    /// The author date, in seconds since 1970.
    pub time: i64,
    /// The author date relative to now, such as `2 days ago`.
    pub relative_date: String,
    /// The refs that point to it.
    pub refs: Vec<CommitRef>,
    /// The first line of the message.
    pub subject: String,
    /// The message after its first line, without blanks at the end.
    pub body: String,
    /// Its position in the graph, if one was asked for.
    pub graph: Option<GraphPosition>,
}

/// A page of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The commits, the latest first.
    pub commits: Vec<Commit>,
    /// How many commits match, on all pages.
    pub total: u64,
    /// Whether there are more commits after these.
    pub has_more: bool,
    /// How many columns the graph of the page needs; 0 without a graph.
    pub max_columns: usize,
}

impl Git {
    /// A page of the log; empty before the first commit.
    pub async fn log(&self, query: &LogQuery) -> Result<Log, Error> {
        // The lines of a page depend on everything above it.
        let (skipped_by_git, skipped_here) = if query.graph { (0, query.skip) } else { (query.skip, 0) };
        let call = Call::read("log").args(["log", "-z", FORMAT]).args(DECORATED);
        let call = call
            .arg(format!("--skip={skipped_by_git}"))
            .arg(format!("--max-count={}", skipped_here + query.limit + 1))
            .flag(query.graph, "--topo-order");
        let total = Call::read("log").args(["rev-list", "--count"]);
        let asked = tokio::try_join!(
            self.answer(narrowed(call, query)),
            self.text(narrowed(total, query)),
            self.check_toplevel("log")
        );
        let (answer, total, ()) = match asked {
            Err(Error::Git { kind: GitKind::NoCommits, .. }) => {
                self.check_toplevel("log").await?;
                return Ok(Log::default());
            }
            asked => asked?,
        };
        let mut commits = parse(&answer);
        let has_more = commits.len() > skipped_here + query.limit;
        commits.truncate(skipped_here + query.limit);
        let mut max_columns = 0;
        if query.graph {
            let known: Vec<_> = commits.iter().map(|commit| (commit.sha.as_str(), &commit.parents[..])).collect();
            let rows = graph::rows(&known);
            let widest = |row: &GraphPosition| {
                row.lines.iter().map(|line| line.from_column.max(line.to_column)).max().unwrap_or(0).max(row.column)
            };
            max_columns = rows.iter().map(|row| widest(row) + 1).max().unwrap_or(0);
            for (commit, row) in commits.iter_mut().zip(rows) {
                commit.graph = Some(row);
            }
        }
        commits.drain(..skipped_here.min(commits.len()));
        Ok(Log { commits, total: total.parse().unwrap_or(0), has_more, max_columns })
    }
}

fn narrowed(call: Call, query: &LogQuery) -> Call {
    let option = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("--{name}={value}"));
    let rev = query.rev.as_ref().map_or("HEAD", Rev::as_str);
    call.args(option("author", &query.author))
        .args(option("since", &query.since))
        .args(option("until", &query.until))
        .flag(query.author.is_some(), "--fixed-strings")
        .flag(query.author.is_some(), "--regexp-ignore-case")
        .args(["--end-of-options", rev])
        .paths(&query.path)
}

fn parse(answer: &[u8]) -> Vec<Commit> {
    let fields: Vec<_> =
        answer.split(|&byte| byte == 0).map(|field| String::from_utf8_lossy(field).into_owned()).collect();
    let commit = |fields: &[String]| {
        let [sha, short_sha, parents, author, author_email, time, relative_date, refs, subject, body] = fields else {
            return None;
        };
        Some(Commit {
            sha: sha.clone(),
            short_sha: short_sha.clone(),
            parents: parents.split_whitespace().map(str::to_owned).collect(),
            author: author.clone(),
            author_email: author_email.clone(),
            time: time.parse().unwrap_or(0),
            relative_date: relative_date.clone(),
            refs: refs.split(", ").flat_map(names).collect(),
            subject: subject.clone(),
            body: body.trim_end().to_owned(),
            graph: None,
        })
    };
    fields.chunks_exact(FIELDS).filter_map(commit).collect()
}

/// The refs of one decoration; `HEAD -> refs/heads/main` are two.
fn names(decoration: &str) -> Vec<CommitRef> {
    let named = |name: &str, kind| Some(CommitRef { name: name.to_owned(), kind });
    let name = |text: &str| match text.strip_prefix("tag: ").unwrap_or(text) {
        "HEAD" => named("HEAD", RefType::Head),
        text => {
            let local = text.strip_prefix("refs/heads/").and_then(|name| named(name, RefType::LocalBranch));
            let remote = || text.strip_prefix("refs/remotes/").and_then(|name| named(name, RefType::RemoteBranch));
            let tag = || text.strip_prefix("refs/tags/").and_then(|name| named(name, RefType::Tag));
            local.or_else(remote).or_else(tag)
        }
    };
    decoration.split(" -> ").filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        let parsed = |text: &str| names(text).into_iter().map(|found| (found.name, found.kind)).collect::<Vec<_>>();
        assert_eq!(
            parsed("HEAD -> refs/heads/a/b"),
            [("HEAD".to_owned(), RefType::Head), ("a/b".to_owned(), RefType::LocalBranch)]
        );
        assert_eq!(parsed("tag: refs/tags/v1"), [("v1".to_owned(), RefType::Tag)]);
        assert_eq!(parsed("refs/remotes/origin/x"), [("origin/x".to_owned(), RefType::RemoteBranch)]);
        assert_eq!(parsed("refs/stash"), []);
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_git_could_say_breaks_it(answer: Vec<u8>) {
            parse(&answer);
        }
    }
}
