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
    WorkspaceMessagesParams, WorkspaceSessionParams,
};
use serde::Serialize;

use super::forking::{LineageSegment, lineage};
use super::past::{self, FoundSession, SessionFilter, SessionRow};
use super::routing::{self, SessionSelector};
use super::shape;
use crate::cdev::element::{elements as fold, native as native_elements};
use crate::cdev::message::after;
use crate::cdev::prelude::Prelude;
use crate::dispatch::{Context, PAGE_BYTES};
use crate::fault;
use crate::host::Sessions;
use crate::inline_artifacts::inline_texts;
use crate::workspaces::WorkspaceEntry;

/// Items of a page: the default, and the most of each kind.
const PAGE: u32 = 50;
const MAX_SESSIONS: u32 = 500;
const MAX_MESSAGES: u32 = 500;
const MAX_ELEMENTS: u32 = 100;

/// The sessions of a workspace, the latest first.
pub(super) async fn workspace_sessions(
    sessions: &Sessions,
    entry: &WorkspaceEntry,
) -> Result<Vec<SessionRecord>, Fault> {
    let mut records = listed_sessions(sessions).await?;
    records.retain(|record| routing::belongs_to(record, entry));
    Ok(records)
}

/// Every session that is not hidden, the latest first.
pub(super) async fn listed_sessions(sessions: &Sessions) -> Result<Vec<SessionRecord>, Fault> {
    let mut records = sessions.log.sessions(usize::MAX).await.map_err(fault::log)?;
    records.retain(|record| !record.hidden);
    Ok(records)
}

pub(crate) async fn list(context: &Context<'_>, params: SessionListParams) -> Result<SessionListResult, Fault> {
    routing::check_agent_type(context, params.agent_type.as_deref())?;
    let entry = params.workspace_id.as_deref().map(|id| context.host.workspaces.get(id)).transpose()?;
    let (cwd, agent_type) = (params.cwd.as_deref(), params.agent_type.as_deref());
    let within = SessionFilter { entry: entry.as_ref(), cwd, agent_type };
    let (rows, notices) = past::list(context, within, params.source).await?;
    let total = rows.len() as u64;
    let page = page(&rows, params.offset, params.limit);
    let sessions = fitting(page.map(|row| shape::session_info(context.host, &row.record, row.source)));
    Ok(SessionListResult { sessions, total, notices })
}

fn page(rows: &[SessionRow], offset: Option<u32>, limit: Option<u32>) -> impl Iterator<Item = &SessionRow> {
    let limit = limit.unwrap_or(PAGE).clamp(1, MAX_SESSIONS) as usize;
    rows.iter().skip(offset.unwrap_or(0) as usize).take(limit)
}

pub(crate) async fn get(context: &Context<'_>, params: SessionParams) -> Result<SessionInfo, Fault> {
    let named = SessionSelector {
        id: &params.session_id,
        agent_type: params.agent_type.as_deref(),
        ..SessionSelector::default()
    };
    let found = routing::find_session(context, named).await?;
    let source = match &found {
        FoundSession::Hosted(_) => KeptBy::Managed,
        FoundSession::Past(_) => KeptBy::History,
    };
    Ok(shape::session_info(context.host, &found.record(), source))
}

pub(crate) async fn workspace_history(context: &Context<'_>, params: HistoryParams) -> Result<HistoryResult, Fault> {
    routing::check_agent_type(context, params.agent_type.as_deref())?;
    let entry = context.host.workspaces.get(&params.workspace_id)?;
    let within = SessionFilter { entry: Some(&entry), cwd: None, agent_type: params.agent_type.as_deref() };
    let (rows, notices) = past::list(context, within, None).await?;
    let total = rows.len() as u64;
    let page = page(&rows, params.offset, params.limit);
    let item = |row: &SessionRow| shape::history_item(context.host, &row.record, row.source, &params.workspace_id);
    Ok(HistoryResult { sessions: fitting(page.map(item)), total, notices })
}

/// `workspace/session/messages`, which must name the workspace.
pub(crate) async fn workspace_messages(
    context: &Context<'_>,
    params: WorkspaceMessagesParams,
) -> Result<MessagesResult, Fault> {
    messages(context, params.into()).await
}

pub(crate) async fn messages(context: &Context<'_>, params: MessagesParams) -> Result<MessagesResult, Fault> {
    let started = Instant::now();
    let (workspace, agent_type) = (params.workspace_id.as_deref(), params.agent_type.as_deref());
    let named = SessionSelector { id: &params.session_id, workspace, cwd: None, agent_type };
    let (session_id, mut messages) = match routing::find_session(context, named).await? {
        FoundSession::Past(kept) => (kept.session_id(), past::messages(context, &kept).await?),
        FoundSession::Hosted(record) => {
            let session_id = record.session_id.clone();
            (session_id.clone(), lineage_messages(context, *record, &session_id).await?)
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

/// Whether an event of the log tells something for messages, by its JSON: not every piece of an answer does, only the
/// first of each run, and reading all of them would take long.
fn telling_pieces() -> impl FnMut(&str) -> bool {
    let mut was_text = false;
    move |json| {
        let is_text = json.contains(r#""kind":"text_delta""#) || json.contains(r#""kind":"code_delta""#);
        let is_repeated = is_text && was_text;
        was_text = is_text;
        !is_repeated && !json.contains(r#""kind":"json_delta""#)
    }
}

/// The messages of a session and its ancestors, numbered consecutively and all with this session's id.
async fn lineage_messages(
    context: &Context<'_>,
    record: SessionRecord,
    session_id: &SessionId,
) -> Result<Vec<Message>, Fault> {
    let (mut messages, mut before) = (Vec::new(), 0);
    for segment in lineage(context, record).await? {
        let kept = past::messages_before_adoption(context, &segment.record).await;
        messages.extend(kept.into_iter().map(|message| Message { id: before + message.id, ..message }));
        before += segment.record.adopted.as_ref().map_or(0, |adopted| adopted.messages);
        let mut prelude = Prelude::default();
        for event in read_segment(&*context.host.sessions.log, &segment, telling_pieces()).await? {
            let event = inline_texts(context.host.sessions.engine.artifacts(), &event).await;
            let (thoughts, message) = after(&prelude, &event);
            let told = thoughts.into_iter().chain(message);
            messages.extend(told.map(|message| Message { id: before + message.id, ..message }));
            prelude.push(&event);
        }
        before = before.saturating_add(segment.until);
    }
    messages.iter_mut().for_each(|message| message.session_id = session_id.clone());
    Ok(messages)
}

pub(crate) async fn elements(context: &Context<'_>, params: ElementsParams) -> Result<ElementsResult, Fault> {
    let named = SessionSelector {
        id: &params.session_id,
        agent_type: params.agent_type.as_deref(),
        ..SessionSelector::default()
    };
    let (session_id, elements) = match routing::find_session(context, named).await? {
        FoundSession::Past(kept) => (kept.session_id(), native_elements(&past::messages(context, &kept).await?)),
        FoundSession::Hosted(record) => {
            let (session_id, mut elements) = (record.session_id.clone(), Vec::new());
            for segment in lineage(context, *record).await? {
                elements.extend(native_elements(&past::messages_before_adoption(context, &segment.record).await));
                // What the agent thought is there only in pieces.
                let mut events = read_segment(&*context.host.sessions.log, &segment, |_| true).await?;
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

/// The first items that fit into a frame; at least one.
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

/// The events of a segment that are wanted, by their JSON, as far as retention has kept them; never the pieces of a
/// tool's output, which is in the log as a whole.
async fn read_segment(
    log: &dyn Log,
    segment: &LineageSegment,
    mut wants: impl FnMut(&str) -> bool,
) -> Result<Vec<NormalizedEvent>, Fault> {
    let stream = StreamId::from(&segment.record.session_id);
    let wanted = Type::ALL.iter().copied().filter(|known| *known != Type::ToolOutputDelta);
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
        for entry in batch.iter().filter(|entry| entry.seq() <= segment.until && wants(entry.json())) {
            events.push(entry.event().map_err(fault::log)?.clone());
        }
    }
    Ok(events)
}

/// `workspace/session/delete`: takes one session off the lists, which must be named.
pub(crate) async fn delete_in_workspace(
    context: &Context<'_>,
    params: WorkspaceSessionParams,
) -> Result<DeleteResult, Fault> {
    let WorkspaceSessionParams { workspace_id, session_id, agent_type } = params;
    let params = DeleteParams { session_id: Some(session_id), workspace_id: Some(workspace_id), agent_type };
    delete(context, params).await
}

pub(crate) async fn delete(context: &Context<'_>, params: DeleteParams) -> Result<DeleteResult, Fault> {
    routing::check_agent_type(context, params.agent_type.as_deref())?;
    let doomed = match &params.session_id {
        Some(id) => {
            let (workspace, agent_type) = (params.workspace_id.as_deref(), params.agent_type.as_deref());
            // A runtime's own files are never touched: a past session becomes one of ours, and that is hidden.
            vec![routing::find_or_adopt(context, SessionSelector { id, workspace, cwd: None, agent_type }, None).await?]
        }
        None => {
            let mut all = match &params.workspace_id {
                Some(id) => workspace_sessions(&context.host.sessions, &context.host.workspaces.get(id)?).await?,
                None => listed_sessions(&context.host.sessions).await?,
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
