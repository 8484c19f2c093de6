//! A fake daemon: each test decides what it answers.

use std::path::PathBuf;

use roost_client::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};

/// The socket that the fake daemon listens on.
pub(crate) struct Daemon {
    listener: UnixListener,
    folder: TempDir,
}

/// The daemon's end of one connection, greeted.
pub(crate) struct Peer {
    lines: BufReader<OwnedReadHalf>,
    pub(crate) write: OwnedWriteHalf,
}

impl Daemon {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let listener = UnixListener::bind(folder.path().join("sock")).unwrap();
        Self { listener, folder }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("sock")
    }

    /// A client and its connection.
    pub(crate) async fn client(&self) -> (Client, Peer) {
        let socket = self.socket();
        let (client, peer) = tokio::join!(Client::connect(&socket), self.accept());
        (client.unwrap(), peer)
    }

    /// The next connection, after its hello.
    pub(crate) async fn accept(&self) -> Peer {
        let (stream, _): (UnixStream, _) = self.listener.accept().await.unwrap();
        let (read, write) = stream.into_split();
        let mut peer = Peer { lines: BufReader::new(read), write };
        let hello = peer.request().await.unwrap();
        assert_eq!(hello["method"], "initialize");
        peer.answer(&hello, greeting()).await;
        peer
    }
}

impl Peer {
    /// The next request; `None` once the client is gone.
    pub(crate) async fn request(&mut self) -> Option<Value> {
        let mut line = String::new();
        (self.lines.read_line(&mut line).await.unwrap() > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.say(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string()).await;
    }

    pub(crate) async fn say(&mut self, line: &str) {
        self.write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }
}

fn greeting() -> Value {
    let server = json!({ "name": "cdev", "version": "0" });
    let registry = json!({ "schemaVersion": "1", "generatedAt": "2026-01-01T00:00:00.000Z", "defaultRuntime": "demo",
                           "routing": { "agentTypeField": "agent_type", "defaultAgentType": "demo",
                                        "requiredOnMethods": [] }, "runtimes": [] });
    let capabilities = json!({ "agent": {}, "git": {}, "file": {}, "repository": {}, "notifications": [],
                               "supportedAgents": ["demo"], "runtimeRegistry": registry });
    json!({ "protocolVersion": "1.0", "serverInfo": server, "server_info": server, "capabilities": capabilities,
            "clientId": "c1" })
}
