//! `repository/search*`: finds files by name, once or while the query is typed.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use roost_rpc::{
    Fault, RepositoryFile, SearchCancelParams, SearchMode, SearchParams, SearchResult, SearchStarted,
    SearchUpdateParams, Success,
};
use roost_workspace::index::Index;
use roost_workspace::search::{Filter, Hits, Mode, Query, SearchSession, search as find};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::shaped;
use crate::blocking::blocking;
use crate::connection::{Connection, ephemeral};
use crate::dispatch::{Context, PAGE_BYTES};
use crate::host::Host;
use crate::searches::ClientSearch;
use crate::size::fitting;
use crate::workspaces::WorkspaceEntry;

/// Files of a page: the default, and the most.
const PAGE: u32 = 50;
const MAX_PAGE: u32 = 500;
/// The greatest length of a query, in characters.
const MAX_TEXT: usize = 1000;

/// A search request, as the index understands it.
struct FileQuery {
    query: Query,
    mode: SearchMode,
    offset: usize,
    limit: usize,
}

impl FileQuery {
    fn new(params: SearchParams) -> Result<Self, Fault> {
        let mode = params.mode.unwrap_or(SearchMode::Fuzzy);
        let filter = Filter {
            min_size: params.min_size,
            max_size: params.max_size,
            tracked_only: params.git_tracked_only.unwrap_or_default(),
            exclude_binaries: params.exclude_binaries.unwrap_or(true),
            ..Filter::default()
        };
        let query = Query {
            text: checked(params.query)?,
            mode: match mode {
                SearchMode::Fuzzy => Mode::Fuzzy,
                SearchMode::Exact => Mode::Exact,
                SearchMode::Prefix => Mode::Prefix,
                SearchMode::Extension => Mode::Extension,
            },
            filter: filter.with_extensions(params.extensions.unwrap_or_default()),
        };
        let limit = params.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE) as usize;
        Ok(Self { query, mode, offset: params.offset.unwrap_or(0) as usize, limit })
    }

    /// The index to search. Unless the request filters by size, only the names must be up to date.
    async fn index(&self, host: &Arc<Host>, entry: &WorkspaceEntry) -> Result<Arc<Index>, Fault> {
        let filter = &self.query.filter;
        if filter.min_size.is_some() || filter.max_size.is_some() {
            return Ok(host.repositories.live.index(host, entry).await?.1);
        }
        host.repositories.live.named(host, entry).await
    }

    /// The requested page, and whether there is more.
    fn page(&self, index: &Index, hits: &Hits) -> (Vec<RepositoryFile>, bool) {
        let page = hits.page(index, self.offset, self.limit);
        let files = page.iter().map(|hit| shaped(&index.at(hit.place as usize), Some(hits.relative(*hit))));
        let files = fitting(files, PAGE_BYTES);
        let has_more = self.offset.saturating_add(files.len()) < hits.total();
        (files, has_more)
    }
}

fn checked(text: String) -> Result<String, Fault> {
    if text.chars().count() > MAX_TEXT {
        return Err(Fault::params(format_args!("a query has {MAX_TEXT} letters at most")).with("field", "query"));
    }
    Ok(text)
}

pub(crate) async fn search(context: &Context<'_>, params: SearchParams) -> Result<SearchResult, Fault> {
    let entry = context.host.workspaces.named(params.workspace_id.as_deref())?;
    let request = FileQuery::new(params)?;
    let index = request.index(context.host, &entry).await?;
    let cancel = CancellationToken::new();
    // Whoever is gone needs no answer.
    let _gone = cancel.clone().drop_guard();
    blocking(move || {
        let started = Instant::now();
        let hits = find(&index, &request.query, &cancel);
        let (results, has_more) = request.page(&index, &hits);
        SearchResult {
            results,
            total: hits.total() as u64,
            has_more,
            elapsed_ms: milliseconds(started.elapsed()),
            mode: request.mode,
            query: request.query.text,
        }
    })
    .await
}

pub(crate) async fn start(context: &Context<'_>, params: SearchParams) -> Result<SearchStarted, Fault> {
    let connection = context.connected()?;
    let entry = context.host.workspaces.named(params.workspace_id.as_deref())?;
    let request = FileQuery::new(params)?;
    // A workspace that cannot be searched is told now, not later.
    request.index(context.host, &entry).await?;
    let search_id = uuid::Uuid::new_v4().to_string();
    let (text, typed) = watch::channel(request.query.text.clone());
    let typing = IncrementalSearch {
        id: search_id.clone(),
        entry,
        request,
        typed,
        connection: Arc::downgrade(connection),
        session: None,
    };
    let task = AbortOnDropHandle::new(tokio::spawn(typing.run(context.host.clone())));
    connection.searches().put(search_id.clone(), ClientSearch::Names { text, task })?;
    Ok(SearchStarted { search_id, status: "started".into() })
}

pub(crate) async fn update(context: &Context<'_>, params: SearchUpdateParams) -> Result<Success, Fault> {
    context.connected()?.searches().update(&params.search_id, checked(params.query)?)?;
    Ok(Success::DONE)
}

pub(crate) async fn cancel(context: &Context<'_>, params: SearchCancelParams) -> Result<Success, Fault> {
    context.connected()?.searches().end(&params.search_id);
    Ok(Success::DONE)
}

/// A search that runs while the query is typed. Each new query cancels the search for the one before.
struct IncrementalSearch {
    id: String,
    entry: WorkspaceEntry,
    request: FileQuery,
    typed: watch::Receiver<String>,
    /// Weak, since the connection holds this.
    connection: Weak<Connection>,
    session: Option<SearchSession>,
}

impl IncrementalSearch {
    async fn run(mut self, host: Arc<Host>) {
        self.typed.mark_changed();
        while self.typed.changed().await.is_ok() {
            self.request.query.text = self.typed.borrow_and_update().clone();
            let Ok(index) = self.request.index(&host, &self.entry).await else { return };
            let Some(message) = self.found(index).await else { continue };
            let Some(connection) = self.connection.upgrade() else { return };
            if !connection.send(message).await {
                return;
            }
        }
    }

    /// The matches of the present query; `None` if the query changed meanwhile.
    async fn found(&mut self, index: Arc<Index>) -> Option<axum::extract::ws::Utf8Bytes> {
        let started = Instant::now();
        let cancel = CancellationToken::new();
        let (query, searching) = (self.request.query.clone(), cancel.clone());
        let mut session = self.session.take().unwrap_or_default();
        let searched = index.clone();
        let mut running = tokio::task::spawn_blocking(move || {
            let hits = session.update(&searched, query, &searching).cloned();
            (session, hits)
        });
        let done = tokio::select! {
            done = &mut running => done,
            () = async { _ = self.typed.wait_for(|typed| *typed != self.request.query.text).await } => {
                cancel.cancel();
                self.typed.mark_changed();
                running.await
            }
        };
        let (session, hits) = done.ok()?;
        self.session = Some(session);
        let hits = hits?;
        let (results, has_more) = self.request.page(&index, &hits);
        Some(ephemeral(
            "search_results",
            json!({
                "search_id": self.id, "query": self.request.query.text, "mode": self.request.mode, "results": results,
                "total": hits.total(), "has_more": has_more, "elapsed_ms": milliseconds(started.elapsed()),
            }),
        ))
    }
}

/// A duration in whole milliseconds: phones decode an integer.
pub(super) fn milliseconds(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}
