//! An MCP server over HTTP with one tool, whose calls a test decides about.

use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::post;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::task::AbortHandle;

/// One `tools/call` as it came.
#[derive(Clone, Debug)]
pub struct McpToolCall {
    /// The token of the `Authorization` header.
    pub token: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments as they came.
    pub arguments: Value,
    /// The `_meta` of the request.
    pub meta: Value,
}

/// Runs a call: the text of its result, or why it may not run.
pub type RunTool = Arc<dyn Fn(McpToolCall) -> BoxFuture<'static, Result<String, String>> + Send + Sync>;

/// A server that runs until it is dropped.
pub struct McpHttpServer {
    /// Its address, with the path.
    pub url: String,
    serving: AbortHandle,
}

impl McpHttpServer {
    /// Starts a server with one tool of this name.
    pub async fn start(tool: &'static str, run: RunTool) -> Self {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let router = Router::new().route("/mcp", post(receive)).with_state((tool, run));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }).abort_handle();
        Self { url, serving }
    }
}

impl Drop for McpHttpServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn receive(State((tool, run)): State<(&'static str, RunTool)>, headers: HeaderMap, body: Bytes) -> Response {
    let Ok(message) = serde_json::from_slice::<Value>(&body) else { return StatusCode::BAD_REQUEST.into_response() };
    let Some(id) = message.get("id") else { return StatusCode::ACCEPTED.into_response() };
    let params = &message["params"];
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"], "capabilities": { "tools": {} },
            "serverInfo": { "name": "gateway", "version": "1.0.0" },
        }),
        "ping" => json!({}),
        "tools/list" => json!({ "tools": [{ "name": tool, "inputSchema": { "type": "object", "properties": {} } }] }),
        "tools/call" => {
            let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
            let call = McpToolCall {
                token: token.trim_start_matches("Bearer ").into(),
                tool: params["name"].as_str().unwrap_or_default().into(),
                arguments: params.get("arguments").cloned().unwrap_or_else(|| json!({})),
                meta: params.get("_meta").cloned().unwrap_or_else(|| json!({})),
            };
            let (text, is_error) = match run(call).await {
                Ok(text) => (text, false),
                Err(why) => (why, true),
            };
            json!({ "content": [{ "type": "text", "text": text }], "isError": is_error })
        }
        _ => {
            let error = json!({ "code": -32601, "message": "Method not found" });
            return Json(json!({ "jsonrpc": "2.0", "id": id, "error": error })).into_response();
        }
    };
    Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response()
}
