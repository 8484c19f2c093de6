//! `/acp`: an editor on another machine uses Roost as its agent, over a WebSocket or over HTTP ([`http`]).
//!
//! The door is `roost-acp`'s. It reaches the daemon over connections inside this process, which are served for the
//! editor's own device: its scope, the table of parameters and the rate limits hold as for every other client.

pub(crate) mod http;
mod http_connection;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use roost_acp::{MessageSender, ReceivedMessage, Settings, Transport, message_queue};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval, timeout};

pub(crate) use self::http_connection::HttpConnections;
use crate::auth::Client;
use crate::caller::Caller;
use crate::host::Host;
use crate::local;
use crate::message_budget::Meter;
use crate::ws::{self, Goodbye};

/// Messages that may wait in each direction; beyond it their senders wait.
const QUEUE: usize = 64;
/// How often the other side of the socket must show that it is there.
const PING: Duration = Duration::from_secs(81);
/// How long a message may take to be written; an editor that reads nothing is let go, and can load its sessions again.
const WRITE_WAIT: Duration = Duration::from_secs(15);

/// Serves an editor until it is gone, its token ends, or the server stops. Its sessions go on.
pub(crate) async fn serve(socket: WebSocket, host: Arc<Host>, caller: Caller, client: Option<Client>, meter: &Meter) {
    meter.start();
    let (sink, stream) = socket.split();
    let (received, incoming) = message_queue(QUEUE);
    let (outgoing, messages) = mpsc::channel(QUEUE);
    let door = serve_door(&host, &caller, Transport { incoming, outgoing });
    let (dismiss, dismissed) = oneshot::channel();
    let serving = async {
        tokio::select! {
            () = door => {}
            () = read(stream, &received, meter) => {}
            goodbye = ws::dismissed(&host, client) => {
                // Nobody is left to say it to if the write has failed.
                let _ = dismiss.send(goodbye);
            }
        }
    };
    tokio::join!(serving, write(sink, messages, dismissed));
}

/// Serves an editor until it leaves, whatever the transport.
async fn serve_door(host: &Arc<Host>, caller: &Caller, transport: Transport) {
    let connect = || {
        let (host, caller) = (host.clone(), caller.clone());
        let open = move || {
            let (ours, theirs) = UnixStream::pair()?;
            // A connection of its own in the lists of clients, with the rights of the device.
            let caller = Caller::new(caller.door, caller.scope, caller.device.clone());
            host.daemon.spawn(local::serve_as(theirs, host.clone(), caller));
            Ok(ours)
        };
        async { roost_client::Client::in_process(open).await.map_err(|error| error.to_string()) }
    };
    let settings = Settings { protocol_v2: host.settings.acp_protocol_v2, ..Settings::default() };
    roost_acp::serve(settings, transport, connect).await;
}

/// Reads until the editor is gone or breaks the protocol.
async fn read(mut stream: SplitStream<WebSocket>, received: &MessageSender, meter: &Meter) {
    while let Some(Ok(message)) = stream.next().await {
        let message = match message {
            Message::Text(text) => text.as_bytes().to_vec(),
            Message::Binary(bytes) => bytes.to_vec(),
            Message::Ping(payload) | Message::Pong(payload) => {
                meter.finish_control(payload.len());
                continue;
            }
            Message::Close(_) => return,
        };
        meter.finish_message();
        if !received.send(ReceivedMessage::Text(message)).await {
            return;
        }
    }
}

/// Writes until the door has ended, and then the goodbye, with its reason if the server ends the connection.
async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut messages: mpsc::Receiver<String>,
    mut dismissed: oneshot::Receiver<Goodbye>,
) {
    let mut ping = interval(PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ping.reset();
    loop {
        let message = tokio::select! {
            message = messages.recv() => match message {
                Some(message) => Message::text(message),
                None => break,
            },
            _ = ping.tick() => Message::Ping(bytes::Bytes::new()),
        };
        if !matches!(timeout(WRITE_WAIT, sink.send(message)).await, Ok(Ok(()))) {
            return;
        }
    }
    let (code, reason) = dismissed.try_recv().unwrap_or((close_code::NORMAL, ""));
    // The goodbye goes out if it can.
    let goodbye = CloseFrame { code, reason: reason.into() };
    let _ = timeout(WRITE_WAIT, sink.send(Message::Close(Some(goodbye)))).await;
}
