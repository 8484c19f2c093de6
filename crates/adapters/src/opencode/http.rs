//! A client for an OpenCode server: requests with JSON bodies, and its event stream.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;

/// How long a response may take; the server loads plugins before its first.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// The address of a server and the credentials for it. Every request opens a connection of its own.
#[derive(Clone, Debug)]
pub(super) struct Client {
    server: String,
    authorization: String,
    /// The working directory, percent-encoded and sent with every request, for a server that was started elsewhere.
    directory: Option<String>,
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    /// The connection failed or broke.
    #[error("OpenCode could not be reached: {0}")]
    Broken(String),
    /// No response within [`RESPONSE_TIMEOUT`].
    #[error("OpenCode did not answer within {} s", RESPONSE_TIMEOUT.as_secs())]
    Late,
    /// A response with a status other than success; `body` is a string if it is not JSON.
    #[error("OpenCode answered {status}: {body}")]
    Refused { status: StatusCode, body: Value },
}

fn broken(error: impl std::fmt::Display) -> HttpError {
    HttpError::Broken(error.to_string())
}

impl Client {
    /// A client for the server at this `host:port`, with HTTP basic authentication.
    pub(super) fn new(server: &str, user: &str, password: &str) -> Self {
        let authorization = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
        Self { server: server.to_owned(), authorization, directory: None }
    }

    /// The same client for another working directory than the server's.
    pub(super) fn within(self, directory: &str) -> Self {
        Self { directory: Some(utf8_percent_encode(directory, NON_ALPHANUMERIC).to_string()), ..self }
    }

    /// Sends a GET request.
    pub(super) async fn get(&self, path: &str) -> Result<Value, HttpError> {
        self.request(Method::GET, path, None).await
    }

    /// Sends a POST request.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, HttpError> {
        self.request(Method::POST, path, Some(body)).await
    }

    /// Sends a PATCH request.
    pub(super) async fn patch(&self, path: &str, body: &Value) -> Result<Value, HttpError> {
        self.request(Method::PATCH, path, Some(body)).await
    }

    /// Opens the event stream, which brings events from now on.
    pub(super) async fn events(&self) -> Result<EventStream, HttpError> {
        let opened = tokio::time::timeout(RESPONSE_TIMEOUT, self.send(Method::GET, "/event", None)).await;
        let (answer, connection) = opened.map_err(|_| HttpError::Late)??;
        Ok(EventStream { body: answer.into_body(), unread: Vec::new(), _connection: connection })
    }

    async fn request(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, HttpError> {
        let answered = async {
            let (answer, _connection) = self.send(method, path, body).await?;
            let status = answer.status();
            let bytes = answer.into_body().collect().await.map_err(broken)?.to_bytes();
            let text = || serde_json::Value::from(String::from_utf8_lossy(&bytes).as_ref());
            let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| text());
            if status.is_success() { Ok(body) } else { Err(HttpError::Refused { status, body }) }
        };
        tokio::time::timeout(RESPONSE_TIMEOUT, answered).await.map_err(|_| HttpError::Late)?
    }

    /// Sends a request on a connection of its own, which is aborted when the handle is dropped.
    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(Response<Incoming>, AbortOnDropHandle<()>), HttpError> {
        let stream = TcpStream::connect(&self.server).await.map_err(broken)?;
        stream.set_nodelay(true).map_err(broken)?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
        let connection = AbortOnDropHandle::new(tokio::spawn(async move {
            // An error reaches whoever waits for the response.
            let _ = connection.await;
        }));
        let path = match &self.directory {
            Some(directory) => format!("{path}?directory={directory}"),
            None => path.to_owned(),
        };
        let bytes = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, &self.server)
            .header(AUTHORIZATION, &self.authorization)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(bytes))
            .map_err(broken)?;
        let answer = sender.send_request(request).await.map_err(broken)?;
        Ok((answer, connection))
    }
}

/// The event stream of a server (server-sent events).
pub(super) struct EventStream {
    body: Incoming,
    /// The beginning of a line that has not arrived completely.
    unread: Vec<u8>,
    _connection: AbortOnDropHandle<()>,
}

impl EventStream {
    /// The next events, at least one, as JSON text; `None` when the stream has ended. Cancel safe.
    pub(super) async fn next_batch(&mut self) -> Option<Vec<String>> {
        loop {
            let frame = self.body.frame().await?.ok()?;
            let Ok(data) = frame.into_data() else { continue };
            self.unread.extend_from_slice(&data);
            let events = take_data_lines(&mut self.unread);
            if !events.is_empty() {
                return Some(events);
            }
        }
    }
}

/// Takes the complete lines out of the buffer and returns the content of those that begin with `data:`.
fn take_data_lines(unread: &mut Vec<u8>) -> Vec<String> {
    let Some(end) = unread.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
    let complete: Vec<u8> = unread.drain(..=end).collect();
    let data = complete.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
    data.map(|data| String::from_utf8_lossy(data).trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_when_its_line_is_whole() {
        let mut unread = b"data: {\"a\":1}\n\n: comment\ndata: {\"b\"".to_vec();
        assert_eq!(take_data_lines(&mut unread), [r#"{"a":1}"#]);
        unread.extend_from_slice(b":2}\n\n");
        assert_eq!(take_data_lines(&mut unread), [r#"{"b":2}"#]);
        assert_eq!(unread, b"");
    }
}
