//! A connection over a WebSocket.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use roost_proto::time::Timestamp;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::auth::{Client, Ended};
use crate::caller::Caller;
use crate::connection::{Connection, Outgoing, not_text};
use crate::host::Host;

/// How often a client hears from us at least; one that hears nothing for 45 s gives up.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// How often the other side of the socket must show that it is there.
const PING: Duration = Duration::from_secs(81);
/// How long a frame may take to be written; a client that reads nothing is let go, and can come back to its cursor.
const WRITE_WAIT: Duration = Duration::from_secs(15);
/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// Serves a client until it or the door is gone.
pub(crate) async fn serve(socket: WebSocket, host: Arc<Host>, caller: Caller, client: Option<Client>) {
    let (connection, outgoing) = Connection::open(&host, caller);
    let (sink, stream) = socket.split();
    let mut writing = pin!(write(sink, outgoing, &host));
    let farewell = tokio::select! {
        () = read(stream, &connection, &host) => None,
        () = &mut writing => None,
        ended = ended(client) => Some(match ended {
            Ended::Revoked => (close_code::POLICY, "authentication failed: the device was revoked"),
            Ended::Expired => (close_code::POLICY, "authentication failed: the token has expired"),
        }),
        () = host.closing.cancelled() => Some((close_code::AWAY, "server shutting down")),
    };
    if let Some((code, reason)) = farewell {
        if code == close_code::AWAY {
            let params = json!({ "session_id": host.instance, "reason": "shutdown", "timestamp": Timestamp::now() });
            connection.tell("session_end", params);
        }
        // A client that reads nothing gets no goodbye.
        let _ = timeout(GOODBYE, async {
            connection.say_goodbye(code, reason).await;
            writing.await;
        })
        .await;
    }
    connection.close(&host);
}

/// Returns when the client's device may no longer be connected; never for one without a device.
async fn ended(client: Option<Client>) -> Ended {
    match client {
        Some(mut client) => client.ended().await,
        None => std::future::pending().await,
    }
}

async fn read(mut stream: SplitStream<WebSocket>, connection: &Arc<Connection>, host: &Arc<Host>) {
    while let Some(Ok(message)) = stream.next().await {
        match message {
            Message::Text(text) => connection.receive(host, text.as_bytes()).await,
            Message::Binary(_) => _ = connection.send(not_text().into()).await,
            // Pings are answered below us; what they carry says nothing.
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Close(_) => return,
        }
    }
}

async fn write(mut sink: SplitSink<WebSocket, Message>, mut outgoing: mpsc::Receiver<Outgoing>, host: &Host) {
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
            next = outgoing.try_recv().ok().map(frame);
        }
        if !in_time(sink.flush()).await {
            return;
        }
    }
}

/// Whether something was written before the client's time was up.
async fn in_time(write: impl Future<Output = Result<(), axum::Error>>) -> bool {
    matches!(timeout(WRITE_WAIT, write).await, Ok(Ok(())))
}

fn frame(outgoing: Outgoing) -> Message {
    match outgoing {
        Outgoing::Text(text) => Message::Text(text),
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
            "sequence": host.next_heartbeat(),
            "claude_status": if host.tally.is_busy() { "running" } else { "idle" },
            "uptime_seconds": host.uptime_seconds(),
        },
    })
    .to_string()
}
