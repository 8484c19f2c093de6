//! `git/log`: commits with their refs and the lines between them.

use roost_model::time::Timestamp;
use roost_rpc::{Fault, GitCommit, GitGraphLine, GitGraphPosition, GitLogParams, GitLogResult, GitRef};
use roost_workspace::RelPath;
use roost_workspace::git::{Commit, GraphPosition, LogQuery, Rev};

use super::Repository;
use crate::dispatch::Context;
use crate::fault;

/// Commits of a page, unless asked otherwise, and at most.
const PAGE: u32 = 50;
const MAX_PAGE: u32 = 500;
/// Commits that are passed over at most: with a graph all of them are read.
const MAX_SKIP: u32 = 100_000;

pub(crate) async fn log(context: &Context<'_>, params: GitLogParams) -> Result<GitLogResult, Fault> {
    let path = params.path.as_deref().filter(|path| !path.is_empty()).map(RelPath::parse).transpose();
    let rev = params.branch.as_deref().filter(|branch| !branch.is_empty()).map(Rev::parse).transpose();
    for (field, words) in [("author", &params.author), ("since", &params.since), ("until", &params.until)] {
        if words.as_ref().is_some_and(|words| words.contains('\0')) {
            return Err(Fault::params(format_args!("{field} holds a NUL")).with("field", field));
        }
    }
    let query = LogQuery {
        limit: params.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE) as usize,
        skip: params.skip.unwrap_or(0).min(MAX_SKIP) as usize,
        rev: rev.map_err(fault::during("log"))?,
        path: path.map_err(fault::workspace)?,
        author: params.author,
        since: params.since,
        until: params.until,
        graph: params.graph.unwrap_or_default(),
    };
    let repository = Repository::open(context, params.workspace_id.as_deref()).await?;
    let log = repository.git.log(&query).await.map_err(fault::workspace)?;
    let found = log.commits.len();
    let commits: Vec<_> = super::super::history::fitting(log.commits.into_iter().map(commit));
    Ok(GitLogResult {
        has_more: log.has_more || commits.len() < found,
        commits,
        total_count: log.total,
        max_columns: log.max_columns as u32,
    })
}

fn commit(commit: Commit) -> GitCommit {
    GitCommit {
        is_merge: commit.parents.len() > 1,
        sha: commit.sha,
        short_sha: commit.short_sha,
        author: commit.author,
        author_email: commit.author_email,
        date: Timestamp::from_millis(commit.time.saturating_mul(1000)),
        relative_date: commit.relative_date,
        subject: commit.subject,
        body: Some(commit.body).filter(|body| !body.is_empty()),
        parent_shas: commit.parents,
        refs: commit
            .refs
            .into_iter()
            .map(|found| GitRef { name: found.name, kind: found.kind.word().into() })
            .collect(),
        graph_position: commit.graph.map(position),
    }
}

fn position(position: GraphPosition) -> GitGraphPosition {
    let lines = position.lines.into_iter().map(|line| GitGraphLine {
        from_column: line.from_column as u32,
        to_column: line.to_column as u32,
        kind: line.kind.word().into(),
    });
    GitGraphPosition { column: position.column as u32, lines: lines.collect() }
}
