//! The server over lines, as on stdin and stdout. Requests run side by side.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::{FixtureClient, FixtureEra, McpFixture, SUBSCRIPTION};

/// The other side of the lines.
struct LineClient {
    outgoing: mpsc::Sender<Value>,
    asked: Mutex<HashMap<u64, oneshot::Sender<Result<Value, Value>>>>,
    next: AtomicU64,
}

#[async_trait]
impl FixtureClient for LineClient {
    async fn notify(&self, method: &str, params: Value) {
        let _ = self.outgoing.send(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answered, answer) = oneshot::channel();
        self.asked.lock().insert(id, answered);
        let _ = self.outgoing.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        answer.await.unwrap_or_else(|_| Err(super::error(-32603, "the client is gone")))
    }
}

/// Serves one client until its lines end.
pub async fn serve(
    fixture: Arc<McpFixture>,
    reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin + Send + 'static,
) {
    let (outgoing, mut messages) = mpsc::channel::<Value>(64);
    let client = Arc::new(LineClient { outgoing, asked: Mutex::default(), next: AtomicU64::new(1) });
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while let Some(message) = messages.recv().await {
            let line = format!("{message}\n");
            if writer.write_all(line.as_bytes()).await.is_err() || writer.flush().await.is_err() {
                return;
            }
        }
    });
    if fixture.era() == FixtureEra::Legacy {
        let (client, mut said) = (client.clone(), fixture.said());
        tasks.spawn(async move {
            while let Ok((method, params)) = said.recv().await {
                client.notify(method, params).await;
            }
        });
    }
    let mut running = HashMap::new();
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(mut message) = serde_json::from_str::<Value>(&line) else { continue };
        let id = message["id"].clone();
        match message["method"].as_str().map(ToOwned::to_owned) {
            Some(method) if !id.is_null() => {
                let mut params = message["params"].take();
                if method == "subscriptions/listen" {
                    params["_meta"][SUBSCRIPTION] = id.clone();
                }
                let (fixture, client, key) = (fixture.clone(), client.clone(), id.to_string());
                let handle = tasks.spawn(async move {
                    let response = match fixture.answer(&method, &params, &*client).await {
                        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                        Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
                    };
                    let _ = client.outgoing.send(response).await;
                });
                running.insert(key, handle);
            }
            Some(method) if method == "notifications/cancelled" => {
                if let Some(handle) = running.remove(&message["params"]["requestId"].to_string()) {
                    handle.abort();
                }
            }
            Some(_) => {}
            None => {
                let asked = id.as_u64().and_then(|id| client.asked.lock().remove(&id));
                let answer = match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].take()),
                };
                if let Some(asked) = asked {
                    let _ = asked.send(answer);
                }
            }
        }
    }
}
