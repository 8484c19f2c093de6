//! Reads sessions: lists, messages and elements, page by page.

use std::time::Instant;

use roost_log::{Filter, Log, Start, StreamId};
use roost_model::event::{NormalizedEvent, NormalizedEventType as Type};
use roost_model::ids::SessionId;
use roost_model::session::SessionRecord;
use roost_rpc::conversation::Message;
use roost_rpc::element::Element;
use roost_rpc::{
    DeleteParams, DeleteResult, ElementsPage, ElementsParams, ElementsResult, Fault, HistoryParams, HistoryResult,
    KeptBy, MessagesParams, MessagesResult, Order, SessionInfo, SessionListParams, SessionListResult, SessionParams,
};
use serde::Serialize;

use super::forking::{Part, lineage};
use super::past::{self, Found, Row, Within};
use super::routing::{self, Named};
use super::shape;
use crate::cdev::element::{elements as fold, native as of_native};
use crate::cdev::message::from_event;
use crate::dispatch::{Context, PAGE_BYTES};
use crate::fault;
use crate::host::Sessions;
use crate::inline_artifacts::inline_texts;
use crate::workspaces::Entry;

/// Items of a list unless asked otherwise, and at most.
const PAGE: u32 = 50;
const MAX_SESSIONS: u32 = 500;
const MAX_MESSAGES: u32 = 500;
const MAX_ELEMENTS: u32 = 100;

/// Events that are pieces of others; what they add up to is there whole.
const PIECES: [Type; 2] = [Type::ModelOutputDelta, Type::ToolOutputDelta];

/// The sessions of a workspace, the latest first.
pub(super) async fn of_entry(sessions: &Sessions, entry: &Entry) -> Result<Vec<SessionRecord>, Fault> {
    let mut records = listed(sessions).await?;
    records.retain(|record| routing::belongs(record, entry));
    Ok(records)
}

/// Every session that was not taken off the lists, the latest first.
pub(super) async fn listed(sessions: &Sessions) -> Result<Vec<SessionRecord>, Fault> {
    let mut records = sessions.log.sessions(usize::MAX).await.map_err(fault::log)?;
    records.retain(|record| !record.hidden);
    Ok(records)
}

pub(crate) async fn list(context: &Context<'_>, params: SessionListParams) -> Result<SessionListResult, Fault> {
    routing::known(context, params.agent_type.as_deref())?;
    let entry = params.workspace_id.as_deref().map(|id| context.host.workspaces.get(id)).transpose()?;
    let (cwd, agent_type) = (params.cwd.as_deref(), params.agent_type.as_deref());
    let within = Within { entry: entry.as_ref(), cwd, agent_type };
    let (rows, notices) = past::list(context, within, params.source).await?;
    let total = rows.len() as u64;
    let page = page(&rows, params.offset, params.limit);
    let sessions = fitting(page.map(|row| shape::info(context.host, &row.record, row.source)));
    Ok(SessionListResult { sessions, total, notices })
}

fn page(rows: &[Row], offset: Option<u32>, limit: Option<u32>) -> impl Iterator<Item = &Row> {
    let limit = limit.unwrap_or(PAGE).clamp(1, MAX_SESSIONS) as usize;
    rows.iter().skip(offset.unwrap_or(0) as usize).take(limit)
}

pub(crate) async fn get(context: &Context<'_>, params: SessionParams) -> Result<SessionInfo, Fault> {
    let named = Named { id: &params.session_id, agent_type: params.agent_type.as_deref(), ..Named::default() };
    let found = routing::found(context, named).await?;
    let source = match &found {
        Found::Hosted(_) => KeptBy::Managed,
        Found::Past(_) => KeptBy::History,
    };
    Ok(shape::info(context.host, &found.record(), source))
}

pub(crate) async fn of_workspace(context: &Context<'_>, params: HistoryParams) -> Result<HistoryResult, Fault> {
    routing::known(context, params.agent_type.as_deref())?;
    let entry = context.host.workspaces.get(&params.workspace_id)?;
    let within = Within { entry: Some(&entry), cwd: None, agent_type: params.agent_type.as_deref() };
    let (rows, notices) = past::list(context, within, None).await?;
    let total = rows.len() as u64;
    let page = page(&rows, params.offset, params.limit);
    let item = |row: &Row| shape::item(context.host, &row.record, row.source, &params.workspace_id);
    Ok(HistoryResult { sessions: fitting(page.map(item)), total, notices })
}

pub(crate) async fn messages(context: &Context<'_>, params: MessagesParams) -> Result<MessagesResult, Fault> {
    let started = Instant::now();
    let (workspace, agent_type) = (params.workspace_id.as_deref(), params.agent_type.as_deref());
    let named = Named { id: &params.session_id, workspace, cwd: None, agent_type };
    let (session_id, mut messages) = match routing::found(context, named).await? {
        Found::Past(kept) => (kept.session_id(), past::messages(context, &kept).await?),
        Found::Hosted(record) => {
            let session_id = record.session_id.clone();
            (session_id.clone(), said(context, *record, &session_id).await?)
        }
    };
    let total = messages.len();
    if params.order.unwrap_or_default() == Order::Desc {
        messages.reverse();
    }
    let limit = params.limit.unwrap_or(PAGE).clamp(1, MAX_MESSAGES);
    let offset = params.offset.unwrap_or(0);
    let page = fitting(messages.into_iter().skip(offset as usize).take(limit as usize));
    Ok(MessagesResult {
        session_id: session_id.to_string(),
        has_more: offset as usize + page.len() < total,
        messages: page,
        total: total as u64,
        limit,
        offset,
        query_time_ms: started.elapsed().as_secs_f64() * 1000.0,
    })
}

/// What was said in a session and in those that it comes from, numbered as one.
async fn said(context: &Context<'_>, record: SessionRecord, session_id: &SessionId) -> Result<Vec<Message>, Fault> {
    let (mut messages, mut before) = (Vec::new(), 0);
    for part in lineage(context, record).await? {
        let kept = past::before(context, &part.record).await;
        messages.extend(kept.into_iter().map(|message| Message { id: before + message.id, ..message }));
        before += part.record.adopted.as_ref().map_or(0, |adopted| adopted.messages);
        for event in read(&*context.host.sessions.log, &part, &PIECES).await? {
            let message = from_event(inline_texts(context.host.sessions.engine.artifacts(), &event).await.as_ref());
            messages.extend(message.map(|message| Message { id: before + message.id, ..message }));
        }
        before = before.saturating_add(part.until);
    }
    messages.iter_mut().for_each(|message| message.session_id = session_id.clone());
    Ok(messages)
}

pub(crate) async fn elements(context: &Context<'_>, params: ElementsParams) -> Result<ElementsResult, Fault> {
    let named = Named { id: &params.session_id, agent_type: params.agent_type.as_deref(), ..Named::default() };
    let (session_id, elements) = match routing::found(context, named).await? {
        Found::Past(kept) => (kept.session_id(), of_native(&past::messages(context, &kept).await?)),
        Found::Hosted(record) => {
            let (session_id, mut elements) = (record.session_id.clone(), Vec::new());
            for part in lineage(context, *record).await? {
                elements.extend(of_native(&past::before(context, &part.record).await));
                // What the agent thought is there only in pieces.
                let mut events = read(&*context.host.sessions.log, &part, &[Type::ToolOutputDelta]).await?;
                for event in &mut events {
                    let filled = inline_texts(context.host.sessions.engine.artifacts(), event).await.into_owned();
                    *event = filled;
                }
                elements.extend(fold(&events));
            }
            (session_id, elements)
        }
    };
    let place = |id: &String| {
        let found = elements.iter().position(|element| element.id == *id);
        found.ok_or_else(|| Fault::params(format_args!("the session has no element \"{id}\"")))
    };
    let end = params.before.as_ref().map(place).transpose()?.unwrap_or(elements.len());
    let begin = params.after.as_ref().map(place).transpose()?.map_or(0, |at| at + 1).min(end);
    let limit = params.limit.unwrap_or(PAGE).clamp(1, MAX_ELEMENTS) as usize;
    // Whoever goes forwards wants the next ones; everyone else the last ones.
    let page: Vec<Element> = if params.after.is_some() {
        fitting(elements[begin..end].iter().take(limit).cloned())
    } else {
        let mut last = fitting(elements[begin..end].iter().rev().take(limit).cloned());
        last.reverse();
        last
    };
    let first = page.first().and_then(|element| elements.iter().position(|other| other.id == element.id));
    let first = first.unwrap_or(begin);
    let pagination = ElementsPage {
        total: elements.len() as u64,
        returned: page.len() as u64,
        has_more_before: first > 0,
        has_more_after: first + page.len() < elements.len(),
        oldest_id: page.first().map(|element| element.id.clone()),
        newest_id: page.last().map(|element| element.id.clone()),
    };
    Ok(ElementsResult { session_id: session_id.to_string(), elements: page, pagination })
}

/// As many as fit into a frame, at least one.
pub(super) fn fitting<T: Serialize>(items: impl Iterator<Item = T>) -> Vec<T> {
    let (mut fitting, mut size) = (Vec::new(), 4096);
    for item in items {
        size += serde_json::to_string(&item).map_or(0, |text| text.len() + 1);
        if size > PAGE_BYTES && !fitting.is_empty() {
            break;
        }
        fitting.push(item);
    }
    fitting
}

/// The events of a session's part but those of some types, as far as they are still kept.
async fn read(log: &dyn Log, part: &Part, without: &[Type]) -> Result<Vec<NormalizedEvent>, Fault> {
    let stream = StreamId::from(&part.record.session_id);
    let wanted = Type::ALL.iter().copied().filter(|known| !without.contains(known));
    let filter = Filter::stream(stream.clone()).types(wanted);
    let mut start = Start::AfterSeq(stream.clone(), 0);
    let mut follower = loop {
        match log.follow(filter.clone(), start).await {
            Err(roost_log::Error::Truncated { resume_at, .. }) => {
                start = Start::AfterSeq(stream.clone(), resume_at - 1)
            }
            follower => break follower.map_err(fault::log)?,
        }
    };
    let mut events = Vec::new();
    while let Some(batch) = follower.ready().await.map_err(fault::log)? {
        for entry in batch.iter().filter(|entry| entry.seq() <= part.until) {
            events.push(entry.event().map_err(fault::log)?.clone());
        }
    }
    Ok(events)
}

pub(crate) async fn delete(context: &Context<'_>, params: DeleteParams) -> Result<DeleteResult, Fault> {
    routing::known(context, params.agent_type.as_deref())?;
    let doomed = match &params.session_id {
        Some(id) => {
            let (workspace, agent_type) = (params.workspace_id.as_deref(), params.agent_type.as_deref());
            // A runtime's own files are never touched: a past session becomes one of ours, and that is hidden.
            vec![routing::hosted(context, Named { id, workspace, cwd: None, agent_type }, None).await?]
        }
        None => {
            let mut all = match &params.workspace_id {
                Some(id) => of_entry(&context.host.sessions, &context.host.workspaces.get(id)?).await?,
                None => listed(&context.host.sessions).await?,
            };
            all.retain(|record| routing::runs_on(record, params.agent_type.as_deref()));
            all
        }
    };
    for record in &doomed {
        context.host.sessions.engine.hide(record.session_id.as_str()).await.map_err(fault::engine)?;
    }
    Ok(DeleteResult {
        status: "deleted".into(),
        deleted: doomed.len() as u64,
        session_id: params.session_id,
        workspace_id: params.workspace_id,
    })
}
