//! A server of 2024 that answers as it should, except to calls of the tool `bad`.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use crate::scripted_http::read_request;

/// What the server does when `bad` is called.
#[derive(Clone)]
pub(crate) enum Bad {
    /// It answers the POST with this status, and says nothing on the stream.
    Status(&'static str),
    /// It does not answer the POST.
    Silence,
    /// It writes this to the stream instead of an answer.
    Event(String),
    /// It closes the stream.
    Close,
}

pub(crate) struct ScriptedSse {
    pub(crate) endpoint: String,
    _serving: AbortOnDropHandle<()>,
}

type Streams = Arc<Mutex<Option<mpsc::Sender<String>>>>;

impl ScriptedSse {
    /// A server whose stream begins with this; `{origin}` in it is the server itself.
    pub(crate) async fn start(first: &str, bad: Bad) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let first = first.replace("{origin}", &origin);
        let serving = tokio::spawn(async move {
            let (mut connections, streams) = (JoinSet::new(), Streams::default());
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, first.clone(), bad.clone(), streams.clone()));
            }
        });
        Self { endpoint: format!("{origin}/sse"), _serving: AbortOnDropHandle::new(serving) }
    }

    /// A server whose stream begins as it should.
    pub(crate) async fn with(bad: Bad) -> Self {
        Self::start("event: endpoint\ndata: /messages\n\n", bad).await
    }
}

/// Answers one request per connection; that of the stream stays open.
async fn serve(stream: TcpStream, first: String, bad: Bad, streams: Streams) {
    let mut stream = BufReader::new(stream);
    let Some(request) = read_request(&mut stream).await else { return };
    let mut write = async |text: &str| stream.get_mut().write_all(text.as_bytes()).await.is_ok();
    if request.method == "GET" {
        let (events, mut said) = mpsc::channel(8);
        *streams.lock().await = Some(events);
        write("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n").await;
        let mut event = Some(first);
        while let Some(text) = event.filter(|text| !text.is_empty()) {
            if !write(&text).await {
                return;
            }
            event = said.recv().await;
        }
        return;
    }
    let (id, method) = (&request.body["id"], request.body["method"].as_str().unwrap_or_default());
    let mut status = "202 Accepted";
    let event = match method {
        "initialize" => {
            let profile = json!({ "protocolVersion": "2024-11-05", "capabilities": { "tools": {} } });
            Some(answer(id, &profile))
        }
        "tools/call" if request.body["params"]["name"] == "bad" => match &bad {
            Bad::Status(code) => {
                status = code;
                None
            }
            Bad::Silence => return drop(stream.read_to_end(&mut Vec::new()).await),
            Bad::Event(text) => Some(text.clone()),
            Bad::Close => Some(String::new()),
        },
        _ if id.is_null() => None,
        _ => Some(answer(id, &json!({ "content": [] }))),
    };
    write(&format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")).await;
    if let (Some(event), Some(events)) = (event, &*streams.lock().await) {
        let _ = events.send(event).await;
    }
}

fn answer(id: &Value, result: &Value) -> String {
    format!("data: {}\n\n", json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}
