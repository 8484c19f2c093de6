//! The demo agent byte by byte, for what a typed client would not show.

use std::path::Path;

use roost_demo::serve;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

/// A client that sends and receives plain lines.
pub(super) struct Wire {
    lines: BufReader<Box<dyn AsyncRead + Unpin>>,
    writer: Box<dyn AsyncWrite + Unpin>,
    session: String,
}

impl Wire {
    /// Shakes hands and opens a session.
    pub(super) async fn open(
        reader: impl AsyncRead + Unpin + 'static,
        writer: impl AsyncWrite + Unpin + 'static,
        cwd: &Path,
    ) -> Self {
        let mut wire =
            Self { lines: BufReader::new(Box::new(reader)), writer: Box::new(writer), session: String::new() };
        let params = json!({ "protocolVersion": 1, "clientCapabilities": {} });
        wire.send(json!({ "id": 0, "method": "initialize", "params": params })).await;
        wire.json().await;
        let params = json!({ "cwd": cwd, "mcpServers": [] });
        wire.send(json!({ "id": 1, "method": "session/new", "params": params })).await;
        let opened = wire.json().await;
        wire.session = opened["result"]["sessionId"].as_str().unwrap().to_owned();
        let commands = wire.json().await;
        assert_eq!(commands["params"]["update"]["sessionUpdate"], "available_commands_update");
        wire
    }

    pub(super) async fn prompt(&mut self, text: &str) {
        let prompt = json!([{ "type": "text", "text": text }]);
        let params = json!({ "sessionId": self.session, "prompt": prompt });
        self.send(json!({ "id": 2, "method": "session/prompt", "params": params })).await;
    }

    pub(super) async fn cancel(&mut self) {
        let params = json!({ "sessionId": self.session });
        self.send(json!({ "method": "session/cancel", "params": params })).await;
    }

    /// The next line with its newline; empty at the end.
    pub(super) async fn line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        self.lines.read_until(b'\n', &mut line).await.unwrap();
        line
    }

    pub(super) async fn json(&mut self) -> Value {
        serde_json::from_slice(&self.line().await).unwrap()
    }

    /// The text of the next chunk.
    pub(super) async fn text(&mut self) -> String {
        let chunk = self.json().await;
        let text = &chunk["params"]["update"]["content"]["text"];
        text.as_str().expect("a chunk of text").to_owned()
    }

    async fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.writer.flush().await.unwrap();
    }
}

async fn in_process(test: impl AsyncFnOnce(Wire)) {
    let (here, there) = tokio::io::duplex(64 << 10);
    let (agent_reads, agent_writes) = tokio::io::split(there);
    let (reads, writes) = tokio::io::split(here);
    let cwd = tempfile::tempdir().unwrap();
    let testing = async {
        let wire = Wire::open(reads, writes, cwd.path()).await;
        test(wire).await;
    };
    let (served, ()) = futures::join!(serve(agent_reads, agent_writes), testing);
    served.unwrap();
}

#[tokio::test]
async fn flood_sends_every_chunk_once_and_in_order_as_one_message() {
    in_process(async |mut wire| {
        wire.prompt("flood 20000 50").await;
        for number in 0..20_000 {
            let line = wire.json().await;
            let update = &line["params"]["update"];
            assert_eq!(update["messageId"], "message-1");
            let text = update["content"]["text"].as_str().unwrap();
            assert_eq!(text.len(), 50);
            assert_eq!(text[..9].parse(), Ok(number));
        }
        assert_eq!(wire.json().await["result"]["stopReason"], "end_turn");
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_flood_ends_with_whole_lines() {
    in_process(async |mut wire| {
        wire.prompt("flood 1000000000 200").await;
        wire.text().await;
        wire.cancel().await;
        loop {
            let line = wire.json().await;
            if line["id"] == 2 {
                assert_eq!(line["result"]["stopReason"], "cancelled");
                break;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn noise_mixes_garbage_into_a_turn_that_still_ends() {
    in_process(async |mut wire| {
        wire.prompt("noise").await;
        let mut garbage = 0;
        let end = loop {
            match serde_json::from_slice::<Value>(&wire.line().await) {
                Ok(line) if line["id"] == 2 => break line,
                Ok(line) if line["jsonrpc"] == "2.0" => (),
                _ => garbage += 1,
            }
        };
        assert_eq!(garbage, 5);
        assert_eq!(end["result"]["stopReason"], "end_turn");
    })
    .await;
}
