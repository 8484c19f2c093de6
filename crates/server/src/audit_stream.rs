//! `GET /api/events`: what happens at the gateway, as a stream of server-sent events.
//!
//! An event's id is the number of its record, so a client that comes back with `Last-Event-ID` misses nothing. Clients of
//! clarity-runtime listen with `EventSource.onmessage`, which hears only events without a name; the kind is in the data.
//! With `?names=1` every event is named by its kind as well, for clients that listen to single kinds.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router, routing};
use futures::stream;
use roost_log::{Filter, Follower, Start, StreamId};
use roost_model::ids::SessionId;
use roost_rpc::{AuditRecord, Method};
use serde::Deserialize;

use crate::dispatch::Context;
use crate::fault;
use crate::guard::AdmittedRequest;
use crate::handlers::audit;
use crate::host::Host;
use crate::http::reserve_socket;
use crate::rest::refuse;
use crate::ws;

/// How often a silent stream says that it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// The records that a client without `Last-Event-ID` gets first.
const REPLAYED: usize = 100;

pub(crate) fn routes() -> Router<Arc<Host>> {
    Router::new().route("/api/events", routing::get(open))
}

/// Whether events are named by their kinds.
#[derive(Default, Deserialize)]
struct Naming {
    #[serde(default)]
    names: u8,
}

async fn open(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<AdmittedRequest>,
    Query(Naming { names }): Query<Naming>,
    headers: HeaderMap,
) -> Response {
    if let Err(fault) = admitted.caller.may(Method::AuditList) {
        return refuse(&fault);
    }
    let permit = match reserve_socket(&host, &admitted.caller) {
        Ok(permit) => permit,
        Err(why) => return refuse(&roost_rpc::Fault::new(roost_rpc::FaultCode::RateLimited, why)),
    };
    let last_id = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.trim().parse::<u64>().ok());
    let start = match last_id {
        Some(seq) => Ok(seq),
        None => first_replayed(&host, &admitted).await,
    };
    let host_stream = StreamId::from(&SessionId::host());
    let followed = match start {
        Ok(seq) => {
            let filter = Filter::stream(host_stream.clone());
            host.sessions.log.follow(filter, Start::AfterSeq(host_stream, seq)).await.map_err(fault::log)
        }
        Err(fault) => Err(fault),
    };
    let follower = match followed {
        Ok(follower) => follower,
        Err(fault) => return refuse(&fault),
    };
    let reader = AuditReader { follower, waiting: Vec::new().into_iter() };
    let records = stream::unfold(reader, |mut reader| async { Some((reader.next().await?, reader)) });
    let until = Box::pin({
        let host = host.clone();
        async move {
            ws::dismissed(&host, admitted.client).await;
            drop(permit);
        }
    });
    let events = futures::StreamExt::map(records, move |record| Ok::<_, Infallible>(to_event(&record, names > 0)));
    let events = futures::StreamExt::take_until(events, until);
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

/// The number after which the last records come.
async fn first_replayed(host: &Arc<Host>, admitted: &AdmittedRequest) -> Result<u64, roost_rpc::Fault> {
    let recent = audit::last(&Context::single(host, &admitted.caller), &[], REPLAYED, |_, _| true).await?;
    Ok(recent.items.first().map_or(recent.last, |first| first.seq - 1))
}

fn to_event(record: &AuditRecord, is_named: bool) -> Event {
    let event = Event::default().id(record.seq.to_string());
    let event = if is_named { event.event(&record.kind) } else { event };
    // A record is always JSON; if not, the client gets its number.
    event.json_data(record).unwrap_or_else(|_| Event::default().id(record.seq.to_string()))
}

struct AuditReader {
    follower: Follower,
    waiting: std::vec::IntoIter<AuditRecord>,
}

impl AuditReader {
    async fn next(&mut self) -> Option<AuditRecord> {
        loop {
            if let Some(record) = self.waiting.next() {
                return Some(record);
            }
            match self.follower.next().await {
                Ok(batch) => {
                    let events = batch.iter().filter_map(|entry| entry.event().ok());
                    let records: Vec<_> = events.filter_map(audit::from_event).collect();
                    self.waiting = records.into_iter();
                }
                // The follower goes on with what is still stored.
                Err(roost_log::Error::Truncated { .. }) => {}
                Err(_) => return None,
            }
        }
    }
}
