//! A connection over the local socket: one message per line, from the user of this machine.

use std::pin::pin;
use std::sync::Arc;

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
    let closing = tokio::select! {
        () = read(reader, &connection, &host) => false,
        () = &mut writing => false,
        () = host.daemon.closing.cancelled() => true,
    };
    if closing {
        let last_words = async {
            connection.notify_shutdown(&host).await;
            connection.say_goodbye(0, "").await;
        };
        // Written meanwhile, because there may be no room for them yet.
        progress.drive(async { tokio::join!(last_words, writing) }).await;
    }
    connection.close(&host);
}

async fn read(reader: OwnedReadHalf, connection: &Arc<Connection>, host: &Arc<Host>) {
    let max = host.settings.limits.max_frame_bytes;
    let codec = AnyDelimiterCodec::new_with_max_length(b"\n".to_vec(), Vec::new(), max);
    let mut lines = FramedRead::new(reader, LineDecoder(codec));
    while let Some(Ok(line)) = lines.next().await {
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
