//! Answers that are streams of events.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use futures::{Stream, StreamExt, stream};
use roost_gateway::endpoint::{ReplayBuffer, Session};
use roost_gateway::era::{Era, NEWEST_LEGACY};
use tokio::sync::{OwnedMutexGuard, mpsc, watch};

use crate::guard::AdmittedRequest;
use crate::host::Host;
use crate::ws;

/// How often an open stream shows that it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a legacy client waits before it comes back to a stream that broke.
const RETRY: Duration = Duration::from_secs(1);

/// The status and the encoded response of a modern request.
pub(super) type ModernAnswer = Pin<Box<dyn Future<Output = (StatusCode, Arc<str>)> + Send>>;

/// A modern request's messages and then its answer. If the client closes the stream, the request is cancelled.
pub(super) fn modern_events(
    host: Arc<Host>,
    admitted: AdmittedRequest,
    first: Option<Arc<str>>,
    said: mpsc::Receiver<Arc<str>>,
    answering: ModernAnswer,
) -> Response {
    let rest = stream::unfold(Some((said, answering)), async |state| {
        let (mut said, mut answering) = state?;
        tokio::select! {
            // What was said before the answer comes before it.
            biased;
            Some(message) = said.recv() => Some((message, Some((said, answering)))),
            (_, response) = &mut answering => match said.try_recv() {
                Ok(message) => {
                    let answering: ModernAnswer = Box::pin(std::future::ready((StatusCode::OK, response)));
                    Some((message, Some((said, answering))))
                }
                Err(_) => Some((response, None)),
            },
        }
    });
    let messages = stream::iter(first).chain(rest);
    respond(host, admitted, messages.map(|message| Event::default().data(&*message)))
}

/// A legacy request's messages and its answer, after the number that the client has seen.
pub(super) fn legacy_events(
    host: Arc<Host>,
    admitted: AdmittedRequest,
    session: &Session,
    number: u64,
    events: Arc<ReplayBuffer>,
    after: u64,
) -> Response {
    let priming = priming(session, number).filter(|_| after == 0);
    let events = numbered(number, events, after);
    respond(host, admitted, stream::iter(priming).chain(events))
}

/// What belongs to no request, until the session ends. The guard keeps others from reading it at the same time.
pub(super) fn general_events(
    host: Arc<Host>,
    admitted: AdmittedRequest,
    session: Arc<Session>,
    reader: OwnedMutexGuard<()>,
    events: Arc<ReplayBuffer>,
    after: u64,
) -> Response {
    let priming = priming(&session, 0).filter(|_| after == 0);
    let events = numbered(0, events, after).map(move |event| {
        let _ = &reader;
        event
    });
    respond(host, admitted, stream::iter(priming).chain(events))
}

/// Returns when the runtime of an agent is gone, and its token with it.
pub(super) async fn runtime_ended(mut runtime: watch::Receiver<()>) {
    while runtime.changed().await.is_ok() {}
}

/// Tells the client under which id it can come back, before there is anything to say. Older clients do not expect it.
fn priming(session: &Session, number: u64) -> Option<Event> {
    let is_expected = session.context.profile.era == Era::Legacy(NEWEST_LEGACY.to_owned());
    is_expected.then(|| Event::default().id(format!("{number}_0")).retry(RETRY).data(""))
}

fn numbered(number: u64, events: Arc<ReplayBuffer>, after: u64) -> impl Stream<Item = Event> + Send + 'static {
    stream::unfold((events, after), move |(events, after)| async move {
        let (at, message) = events.after(after).await?;
        Some((Event::default().id(format!("{number}_{at}")).data(&*message), (events, at)))
    })
}

/// The stream and the number in it that an event's id names.
pub(super) fn read_event_id(id: &str) -> Option<(u64, u64)> {
    let (stream, at) = id.split_once('_')?;
    Some((stream.parse().ok()?, at.parse().ok()?))
}

/// A stream ends when its client may no longer be connected, its agent is gone, or the daemon stops.
fn respond(host: Arc<Host>, admitted: AdmittedRequest, events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let AdmittedRequest { client, runtime, .. } = admitted;
    let dismissed = Box::pin(async move {
        let agent_gone = async {
            match runtime {
                Some(runtime) => runtime_ended(runtime).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = ws::dismissed(&host, client) => {}
            () = agent_gone => {}
        }
    });
    let events = events.take_until(dismissed).map(Ok::<_, Infallible>);
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}
