//! An answer that comes as a stream of events, before which the server may say more, or ask.

use std::time::Duration;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use reqwest::header::ACCEPT;
use reqwest::{Response, StatusCode};
use serde_json::value::RawValue;

use super::super::http_client::unreachable;
use super::super::open_call::OpenCall;
use super::super::open_calls::pong;
use super::super::service_log::LogSource;
use super::super::sse_reader::{Event, SseReader, StreamError};
use super::super::{ServerAnswer, UpstreamError};
use super::{HttpError, HttpLink, HttpSession, headers};
use crate::era::Era;
use crate::jsonrpc::{self, ServerMessage};
use crate::lifecycle::ServiceFault;

/// How long to wait before a stream is resumed, unless the server says how long.
pub(super) const RETRY: Duration = Duration::from_secs(1);
/// How often in a row a stream is resumed without an event.
const MAX_RESUMPTIONS: u32 = 5;

impl HttpLink {
    /// Reads the answer to a request from a stream; a legacy server's stream is resumed if it breaks.
    pub(super) async fn stream_answer(
        &self,
        session: &HttpSession,
        response: Response,
        id: u64,
        call: &OpenCall,
    ) -> Result<ServerAnswer, HttpError> {
        let max_event = self.target.limits.max_payload;
        let mut events = SseReader::new(response.bytes_stream().boxed(), max_event);
        let mut questions = FuturesUnordered::new();
        let mut resumptions = 0;
        loop {
            let event = tokio::select! {
                Some((question, answer)) = questions.next(), if !questions.is_empty() => {
                    let question: Box<RawValue> = question;
                    self.respond(session, &question, &answer).await?;
                    continue;
                }
                event = events.next() => event,
            };
            match event {
                Ok(Some(event)) => {
                    resumptions = 0;
                    match self.on_event(&event, id, call).await {
                        EventKind::Answer(answer) => return Ok(answer),
                        EventKind::Question(question, answer) => {
                            questions.push(answer.map(|answer| (question, answer)))
                        }
                        EventKind::Other => {}
                    }
                }
                Err(StreamError::TooLong) => return Err(self.target.limits.too_long(max_event as u64).into()),
                Ok(None) | Err(StreamError::Broken(_)) => {
                    let resumable = session.era != Era::Modern && resumptions < MAX_RESUMPTIONS;
                    let Some(last_id) = events.last_id.clone().filter(|_| resumable) else {
                        let message = "it closed the stream before it answered";
                        return Err(UpstreamError::Failed(ServiceFault::Unreachable, message.into()).into());
                    };
                    resumptions += 1;
                    let retry = events.retry;
                    tokio::time::sleep(retry.unwrap_or(RETRY)).await;
                    let response = self.get_stream(session, Some(&last_id)).await?;
                    events = SseReader::new(response.bytes_stream().boxed(), max_event);
                    (events.last_id, events.retry) = (Some(last_id), retry);
                }
            }
        }
    }

    /// Opens the stream of a legacy server: its own, or after an event of any other.
    pub(super) async fn get_stream(&self, session: &HttpSession, last_id: Option<&str>) -> Result<Response, HttpError> {
        let mut headers = headers::of_session(session, true);
        headers.insert(ACCEPT, reqwest::header::HeaderValue::from_static("text/event-stream"));
        let mut request = self.target.client.get(self.target.endpoint.clone()).headers(headers);
        if let Some(last_id) = last_id {
            request = request.header("last-event-id", last_id);
        }
        if let Some((name, value)) = self.target.auth.header().await? {
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(|error| unreachable(&error))?;
        let response = self.checked(session, response).await?;
        match headers::media_type(&response).as_str() {
            "text/event-stream" => Ok(response),
            _ => Err(HttpError::Status(StatusCode::NOT_ACCEPTABLE, None)),
        }
    }

    /// Answers a request of a legacy server.
    pub(super) async fn respond(
        &self,
        session: &HttpSession,
        id: &RawValue,
        answer: &ServerAnswer,
    ) -> Result<(), HttpError> {
        let answer = answer.as_deref().map_err(|error| &**error);
        self.tell(session, None, jsonrpc::response(id, answer)).await
    }

    async fn on_event<'a>(&self, event: &Event, id: u64, call: &'a OpenCall) -> EventKind<'a> {
        match jsonrpc::parse(&event.data) {
            Some(ServerMessage::Response { id: answered, answer }) if answered == id => {
                return EventKind::Answer(answer.map(ToOwned::to_owned).map_err(ToOwned::to_owned));
            }
            Some(ServerMessage::Request { id, method, .. }) if method == "ping" => {
                return EventKind::Question(id.to_owned(), std::future::ready(Ok(pong())).boxed());
            }
            Some(ServerMessage::Request { id, method, params }) => {
                let (method, params) = (method.into_owned(), params.map(ToOwned::to_owned));
                return EventKind::Question(id.to_owned(), call.ask(method, params).boxed());
            }
            Some(ServerMessage::Notification { method, params }) => match &*method {
                "notifications/progress" | "notifications/message" => call.notify(method.into_owned(), params).await,
                _ => self.calls.on_notification(method.into_owned(), params, &self.unasked).await,
            },
            Some(ServerMessage::Response { .. }) => {
                self.target.log.line(LogSource::Gateway, "skipped an answer under the id of another request");
            }
            None if event.data.is_empty() => {}
            None => self.target.log.line(LogSource::Gateway, "skipped an event that is no message of MCP"),
        }
        EventKind::Other
    }
}

/// What an event of an answer's stream is.
enum EventKind<'a> {
    Answer(ServerAnswer),
    Question(Box<RawValue>, futures::future::BoxFuture<'a, ServerAnswer>),
    Other,
}
