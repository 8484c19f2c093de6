//! Pairing and tokens over HTTP. Refusals are `{"error": "…"}`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest, Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use roost_model::time::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::peer::{LocalProof, Peer};
use super::{Auth, AuthError, ExchangeOutcome, TokenPair, qr};

/// The greatest body of a request, in bytes. These routes need no token, so it is only what a few tokens take.
const MAX_BODY: usize = 16 << 10;
/// The default size of the QR code, in pixels, and the greatest.
const QR_SIZE: usize = 256;
const QR_MOST: usize = 512;

/// The routes of pairing and tokens; the peer's address is expected as `ConnectInfo<SocketAddr>`.
pub fn routes(auth: Arc<Auth>) -> Router {
    Router::new()
        .route("/api/pair/open", post(open))
        .route("/api/pair/info", get(info))
        .route("/api/pair/qr", get(qr_code))
        .route("/api/pair/code", post(code))
        .route("/api/pair/refresh", post(start_over))
        .route("/api/auth/exchange", post(exchange))
        .route("/api/auth/refresh", post(refresh))
        .route("/api/auth/revoke", post(revoke))
        .route("/api/auth/pairing/pending", get(pending))
        .route("/api/auth/pairing/approve", post(approve))
        .route("/api/auth/pairing/reject", post(reject))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::map_response(never_stored))
        .with_state(auth)
}

/// Forbids caches to store the responses, because they hold secrets.
async fn never_stored(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The JSON body of a success, or the error that becomes the response.
type AuthResponse = Result<Json<Value>, AuthError>;

#[derive(Deserialize)]
struct OpenInput {
    secret: String,
}

/// Turns the secret of a link into that of a page.
async fn open(State(auth): State<Arc<Auth>>, peer: Peer, Body(input): Body<OpenInput>) -> Result<Response, AuthError> {
    let opened = if peer.is_direct() { auth.local.redeem(&input.secret)? } else { None };
    Ok(match opened {
        Some(secret) => Json(json!({ "local": secret })).into_response(),
        None => refusal(StatusCode::FORBIDDEN, "This link was used or is too old; run `roost pair` for another")
            .into_response(),
    })
}

#[derive(Deserialize)]
struct InfoInput {
    include_token: Option<String>,
    /// Make a new code even if the one on the host's screen is still valid.
    new_code: Option<String>,
}

/// Whether a flag of a query is set.
fn is_set(flag: Option<&str>) -> bool {
    flag.is_some_and(|flag| flag == "1" || flag == "true")
}

/// The URLs of this daemon; with a token and the code only for a client at the host.
async fn info(
    State(auth): State<Arc<Auth>>,
    Query(input): Query<InfoInput>,
    peer: Peer,
    local: Result<LocalProof, Response>,
) -> Result<Response, AuthError> {
    let urls = auth.endpoint.urls(peer.host.as_deref()).ok_or(AuthError::NotServed)?;
    let place = &auth.endpoint;
    let mut info = json!({
        "ws": urls.ws, "http": urls.http, "session": place.session, "repo": place.repo,
        "auth_required": place.require_auth,
    });
    if is_set(input.include_token.as_deref()) {
        let scope = match local {
            Ok(LocalProof(scope)) => scope,
            Err(refusal) => return Ok(refusal),
        };
        let offered = auth.devices.pairing_token(scope).await?;
        // A code that a terminal shows stays valid when somebody opens the page.
        let code = match is_set(input.new_code.as_deref()) {
            true => auth.devices.code(scope).await?,
            false => auth.devices.current_code(scope).await?,
        };
        info["token"] = json!(offered.token.reveal());
        info["token_expires_at"] = json!(offered.expires_at);
        info["code"] = json!(code.digits);
        info["code_expires_at"] = json!(code.expires_at);
        info["code_scope"] = json!(code.scope);
    }
    Ok(Json(info).into_response())
}

#[derive(Deserialize)]
struct QrInput {
    size: Option<String>,
}

/// A new pairing token as an image for a phone's camera.
async fn qr_code(
    LocalProof(scope): LocalProof,
    State(auth): State<Arc<Auth>>,
    Query(input): Query<QrInput>,
    peer: Peer,
) -> Result<Response, AuthError> {
    let size = match input.size.as_deref().map(str::parse::<usize>).transpose() {
        Ok(size) => size.unwrap_or(QR_SIZE).min(QR_MOST),
        Err(_) => return Ok(refusal(StatusCode::BAD_REQUEST, "size is a number of pixels").into_response()),
    };
    let urls = auth.endpoint.urls(peer.host.as_deref()).ok_or(AuthError::NotServed)?;
    let offered = auth.devices.pairing_token(scope).await?;
    let mut link = json!({
        "ws": urls.ws, "http": urls.http, "session": auth.endpoint.session, "repo": auth.endpoint.repo,
        "token": offered.token.reveal(),
    });
    if let Some(fingerprint) = &auth.endpoint.fingerprint {
        link["fingerprint"] = json!(fingerprint);
    }
    let image = qr::png(&link.to_string(), size)?;
    Ok(([(header::CONTENT_TYPE, "image/png")], image).into_response())
}

#[derive(Deserialize)]
struct CodeInput {
    code: String,
}

/// Exchanges a pairing code for a pairing token.
async fn code(State(auth): State<Arc<Auth>>, peer: Peer, Body(input): Body<CodeInput>) -> Result<Response, AuthError> {
    // Screens show it in two groups, so that is how people type it.
    let digits: String = input.code.chars().filter(|digit| !digit.is_whitespace() && *digit != '-').collect();
    if digits.len() != 6 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Ok(refusal(StatusCode::BAD_REQUEST, "A pairing code is six digits").into_response());
    }
    let offered = auth.devices.redeem_code(&digits, peer.origin()).await?;
    let (token, expires_at) = (offered.token.reveal(), offered.expires_at);
    let expires_in = auth.seconds_until(expires_at);
    Ok(Json(json!({ "pairing_token": token, "expires_at": expires_at, "expires_in": expires_in })).into_response())
}

/// Revokes everything and offers a new token.
async fn start_over(LocalProof(scope): LocalProof, State(auth): State<Arc<Auth>>) -> AuthResponse {
    let revoked = auth.devices.revoke_all().await?;
    let offered = auth.devices.pairing_token(scope).await?;
    let message = format!("{revoked} devices and all pairing tokens were revoked");
    Ok(Json(json!({ "token": offered.token.reveal(), "expires_at": offered.expires_at, "message": message })))
}

#[derive(Deserialize)]
struct ExchangeInput {
    pairing_token: String,
    /// The name for people; else it is taken from the user agent.
    #[serde(alias = "device_name")]
    name: Option<String>,
}

/// Exchanges a pairing token for a device's first tokens, or answers 202 while approval is pending.
async fn exchange(
    State(auth): State<Arc<Auth>>,
    peer: Peer,
    Body(input): Body<ExchangeInput>,
) -> Result<Response, AuthError> {
    Ok(match auth.devices.exchange(&input.pairing_token, peer.device(input.name)).await? {
        ExchangeOutcome::Granted(pair) => Json(auth.shown(&pair)).into_response(),
        ExchangeOutcome::Pending { request_id, expires_at } => {
            let pending = json!({ "status": "pending_approval", "request_id": request_id, "expires_at": expires_at });
            (StatusCode::ACCEPTED, Json(pending)).into_response()
        }
    })
}

#[derive(Deserialize)]
struct RefreshInput {
    refresh_token: String,
}

/// Exchanges a refresh token for the next pair of tokens.
async fn refresh(State(auth): State<Arc<Auth>>, Body(input): Body<RefreshInput>) -> AuthResponse {
    let pair = auth.devices.refresh(&input.refresh_token).await?;
    Ok(Json(auth.shown(&pair)))
}

/// Revokes the device that sends its refresh token.
async fn revoke(State(auth): State<Arc<Auth>>, Body(input): Body<RefreshInput>) -> AuthResponse {
    auth.devices.revoke(&input.refresh_token).await?;
    // Workspaces belong to the host and outlive every device.
    Ok(Json(json!({ "success": true, "orphaned_workspaces": [] })))
}

/// The devices that wait for approval.
async fn pending(_: LocalProof, State(auth): State<Arc<Auth>>) -> Response {
    if !auth.devices.settings().require_approval {
        let why = "Devices are paired without approval; set security.require_pairing_approval to change that";
        return refusal(StatusCode::NOT_FOUND, why).into_response();
    }
    let pending = auth.devices.pending().await;
    Json(json!({ "count": pending.len(), "pending": pending })).into_response()
}

#[derive(Deserialize)]
struct AnswerInput {
    request_id: String,
}

async fn approve(_: LocalProof, State(auth): State<Arc<Auth>>, Body(input): Body<AnswerInput>) -> AuthResponse {
    auth.devices.approve(&input.request_id).await?;
    Ok(Json(json!({ "success": true, "status": "approved", "request_id": input.request_id })))
}

async fn reject(_: LocalProof, State(auth): State<Arc<Auth>>, Body(input): Body<AnswerInput>) -> AuthResponse {
    auth.devices.reject(&input.request_id).await?;
    Ok(Json(json!({ "success": true, "status": "rejected", "request_id": input.request_id })))
}

impl Auth {
    /// The tokens in the form that their owner gets.
    fn shown(&self, pair: &TokenPair) -> Value {
        json!({
            "access_token": pair.access.reveal(),
            "access_token_expires_at": pair.access_expires_at,
            "refresh_token": pair.refresh.reveal(),
            "refresh_token_expires_at": pair.refresh_expires_at,
            "token_type": "Bearer",
            "expires_in": self.seconds_until(pair.access_expires_at),
            "device_id": pair.device_id,
            "scope": pair.scope,
        })
    }

    fn seconds_until(&self, time: Timestamp) -> i64 {
        (time.as_millis() - self.devices.now().as_millis()).max(0) / 1000
    }
}

/// A JSON body, whose errors have the same form as all others here.
struct Body<T>(T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let bytes = Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|error| refusal(error.status(), &error.body_text()).into_response())?;
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|error| refusal(StatusCode::BAD_REQUEST, &format!("Send a JSON object: {error}")).into_response())
    }
}

/// The body of a refusal: why, in a sentence.
pub(super) fn refusal(status: StatusCode, why: &str) -> (StatusCode, Json<Value>) {
    (status, Json(json!({ "error": why })))
}

impl IntoResponse for AuthError {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::PairingToken | Self::Code | Self::CodeWithdrawn | Self::AccessToken | Self::RefreshToken => {
                StatusCode::UNAUTHORIZED
            }
            Self::NoName => StatusCode::BAD_REQUEST,
            Self::Rejected => StatusCode::FORBIDDEN,
            Self::UnknownRequest(_) | Self::UnknownDevice(_) => StatusCode::NOT_FOUND,
            Self::TooManyRequests | Self::AddressLocked => StatusCode::TOO_MANY_REQUESTS,
            // A client forgets its pairing on 401, so a fault of ours must never look like one.
            Self::Store(_) | Self::NotServed => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if let Self::Store(error) = &self {
            tracing::error!(%error, "A change to the devices could not be stored.");
        }
        refusal(status, &self.to_string()).into_response()
    }
}
