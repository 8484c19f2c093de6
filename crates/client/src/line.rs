//! The wire format: one JSON-RPC message per line, in both directions.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use futures::StreamExt;
use roost_rpc::{ClientInfo, Fault, InitializeParams, Method, PROTOCOL_VERSION};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Decoder, FramedRead, LinesCodec, LinesCodecError};

use crate::error::Error;

/// The longest line, in bytes. The daemon sends none beyond 1 MiB, so a much longer one comes from something else.
const MAX_LINE: usize = 8 << 20;

/// The lines that the daemon sends.
pub(crate) struct IncomingLines(FramedRead<OwnedReadHalf, TerminatedLines>);

/// A decoder that yields only lines with a line end. What a killed daemon could not finish is dropped.
struct TerminatedLines(LinesCodec);

impl Decoder for TerminatedLines {
    type Item = String;
    type Error = LinesCodecError;

    fn decode(&mut self, bytes: &mut BytesMut) -> Result<Option<String>, LinesCodecError> {
        self.0.decode(bytes)
    }
}

/// Where connections of a client lead.
#[derive(Clone)]
pub(crate) enum Endpoint {
    /// The daemon's socket at this path.
    Path(PathBuf),
    /// The daemon that this process is: every call makes a new connection to it.
    InProcess(Arc<dyn Fn() -> io::Result<UnixStream> + Send + Sync>),
}

/// Opens a connection; nothing is sent yet.
pub(crate) async fn connect(endpoint: &Endpoint) -> Result<(IncomingLines, OwnedWriteHalf), Error> {
    let stream = match endpoint {
        Endpoint::Path(path) => {
            UnixStream::connect(path).await.map_err(|source| Error::Io { path: path.into(), source })?
        }
        Endpoint::InProcess(open) => open().map_err(|source| Error::Io { path: PathBuf::new(), source })?,
    };
    let (read, write) = stream.into_split();
    Ok((IncomingLines(FramedRead::new(read, TerminatedLines(LinesCodec::new_with_max_length(MAX_LINE)))), write))
}

impl IncomingLines {
    /// The next line; [`Error::Gone`] at the end. Cancel safe.
    pub(crate) async fn next(&mut self) -> Result<String, Error> {
        match self.0.next().await {
            None | Some(Err(LinesCodecError::Io(_))) => Err(Error::Gone),
            Some(Ok(line)) => Ok(line),
            Some(Err(LinesCodecError::MaxLineLengthExceeded)) => {
                Err(Error::Protocol(format!("a line is longer than {MAX_LINE} bytes")))
            }
        }
    }
}

/// A message of the daemon. One with none of these fields, such as a heartbeat, is ignored.
#[derive(Deserialize)]
pub(crate) struct Message<'a> {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    pub(crate) method: Option<String>,
    #[serde(default, borrow)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<Fault>,
}

/// A message from the daemon that answers no call.
#[derive(Clone, Debug)]
pub struct Notification {
    /// Its name, such as `git_operation_progress`.
    pub event: String,
    /// Its parameters, as the method table's events describe them.
    pub params: Box<RawValue>,
}

impl<'a> Message<'a> {
    pub(crate) fn read(line: &'a str) -> Result<Self, Error> {
        let line = if line.trim().is_empty() { "{}" } else { line };
        serde_json::from_str(line).map_err(|error| Error::Protocol(error.to_string()))
    }

    /// The notification in this message, if it is one.
    pub(crate) fn notification(&self) -> Option<Notification> {
        let (method, params) = (self.method.as_deref()?, self.params?);
        let event = method.strip_prefix("event/").unwrap_or(method).to_owned();
        Some(Notification { event, params: params.to_owned() })
    }

    /// The id of the call that this message answers, and the answer; `None` if it is no answer.
    pub(crate) fn answer(self) -> Option<(u64, Result<&'a RawValue, Error>)> {
        let id = self.id?.as_u64()?;
        let answer = match (self.result, self.error) {
            (_, Some(fault)) => Err(fault.into()),
            (Some(result), None) => Ok(result),
            (None, None) => Err(Error::Protocol("an answer has neither a result nor an error".into())),
        };
        Some((id, answer))
    }
}

/// Encodes a request as one line.
pub(crate) fn request(id: u64, method: Method, params: &impl Serialize) -> Result<String, Error> {
    #[derive(Serialize)]
    struct RpcRequest<'a, P> {
        jsonrpc: &'a str,
        id: u64,
        method: &'a str,
        params: &'a P,
    }
    let request = RpcRequest { jsonrpc: "2.0", id, method: method.name(), params };
    let mut line = serde_json::to_string(&request).map_err(|error| Error::Protocol(error.to_string()))?;
    line.push('\n');
    Ok(line)
}

/// Decodes the result of a method.
pub(crate) fn result<T: for<'de> Deserialize<'de>>(method: Method, answer: &RawValue) -> Result<T, Error> {
    serde_json::from_str(answer.get()).map_err(|error| Error::Protocol(format!("{}: {error}", method.name())))
}

/// The parameters of `initialize`, which every connection begins with.
pub(crate) fn hello() -> InitializeParams {
    let info = ClientInfo { name: Some("roost".into()), version: Some(env!("CARGO_PKG_VERSION").into()) };
    InitializeParams {
        protocol_version: Some(PROTOCOL_VERSION.into()),
        client_info: Some(info),
        ..InitializeParams::default()
    }
}
