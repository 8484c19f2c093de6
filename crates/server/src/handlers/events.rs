//! `events/*`, `log/read` and `artifact/read`: follows and reads the log.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use futures::future::join_all;
use roost_engine::ArtifactError;
use roost_log::{Entry, Filter, RowChange, RowKind, Start, StreamId};
use roost_model::event::NormalizedEventType;
use roost_model::ids::ArtifactId;
use roost_rpc::{
    AckParams, AckResult, ArtifactParams, ArtifactResult, EventFormat, EventsSubscribeResult, Fault, FaultCode,
    LogReadParams, LogReadResult, SubscribeParams, Success, UnsubscribeParams,
};
use serde_json::value::RawValue;

use super::past::FoundSession;
use super::routing::{self, SessionSelector};
use super::{shape, watching};
use crate::cdev::notify::Naming;
use crate::dispatch::{Context, PAGE_BYTES};
use crate::fault;
use crate::feed::{Feed, NotificationFilter, ResumePoint, Selection, is_named, truncated};
use crate::host::Sessions;

/// Events of a page: the default, and the most.
const PAGE: u32 = 1000;
const MAX_PAGE: u32 = 10_000;
/// Bytes of one piece of an artifact: the default, and the most.
const PIECE: u32 = 256 << 10;
const MAX_PIECE: u32 = 512 << 10;
/// The greatest length of a reader's name, in characters.
const MAX_NAME: usize = 100;

pub(crate) async fn subscribe(context: &Context<'_>, params: SubscribeParams) -> Result<EventsSubscribeResult, Fault> {
    let connection = context.connected()?;
    let format = params.format.unwrap_or_default();
    let mut after = params.after.as_deref().map(str::parse::<ResumePoint>).transpose()?;
    if let (Some(name), None) = (&params.name, &after) {
        after = acknowledged_point(context, name).await?;
    }
    let (mut sessions, mut past) = (HashSet::new(), Vec::new());
    for id in params.sessions.unwrap_or_default() {
        let found = routing::find_session(context, SessionSelector { id: &id, ..SessionSelector::default() }).await?;
        sessions.insert(found.record().session_id.to_string());
        if let FoundSession::Past(kept) = found {
            past.push(kept);
        }
    }
    let workspaces: HashSet<_> = params.workspaces.unwrap_or_default().into_iter().collect();
    for id in &workspaces {
        context.host.workspaces.get(id)?;
    }
    let types: HashSet<_> = params.types.unwrap_or_default().into_iter().collect();
    let start = after.map_or(Start::Now, ResumePoint::start);
    let lost = |error| match after {
        Some(after) => truncated(error, after),
        None => fault::log(error),
    };
    let naming = if params.neutral_names == Some(true) { Naming::Neutral } else { Naming::Claude };
    let wanted = types.clone();
    let (cursor, feed) = match format {
        EventFormat::Normalized => {
            let follower = context.host.sessions.log.follow(filter(&sessions, &types)?, start).await.map_err(lost)?;
            (follower.cursor(), Feed::normalized(context.host.clone(), connection.clone(), follower, workspaces))
        }
        EventFormat::Cdev => {
            let selection = Selection::Named(NotificationFilter { types, sessions, workspaces });
            let follower = context.host.sessions.log.follow(selection.filter(), start).await.map_err(lost)?;
            let (host, connection) = (context.host.clone(), connection.clone());
            (follower.cursor(), Feed::cdev(host, connection, selection, naming, follower, after))
        }
    };
    let replaced = connection.feeds().put(format, feed);
    join_all(replaced.into_iter().map(Feed::end)).await;
    // The log's own form has nothing of what the log does not know.
    for kept in past.iter().filter(|_| format == EventFormat::Cdev) {
        let (workspace, wanted) = (shape::workspace_id(&context.host.workspaces, &kept.record()), wanted.clone());
        watching::tail(context, kept, workspace, naming, move |event| is_named(&wanted, event)).await?;
    }
    Ok(EventsSubscribeResult { format, cursor: cursor.to_string() })
}

/// The filter by session and type, which the log itself applies.
fn filter(sessions: &HashSet<String>, types: &HashSet<String>) -> Result<Filter, Fault> {
    let filter = match sessions.is_empty() {
        true => Filter::all(),
        false => Filter::streams(sessions.iter().map(|session| StreamId::from(session.as_str()))),
    };
    if types.is_empty() {
        return Ok(filter);
    }
    Ok(filter.types(types.iter().map(|name| event_type(name)).collect::<Result<Vec<_>, _>>()?))
}

fn event_type(name: &str) -> Result<NormalizedEventType, Fault> {
    NormalizedEventType::from_name(name).ok_or_else(|| {
        Fault::params(format_args!("no event type \"{name}\"; the schema of normalized_event lists them"))
    })
}

pub(crate) async fn unsubscribe(context: &Context<'_>, params: UnsubscribeParams) -> Result<Success, Fault> {
    let connection = context.connected()?;
    let removed = connection.feeds().remove(params.format);
    join_all(removed.into_iter().map(Feed::end)).await;
    Ok(Success::DONE)
}

pub(crate) async fn ack(context: &Context<'_>, params: AckParams) -> Result<AckResult, Fault> {
    let place: ResumePoint = params.cursor.parse()?;
    let id = reader_id(context, &params.name)?;
    let body =
        serde_json::to_string(&place.to_string()).map_err(|error| Fault::new(FaultCode::InternalError, error))?;
    let change = RowChange { kind: RowKind::Cursor, id, body: Some(body) };
    context.host.sessions.log.keep(vec![change], Vec::new()).await.map_err(fault::log)?;
    Ok(AckResult { name: params.name, cursor: params.cursor })
}

/// The position that a named reader acknowledged last; `None` if it never did.
async fn acknowledged_point(context: &Context<'_>, name: &str) -> Result<Option<ResumePoint>, Fault> {
    let id = reader_id(context, name)?;
    let rows = context.host.sessions.log.rows(RowKind::Cursor).await.map_err(fault::log)?;
    let Some((_, body)) = rows.into_iter().find(|(row, _)| *row == id) else { return Ok(None) };
    let text: String = serde_json::from_str(&body).map_err(|error| Fault::new(FaultCode::InternalError, error))?;
    text.parse().map(Some)
}

/// The row id of a named reader, which is unique within its device.
fn reader_id(context: &Context<'_>, name: &str) -> Result<String, Fault> {
    if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        return Err(Fault::params(format_args!("a reader's name has 1 to {MAX_NAME} visible characters")));
    }
    Ok(format!("{}/{name}", context.caller.account()))
}

pub(crate) async fn read(sessions: &Sessions, params: LogReadParams) -> Result<LogReadResult, Fault> {
    let record = sessions.get(&params.session_id).await?;
    let types = params.types.unwrap_or_default();
    if let Some(before) = params.before_seq {
        return read_back(sessions, &StreamId::from(&record.session_id), before, &types, params.limit).await;
    }
    if !types.is_empty() {
        return Err(Fault::params("types needs before_seq; 9007199254740991 is the end"));
    }
    let after = params.after_seq.unwrap_or(0);
    let limit = params.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let stream = StreamId::from(&record.session_id);
    let page = sessions.log.read(&stream, after, limit as usize).await.map_err(fault::log)?;
    if after > page.last_seq {
        return Err(fault::log(roost_log::Error::Ahead { stream, seq: after, last_seq: page.last_seq }));
    }
    let (mut events, mut size, mut last_seq) = (Vec::new(), 0, after);
    for entry in &page.batch {
        size += entry.json().len() + 1;
        // One event that is too big for a frame by itself is told, not passed over.
        if size > PAGE_BYTES && !events.is_empty() {
            break;
        }
        let raw = RawValue::from_string(entry.json().to_owned());
        events.push(raw.map_err(|error| Fault::new(FaultCode::InternalError, error))?);
        last_seq = entry.seq();
    }
    Ok(LogReadResult { events, last_seq, has_more: last_seq < page.last_seq })
}

/// The last events before `before`: as many of them as fit.
async fn read_back(
    sessions: &Sessions,
    stream: &StreamId,
    before: u64,
    types: &[String],
    limit: Option<u32>,
) -> Result<LogReadResult, Fault> {
    let types = types.iter().map(|name| event_type(name)).collect::<Result<Vec<_>, _>>()?;
    let limit = limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let page = sessions.log.read_back(stream, before, &types, limit as usize).await.map_err(fault::log)?;
    let entries: Vec<_> = page.batch.iter().collect();
    let mut size = 0;
    // One event that is too big for a frame by itself is told, not passed over.
    let fits = entries.iter().rev().take_while(|entry| {
        size += entry.json().len() + 1;
        size <= PAGE_BYTES || size == entry.json().len() + 1
    });
    let shown = &entries[entries.len() - fits.count()..];
    let raw = |entry: &Entry<'_>| RawValue::from_string(entry.json().to_owned());
    let events = shown.iter().map(raw).collect::<Result<Vec<_>, _>>();
    Ok(LogReadResult {
        events: events.map_err(|error| Fault::new(FaultCode::InternalError, error))?,
        last_seq: shown.last().map_or(0, |entry| entry.seq()),
        has_more: page.has_more || shown.len() < entries.len(),
    })
}

pub(crate) async fn artifact(sessions: &Sessions, params: ArtifactParams) -> Result<ArtifactResult, Fault> {
    let id = ArtifactId::from(params.artifact_id.as_str());
    let bytes = sessions.engine.artifacts().get(&id).await.map_err(|error| {
        let code = match error {
            ArtifactError::BadId(_) | ArtifactError::NotFound(_) => FaultCode::InvalidParams,
            _ => FaultCode::InternalError,
        };
        Fault::new(code, format_args!("artifact {id} cannot be read; it may have been removed by retention"))
    })?;
    let size = bytes.len() as u64;
    let offset = params.offset.unwrap_or(0).min(size);
    let length = u64::from(params.length.unwrap_or(PIECE).clamp(1, MAX_PIECE)).min(size - offset);
    let piece = &bytes[offset as usize..(offset + length) as usize];
    let (encoding, content) = match std::str::from_utf8(piece) {
        Ok(text) => ("utf-8", text.to_owned()),
        Err(_) => ("base64", BASE64.encode(piece)),
    };
    Ok(ArtifactResult { artifact_id: params.artifact_id, encoding: encoding.into(), content, offset, size })
}
