//! An MCP server that lets nobody in without a login, and the authorization server where one logs in.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Json, Redirect, Response};
use axum::routing::{get, post};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::scripted_agent::weather_answer;

/// The code that the browser carries back.
const CODE: &str = "the-code";

struct OAuthServer {
    base: String,
    /// The token that is good: it is replaced when it is renewed, and when it expires.
    token: Mutex<String>,
    /// What clients said of themselves when they asked their person and when they got tokens.
    said: Mutex<Vec<String>>,
    /// Whether no token is renewed any more.
    is_revoked: AtomicBool,
}

/// Starts the server on a thread of its own, until this process ends; the address of its MCP endpoint. A request to
/// `/expire` beside it ends the token that is good, and one to `/revoke` the login; `/said` tells what clients said of
/// themselves.
pub fn start() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let endpoint = format!("{base}/mcp");
    let server =
        Arc::new(OAuthServer { base, token: Mutex::default(), said: Mutex::default(), is_revoked: false.into() });
    server.expire();
    let router = Router::new()
        .route("/mcp", post(receive))
        .route("/.well-known/oauth-protected-resource", get(resource))
        .route("/.well-known/oauth-protected-resource/mcp", get(resource))
        .route("/.well-known/oauth-authorization-server", get(metadata))
        .route("/register", post(register))
        .route("/authorize", get(authorize))
        .route("/token", post(token))
        .route("/expire", get(async |State(server): State<Arc<OAuthServer>>| server.expire()))
        .route("/revoke", get(revoke))
        .route("/said", get(async |State(server): State<Arc<OAuthServer>>| server.said.lock().join("\n")))
        .with_state(server);
    std::thread::Builder::new()
        .name("oauth server".into())
        .spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, router).await.unwrap();
            });
        })
        .unwrap();
    endpoint
}

impl OAuthServer {
    /// Makes another token the good one, which is returned by [`token`] only.
    fn expire(&self) {
        *self.token.lock() = format!("{}-token", uuid::Uuid::new_v4());
    }
}

async fn revoke(State(server): State<Arc<OAuthServer>>) {
    server.is_revoked.store(true, Ordering::Relaxed);
    server.expire();
}

async fn receive(State(server): State<Arc<OAuthServer>>, headers: HeaderMap, body: Bytes) -> Response {
    let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if sent != format!("Bearer {}", server.token.lock()) {
        let challenge = format!("Bearer resource_metadata=\"{}/.well-known/oauth-protected-resource\"", server.base);
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)]).into_response();
    }
    match serde_json::from_slice(&body).ok().as_ref().and_then(weather_answer) {
        Some(answer) => Json(answer).into_response(),
        None => StatusCode::ACCEPTED.into_response(),
    }
}

async fn resource(State(server): State<Arc<OAuthServer>>) -> Json<Value> {
    Json(json!({ "resource": format!("{}/mcp", server.base), "authorization_servers": [server.base] }))
}

async fn metadata(State(server): State<Arc<OAuthServer>>) -> Json<Value> {
    let base = &server.base;
    Json(json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "registration_endpoint": format!("{base}/register"),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
        "client_id_metadata_document_supported": true,
    }))
}

async fn register(Json(mut client): Json<Value>) -> (StatusCode, Json<Value>) {
    client["client_id"] = "the-client".into();
    (StatusCode::CREATED, Json(client))
}

#[derive(Deserialize)]
struct Authorize {
    redirect_uri: String,
    state: String,
    code_challenge: String,
    client_id: String,
    #[serde(default)]
    scope: String,
}

/// The person agrees at once.
async fn authorize(State(server): State<Arc<OAuthServer>>, Query(asked): Query<Authorize>) -> Response {
    server.said.lock().push(format!("client {} asks for {}", asked.client_id, asked.scope));
    match asked.code_challenge.is_empty() {
        true => StatusCode::BAD_REQUEST.into_response(),
        false => Redirect::to(&format!("{}?code={CODE}&state={}", asked.redirect_uri, asked.state)).into_response(),
    }
}

async fn token(State(server): State<Arc<OAuthServer>>, headers: HeaderMap, form: String) -> Response {
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    server.said.lock().push(format!("{authorization} {form}"));
    let value = |name: &str| form.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    let is_good = match value("grant_type") {
        Some("authorization_code") => value("code") == Some(CODE) && value("code_verifier").is_some(),
        Some("refresh_token") => !server.is_revoked.load(Ordering::Relaxed),
        _ => false,
    };
    if !is_good {
        return (StatusCode::BAD_REQUEST, Json(json!({ "error": "invalid_grant" }))).into_response();
    }
    server.expire();
    let token = server.token.lock().clone();
    let answer = json!({
        "access_token": token, "token_type": "Bearer", "expires_in": 3600, "refresh_token": "the-refresh-token",
    });
    Json(answer).into_response()
}
