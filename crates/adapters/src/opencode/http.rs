//! The way to an OpenCode server: requests with JSON bodies, and its stream of events.

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

/// How long one answer may take; the server loads plugins before its first.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, and the right to talk to it.
#[derive(Clone, Debug)]
pub(super) struct Client {
    server: String,
    authorization: String,
    /// Where the session works, for a server that was started elsewhere.
    directory: Option<String>,
}

/// Why a request came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    /// The server could not be reached, or broke off.
    #[error("OpenCode could not be reached: {0}")]
    Broken(String),
    /// It took too long.
    #[error("OpenCode did not answer within {} s", PATIENCE.as_secs())]
    Late,
    /// It said no.
    #[error("OpenCode answered {status}: {body}")]
    Refused { status: StatusCode, body: Value },
}

fn broken(error: impl std::fmt::Display) -> HttpError {
    HttpError::Broken(error.to_string())
}

impl Client {
    /// The server at this `host:port`, and the name and password that it wants.
    pub(super) fn new(server: &str, user: &str, password: &str) -> Self {
        let authorization = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
        Self { server: server.to_owned(), authorization, directory: None }
    }

    /// The same, for what happens in this directory.
    pub(super) fn within(self, directory: &str) -> Self {
        Self { directory: Some(utf8_percent_encode(directory, NON_ALPHANUMERIC).to_string()), ..self }
    }

    /// Reads something.
    pub(super) async fn get(&self, path: &str) -> Result<Value, HttpError> {
        self.ask(Method::GET, path, None).await
    }

    /// Asks for something to be done.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, HttpError> {
        self.ask(Method::POST, path, Some(body)).await
    }

    /// Changes something.
    pub(super) async fn patch(&self, path: &str, body: &Value) -> Result<Value, HttpError> {
        self.ask(Method::PATCH, path, Some(body)).await
    }

    /// Listens to what happens from now on.
    pub(super) async fn events(&self) -> Result<Events, HttpError> {
        let opened = tokio::time::timeout(PATIENCE, self.send(Method::GET, "/event", None)).await;
        let (answer, connection) = opened.map_err(|_| HttpError::Late)??;
        Ok(Events { body: answer.into_body(), unread: Vec::new(), _connection: connection })
    }

    async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, HttpError> {
        let answered = async {
            let (answer, _connection) = self.send(method, path, body).await?;
            let status = answer.status();
            let bytes = answer.into_body().collect().await.map_err(broken)?.to_bytes();
            let said = || serde_json::Value::from(String::from_utf8_lossy(&bytes).as_ref());
            let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| said());
            if status.is_success() { Ok(body) } else { Err(HttpError::Refused { status, body }) }
        };
        tokio::time::timeout(PATIENCE, answered).await.map_err(|_| HttpError::Late)?
    }

    /// Sends a request on a connection of its own, which ends with the handle.
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
            // Whoever waits for the answer hears of it there.
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

/// What happens on a server, as it happens.
pub(super) struct Events {
    body: Incoming,
    /// The beginning of a line whose end has not come yet.
    unread: Vec<u8>,
    _connection: AbortOnDropHandle<()>,
}

impl Events {
    /// The next events; `None` when the server has hung up. May be dropped and called again.
    pub(super) async fn next_batch(&mut self) -> Option<Vec<String>> {
        loop {
            let frame = self.body.frame().await?.ok()?;
            let Ok(data) = frame.into_data() else { continue };
            self.unread.extend_from_slice(&data);
            let events = lines(&mut self.unread);
            if !events.is_empty() {
                return Some(events);
            }
        }
    }
}

/// Takes the data of the whole lines out of what has come.
fn lines(unread: &mut Vec<u8>) -> Vec<String> {
    let Some(end) = unread.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
    let whole: Vec<u8> = unread.drain(..=end).collect();
    let data = whole.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
    data.map(|data| String::from_utf8_lossy(data).trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_when_its_line_is_whole() {
        let mut unread = b"data: {\"a\":1}\n\n: comment\ndata: {\"b\"".to_vec();
        assert_eq!(lines(&mut unread), [r#"{"a":1}"#]);
        unread.extend_from_slice(b":2}\n\n");
        assert_eq!(lines(&mut unread), [r#"{"b":2}"#]);
        assert_eq!(unread, b"");
    }
}
