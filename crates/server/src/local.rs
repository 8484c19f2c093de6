//! A connection over the local socket: one message per line, from the user of this machine.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use roost_rpc::{Fault, FaultCode, Id, Response};
use tokio::io::{AsyncWriteExt, BufWriter};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio_util::codec::{AnyDelimiterCodec, AnyDelimiterCodecError, Decoder, FramedRead};

use crate::agents;
use crate::caller::Caller;
use crate::connection::{Connection, Outgoing};
use crate::goodbye::WriteProgress;
use crate::host::Host;
use crate::mcp::{self, AttachLine, LineConnection};

/// Serves a local client until it is gone or the server stops.
pub(crate) async fn serve(stream: UnixStream, host: Arc<Host>) {
    // The directory keeps others out; this is the second lock on the same door.
    let is_ours = stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::getuid().as_raw());
    if !is_ours {
        tracing::warn!("Another user knocked at the local socket and was not let in.");
        return;
    }
    let caller = agents::caller(&host.sessions.engine, &stream).await;
    serve_as(stream, host, caller).await;
}

/// Serves a client that is known already, until it is gone or the server stops.
pub(crate) async fn serve_as(stream: UnixStream, host: Arc<Host>, caller: Caller) {
    let (connection, outgoing) = Connection::open(&host, caller);
    let (reader, writer) = stream.into_split();
    let progress = WriteProgress::default();
    let mut writing = pin!(write(writer, outgoing, &progress));
    let speaks_mcp = AtomicBool::new(false);
    let closing = tokio::select! {
        () = read(reader, &connection, &host, &speaks_mcp) => false,
        () = &mut writing => false,
        () = host.daemon.closing.cancelled() => true,
    };
    if closing {
        let last_words = async {
            if !speaks_mcp.load(Ordering::Relaxed) {
                connection.notify_shutdown(&host).await;
            }
            connection.say_goodbye(0, "").await;
        };
        // Written meanwhile, because there may be no room for them yet.
        progress.drive(async { tokio::join!(last_words, writing) }).await;
    }
    connection.close(&host);
}

async fn read(reader: OwnedReadHalf, connection: &Arc<Connection>, host: &Arc<Host>, speaks_mcp: &AtomicBool) {
    let max = host.settings.limits.max_frame_bytes;
    let codec = AnyDelimiterCodec::new_with_max_length(b"\n".to_vec(), Vec::new(), max);
    let mut lines = FramedRead::new(reader, LineDecoder(codec));
    let mut is_first = true;
    while let Some(Ok(line)) = lines.next().await {
        if let IncomingLine::Complete(line) = &line
            && std::mem::take(&mut is_first)
            && let Some(attach) = AttachLine::parse(line)
        {
            speaks_mcp.store(true, Ordering::Relaxed);
            return read_mcp(lines, connection, host, &attach).await;
        }
        match line {
            IncomingLine::Complete(line) if line.iter().all(u8::is_ascii_whitespace) => {}
            IncomingLine::Complete(line) => connection.receive(host, &line).await,
            IncomingLine::TooLong => {
                let fault = Fault::new(FaultCode::InvalidRequest, format_args!("a message has {max} bytes at most"));
                connection.send(Response::error(Id::NULL, fault).encode().into()).await;
            }
        }
    }
}

/// Carries lines of MCP both ways, until the client or the gateway has enough.
async fn read_mcp(
    mut lines: FramedRead<OwnedReadHalf, LineDecoder>,
    connection: &Connection,
    host: &Host,
    attach: &AttachLine,
) {
    match mcp::serve_lines(host, &connection.caller, attach) {
        Ok(LineConnection { incoming, mut outgoing }) => {
            let sending = async move {
                while let Some(Ok(line)) = lines.next().await {
                    let line = match line {
                        IncomingLine::Complete(line) if line.iter().all(u8::is_ascii_whitespace) => continue,
                        IncomingLine::Complete(line) => line.to_vec(),
                        // The gateway says that this is no message.
                        IncomingLine::TooLong => Vec::new(),
                    };
                    if incoming.send(line).await.is_err() {
                        break;
                    }
                }
                drop(incoming);
                // The answers to what was asked are still to come.
                std::future::pending::<()>().await;
            };
            let receiving = async {
                while let Some(message) = outgoing.recv().await {
                    if !connection.send((*message).into()).await {
                        return;
                    }
                }
            };
            tokio::select! {
                () = sending => {}
                () = receiving => {}
            }
        }
        Err(refusal) => {
            connection.send((*refusal).into()).await;
        }
    }
    // The writer ends the connection after what is already to be written.
    connection.say_goodbye(0, "").await;
    std::future::pending::<()>().await;
}

/// One line of input, or the fact that it was too long.
enum IncomingLine {
    Complete(Bytes),
    /// The line is longer than a message may be; the decoder skips the rest of it.
    TooLong,
}

/// Splits the input into lines. A line that is too long is an item, not an error, because `FramedRead` ends with the
/// first error.
struct LineDecoder(AnyDelimiterCodec);

impl Decoder for LineDecoder {
    type Item = IncomingLine;
    type Error = std::io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<IncomingLine>, std::io::Error> {
        match self.0.decode(buffer) {
            Ok(line) => Ok(line.map(IncomingLine::Complete)),
            Err(AnyDelimiterCodecError::MaxChunkLengthExceeded) => Ok(Some(IncomingLine::TooLong)),
            Err(AnyDelimiterCodecError::Io(error)) => Err(error),
        }
    }
}

async fn write(writer: OwnedWriteHalf, mut outgoing: mpsc::Receiver<Outgoing>, progress: &WriteProgress) {
    let mut writer = BufWriter::new(writer);
    while let Some(next) = outgoing.recv().await {
        let mut next = Some(next);
        while let Some(Outgoing::Text(text, _room)) = next {
            let line: Bytes = text.into();
            if writer.write_all(&line).await.is_err() || writer.write_all(b"\n").await.is_err() {
                return;
            }
            progress.step();
            next = outgoing.try_recv().ok();
        }
        if writer.flush().await.is_err() || next.is_some() {
            return;
        }
    }
}
