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
use crate::connection::{Connection, Outgoing};
use crate::goodbye::Progress;
use crate::host::Host;

/// Serves a local client until it or the door is gone.
pub(crate) async fn serve(stream: UnixStream, host: Arc<Host>) {
    // The directory keeps others out; this is the second lock on the same door.
    let is_ours = stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::getuid().as_raw());
    if !is_ours {
        tracing::warn!("Another user knocked at the local socket and was not let in.");
        return;
    }
    let caller = agents::caller(&host.sessions.engine, &stream).await;
    let (connection, outgoing) = Connection::open(&host, caller);
    let (reader, writer) = stream.into_split();
    let progress = Progress::default();
    let mut writing = pin!(write(writer, outgoing, &progress));
    let closing = tokio::select! {
        () = read(reader, &connection, &host) => false,
        () = &mut writing => false,
        () = host.daemon.closing.cancelled() => true,
    };
    if closing {
        let last_words = async {
            connection.tell_the_end(&host).await;
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
    let mut lines = FramedRead::new(reader, Lines(codec));
    while let Some(Ok(line)) = lines.next().await {
        match line {
            Line::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => {}
            Line::Whole(line) => connection.receive(host, &line).await,
            Line::TooLong => {
                let fault = Fault::new(FaultCode::InvalidRequest, format_args!("a message has {max} bytes at most"));
                connection.send(Response::error(Id::NULL, fault).encode().into()).await;
            }
        }
    }
}

/// What stands between two line ends.
enum Line {
    Whole(Bytes),
    /// More than a message may have; the rest of it is passed over.
    TooLong,
}

/// Lines of which one that is too long is no error, because a stream of frames ends with the first error.
struct Lines(AnyDelimiterCodec);

impl Decoder for Lines {
    type Item = Line;
    type Error = std::io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Line>, std::io::Error> {
        match self.0.decode(buffer) {
            Ok(line) => Ok(line.map(Line::Whole)),
            Err(AnyDelimiterCodecError::MaxChunkLengthExceeded) => Ok(Some(Line::TooLong)),
            Err(AnyDelimiterCodecError::Io(error)) => Err(error),
        }
    }
}

async fn write(writer: OwnedWriteHalf, mut outgoing: mpsc::Receiver<Outgoing>, progress: &Progress) {
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
