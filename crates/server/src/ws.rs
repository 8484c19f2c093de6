//! Serves one connection over a WebSocket: reads its messages, writes its queue, and says goodbye.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use roost_model::time::Timestamp;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::auth::{Client, CloseReason};
use crate::caller::Caller;
use crate::connection::{Connection, Outgoing};
use crate::goodbye::WriteProgress;
use crate::host::Host;
use crate::message_budget::{CutReason, Meter};
use crate::response_frame::not_text;

/// How often a client hears from us at least; one that hears nothing for 45 s gives up.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// How often the other side of the socket must show that it is there.
const PING: Duration = Duration::from_secs(81);
/// How long a frame may take to be written; a client that reads nothing is let go, and can come back to its cursor.
const WRITE_WAIT: Duration = Duration::from_secs(15);
/// Serves a client until it is gone, its token ends, or the server stops.
pub(crate) async fn serve(socket: WebSocket, host: Arc<Host>, caller: Caller, client: Option<Client>, meter: &Meter) {
    meter.start();
    let (connection, outgoing) = Connection::open(&host, caller);
    let (sink, stream) = socket.split();
    let progress = WriteProgress::default();
    let mut writing = pin!(write(sink, outgoing, &host, &progress));
    let farewell = tokio::select! {
        rebuke = read(stream, &connection, &host, meter) => rebuke,
        () = &mut writing => None,
        goodbye = dismissed(&host, client) => Some(goodbye),
    };
    if let Some((code, reason)) = farewell {
        let last_words = async {
            if code == close_code::AWAY {
                connection.notify_shutdown(&host).await;
            }
            connection.say_goodbye(code, reason).await;
        };
        // Written meanwhile, because there may be no room for them yet. A client that reads nothing gets no goodbye.
        progress.drive(async { tokio::join!(last_words, writing) }).await;
    }
    connection.close(&host);
}

/// Returns when the server ends the connection: it stops, or the client's device may no longer be connected.
pub(crate) async fn dismissed(host: &Host, client: Option<Client>) -> Goodbye {
    let ended = async {
        match client {
            Some(mut client) => client.ended().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        ended = ended => match ended {
            CloseReason::Revoked => (close_code::POLICY, "authentication failed: the device was revoked"),
            CloseReason::Expired => (close_code::POLICY, "authentication failed: the token has expired"),
        },
        () = host.daemon.closing.cancelled() => (close_code::AWAY, "server shutting down"),
    }
}

/// Reads until the client is gone or breaks the protocol; returns the close frame that it then gets.
async fn read(
    mut stream: SplitStream<WebSocket>,
    connection: &Arc<Connection>,
    host: &Arc<Host>,
    meter: &Meter,
) -> Option<Goodbye> {
    loop {
        match stream.next().await? {
            Ok(Message::Text(text)) => connection.receive(host, text.as_bytes()).await,
            Ok(Message::Binary(_)) => _ = connection.send(not_text().into()).await,
            // Pings are answered below us; what they carry says nothing.
            Ok(Message::Ping(payload) | Message::Pong(payload)) => {
                meter.finish_control(payload.len());
                continue;
            }
            Ok(Message::Close(_)) => return None,
            Err(error) => return rebuke(&error),
        }
        meter.finish_message();
    }
}

/// A close code and its reason.
pub(crate) type Goodbye = (u16, &'static str);

/// The close frame for a client that broke the protocol; `None` for one that disconnected.
fn rebuke(error: &axum::Error) -> Option<Goodbye> {
    // The type of the error is not axum's to show; these are the words that it begins with.
    let goodbyes = [
        ("UTF-8", (close_code::INVALID, "a text frame must be UTF-8")),
        ("Space limit", (close_code::SIZE, "the message is too big")),
        ("WebSocket protocol", (close_code::PROTOCOL, "the frame breaks the protocol")),
    ];
    let why = error.to_string();
    let cut =
        CutReason::ALL.into_iter().find(|cut| why.contains(cut.reason())).map(|cut| (close_code::AGAIN, cut.reason()));
    cut.or_else(|| goodbyes.into_iter().find(|(words, _)| why.starts_with(words)).map(|(_, goodbye)| goodbye))
}

async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut outgoing: mpsc::Receiver<Outgoing>,
    host: &Host,
    progress: &WriteProgress,
) {
    let (mut heartbeat, mut ping) = (interval(HEARTBEAT), interval(PING));
    for timer in [&mut heartbeat, &mut ping] {
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        timer.reset();
    }
    loop {
        let message = tokio::select! {
            next = outgoing.recv() => match next {
                Some(next) => frame(next),
                None => return,
            },
            _ = heartbeat.tick() => Message::text(beat(host)),
            _ = ping.tick() => Message::Ping(bytes::Bytes::new()),
        };
        let mut next = Some(message);
        // What has gathered goes with it; the rest of the time each message goes at once.
        while let Some(message) = next {
            let is_last = matches!(message, Message::Close(_));
            if !in_time(sink.feed(message)).await || is_last {
                // The goodbye goes out if it can.
                let _ = in_time(sink.flush()).await;
                return;
            }
            progress.step();
            next = outgoing.try_recv().ok().map(frame);
        }
        if !in_time(sink.flush()).await {
            return;
        }
    }
}

/// Whether the write ended within `WRITE_WAIT`.
async fn in_time(write: impl Future<Output = Result<(), axum::Error>>) -> bool {
    matches!(timeout(WRITE_WAIT, write).await, Ok(Ok(())))
}

fn frame(outgoing: Outgoing) -> Message {
    match outgoing {
        Outgoing::Text(text, _) => Message::Text(text),
        Outgoing::Close { code, reason } => Message::Close(Some(CloseFrame { code, reason: reason.into() })),
    }
}

/// The heartbeat, in the envelope that clients have always had it in.
fn beat(host: &Host) -> String {
    let now = Timestamp::now();
    json!({
        "event": "heartbeat",
        "timestamp": now,
        "payload": {
            "server_time": now,
            "sequence": host.daemon.next_heartbeat(),
            "claude_status": if host.daemon.running_tasks.is_busy() { "running" } else { "idle" },
            "uptime_seconds": host.daemon.uptime_seconds(),
        },
    })
    .to_string()
}
