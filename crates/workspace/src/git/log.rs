//! The commits, with their refs and the lines between them.

use super::call::Call;
use super::graph::{self, GraphPosition};
use super::run::Git;
use super::{GitKind, Rev};
use crate::{Error, RelPath};

/// What is told of a commit, each field ended by a NUL: no message and no name can hold one.
const FORMAT: &str = "--format=tformat:%H%x00%h%x00%P%x00%an%x00%ae%x00%at%x00%ar%x00%D%x00%s%x00%b";
const FIELDS: usize = 10;

/// The names that are told, also those that the user's log does not show.
const DECORATED: [&str; 5] = [
    "--decorate=full",
    "--decorate-refs=HEAD",
    "--decorate-refs=refs/heads/",
    "--decorate-refs=refs/remotes/",
    "--decorate-refs=refs/tags/",
];

/// Which commits are wanted.
#[derive(Clone, Debug, Default)]
pub struct LogQuery {
    /// How many at most.
    pub limit: usize,
    /// How many are passed over first.
    pub skip: usize,
    /// From where on back; from what is checked out if absent.
    pub rev: Option<Rev>,
    /// Only those that changed this.
    pub path: Option<RelPath>,
    /// Only those of an author whose name or address holds this.
    pub author: Option<String>,
    /// Only those after this time.
    pub since: Option<String>,
    /// Only those before this time.
    pub until: Option<String>,
    /// With the lines between them.
    pub graph: bool,
}

/// What a ref is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefType {
    /// What is checked out.
    Head,
    /// A branch here.
    LocalBranch,
    /// A branch of a remote, as last seen.
    RemoteBranch,
    /// A tag, light or annotated.
    Tag,
}

impl RefType {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::LocalBranch => "local_branch",
            Self::RemoteBranch => "remote_branch",
            Self::Tag => "tag",
        }
    }
}

/// A name that points to a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRef {
    /// Its short name, such as `main` or `origin/main`.
    pub name: String,
    /// What it is.
    pub kind: RefType,
}

/// A commit of the page, with the refs that stand at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its whole id.
    pub sha: String,
    /// Enough of its id to be unique.
    pub short_sha: String,
    /// The ids of its parents.
    pub parents: Vec<String>,
    /// Who wrote it.
    pub author: String,
    /// The author's e-mail address.
    pub author_email: String,
    /// When, in seconds since 1970.
    pub time: i64,
    /// When, in words.
    pub relative_date: String,
    /// The names that point to it.
    pub refs: Vec<CommitRef>,
    /// The message's first line.
    pub subject: String,
    /// The rest of the message.
    pub body: String,
    /// Where it stands in the graph, if that was wanted.
    pub graph: Option<GraphPosition>,
}

/// A page of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The commits, the latest first.
    pub commits: Vec<Commit>,
    /// How many there are in all.
    pub total: u64,
    /// There are more after these.
    pub has_more: bool,
    /// Columns of the graph.
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
            self.confined("log")
        );
        let (answer, total, ()) = match asked {
            Err(Error::Git { kind: GitKind::NoCommits, .. }) => {
                self.confined("log").await?;
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

/// One decoration: `HEAD -> refs/heads/main` is two names.
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
        let of = |text: &str| names(text).into_iter().map(|found| (found.name, found.kind)).collect::<Vec<_>>();
        assert_eq!(
            of("HEAD -> refs/heads/a/b"),
            [("HEAD".to_owned(), RefType::Head), ("a/b".to_owned(), RefType::LocalBranch)]
        );
        assert_eq!(of("tag: refs/tags/v1"), [("v1".to_owned(), RefType::Tag)]);
        assert_eq!(of("refs/remotes/origin/x"), [("origin/x".to_owned(), RefType::RemoteBranch)]);
        assert_eq!(of("refs/stash"), []);
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_git_could_say_breaks_it(answer: Vec<u8>) {
            parse(&answer);
        }
    }
}
