//! `repository/grep`: searches files by content, in one answer or as a stream.

use std::sync::Arc;
use std::time::Instant;

use roost_rpc::{Fault, GrepCancelParams, GrepFile, GrepLine, GrepParams, GrepResult, GrepSpan, Success};
use roost_workspace::grep::{FileMatches, GrepQuery, GrepSummary, grep as find};
use roost_workspace::index::Index;
use roost_workspace::search::Filter;
use roost_workspace::{RelPath, Repository};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::search::milliseconds;
use crate::blocking::blocking;
use crate::connection::{Connection, ephemeral};
use crate::dispatch::{Context, PAGE_BYTES};
use crate::fault;
use crate::size::size;

/// Matching lines: the default, the most, and the default for one file.
const LINES: u32 = 1000;
const MAX_LINES: u32 = 10_000;
const OF_FILE: u32 = 100;
/// The most lines of context before and after a match.
const MAX_CONTEXT: u32 = 20;
/// The size of one streamed batch, in bytes.
const BATCH: usize = 32 << 10;
/// Files with matches that may wait to be sent.
const WAITING: usize = 64;

fn query(params: GrepParams) -> Result<GrepQuery, Fault> {
    if params.pattern.is_empty() {
        return Err(Fault::params("pattern is empty: say what to search for").with("field", "pattern"));
    }
    let filter = Filter { tracked_only: params.git_tracked_only.unwrap_or_default(), ..Filter::default() };
    let context = params.context_lines.unwrap_or(0).min(MAX_CONTEXT) as usize;
    let limit = |asked: Option<u32>, usual: u32| asked.unwrap_or(usual).clamp(1, MAX_LINES) as usize;
    Ok(GrepQuery {
        pattern: params.pattern,
        is_regex: params.regex.unwrap_or_default(),
        case_sensitive: params.case_sensitive,
        whole_words: params.whole_words.unwrap_or_default(),
        folder: RelPath::parse(&params.directory.unwrap_or_default()).map_err(fault::workspace)?,
        filter: filter.with_extensions(params.extensions.unwrap_or_default()),
        context: (context, context),
        limit: (limit(params.limit, LINES), limit(params.limit_per_file, OF_FILE)),
    })
}

pub(crate) async fn grep(context: &Context<'_>, params: GrepParams) -> Result<GrepResult, Fault> {
    let (repository, index) = super::index(context, params.workspace_id.as_deref()).await?;
    let is_streamed = params.stream.unwrap_or_default();
    let query = query(params)?;
    let (within, of, folder) = (repository.clone(), index.clone(), query.folder.clone());
    blocking(move || super::check_folder(&within, &of, &folder)).await??;
    let grep_id = uuid::Uuid::new_v4().to_string();
    if is_streamed {
        let connection = context.connected()?.clone();
        query.check().map_err(fault::workspace)?;
        let cancel = connection.searches().begin(grep_id.clone())?;
        let started = GrepResult {
            grep_id: grep_id.clone(),
            status: "started".into(),
            files: Vec::new(),
            total_matches: 0,
            matched_files: 0,
            searched_files: 0,
            truncated: false,
            elapsed_ms: 0,
        };
        context.host.daemon.spawn(stream(connection, repository, index, query, grep_id, cancel));
        return Ok(started);
    }
    let cancel = CancellationToken::new();
    // Whoever is gone needs no answer.
    let _gone = cancel.clone().drop_guard();
    blocking(move || {
        let started = Instant::now();
        let (mut files, mut room, mut is_full) = (Vec::new(), PAGE_BYTES, false);
        let found = find(repository.root(), &index, &query, &cancel, |file| {
            let file = shaped(file);
            let size = size(&file) + 1;
            is_full = size > room;
            if !is_full {
                room -= size;
                files.push(file);
            }
            !is_full
        });
        let summary = found.map_err(fault::workspace)?;
        Ok(GrepResult {
            grep_id,
            status: "completed".into(),
            total_matches: files.iter().map(|file| file.match_count).sum(),
            matched_files: files.len() as u64,
            searched_files: summary.searched as u64,
            truncated: summary.is_limited || is_full,
            elapsed_ms: milliseconds(started.elapsed()),
            files,
        })
    })
    .await?
}

pub(crate) async fn cancel(context: &Context<'_>, params: GrepCancelParams) -> Result<Success, Fault> {
    context.connected()?.searches().end(&params.grep_id);
    Ok(Success::DONE)
}

/// Streams the matches to the client. The search waits for a slow client and ends with it.
async fn stream(
    connection: Arc<Connection>,
    repository: Arc<Repository>,
    index: Arc<Index>,
    query: GrepQuery,
    id: String,
    cancel: CancellationToken,
) {
    let started = Instant::now();
    let (found, mut arrived) = mpsc::channel(WAITING);
    let searching = cancel.clone();
    let search = tokio::task::spawn_blocking(move || {
        find(repository.root(), &index, &query, &searching, |file| found.blocking_send(shaped(file)).is_ok())
    });
    let send = async {
        let mut files = Vec::with_capacity(WAITING);
        while arrived.recv_many(&mut files, WAITING).await > 0 {
            while !files.is_empty() {
                let mut bytes = 0;
                let fit = files.iter().take_while(|file| {
                    let fits = bytes < BATCH;
                    bytes += size(*file);
                    fits
                });
                let batch: Vec<GrepFile> = {
                    let count = fit.count();
                    files.drain(..count).collect()
                };
                if !connection.send(ephemeral("grep_results", json!({ "grep_id": id, "files": batch }))).await {
                    return;
                }
            }
        }
    };
    tokio::select! {
        () = send => {}
        // Nothing that was found by then is sent any more.
        () = cancel.cancelled() => {}
        () = connection.ended.cancelled() => cancel.cancel(),
    }
    // Whoever waits to hand something on is let go.
    drop(arrived);
    let is_cancelled = cancel.is_cancelled();
    let summary = search.await.map(Result::unwrap_or_default).unwrap_or_default();
    connection.searches().end(&id);
    connection.send(completed(&id, summary, is_cancelled, started)).await;
}

fn completed(id: &str, summary: GrepSummary, is_cancelled: bool, started: Instant) -> axum::extract::ws::Utf8Bytes {
    ephemeral(
        "grep_completed",
        json!({
            "grep_id": id, "total_matches": summary.matches, "matched_files": summary.files,
            "searched_files": summary.searched, "truncated": summary.is_limited, "cancelled": is_cancelled,
            "elapsed_ms": milliseconds(started.elapsed()),
        }),
    )
}

fn shaped(file: FileMatches) -> GrepFile {
    let line = |line: roost_workspace::grep::FileLine| GrepLine {
        line: line.number,
        text: line.text,
        matches: line.matches.iter().map(|span| GrepSpan { start: span.start as u64, end: span.end as u64 }).collect(),
        truncated: line.is_cut,
    };
    GrepFile {
        path: file.path,
        match_count: file.matched as u64,
        truncated: file.is_cut,
        lines: file.lines.into_iter().map(line).collect(),
    }
}
