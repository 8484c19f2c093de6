//! The middleware that admits requests over TCP: it checks the host name, the origin, the content type and the token.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::Body as _;
use roost_engine::SESSION_TOKEN_PREFIX;
use roost_rpc::{FaultCode, Scope};
use serde_json::json;
use tokio::sync::watch;

use crate::agents::Agent;
use crate::auth::{Client, TokenHash};
use crate::caller::{Caller, Device, Door};
use crate::connection_limit::ConnectionSlot;
use crate::host::Host;
use crate::pace::{Pace, PacedBody};
use crate::rest;
use crate::settings::Settings;
use crate::{uploads, web_app};

/// The request header with the client's protocol version.
const VERSION: &str = "x-cdev-protocol-version";
/// The prefix of a token in `Sec-WebSocket-Protocol`, where a browser can put it.
pub(crate) const BEARER_PROTOCOL: &str = "bearer.";
/// The header in which clients of seed 003 may put their token.
const CLARITY_TOKEN: &str = "x-clarity-token";
/// The subprotocol that the server selects for such a client.
pub(crate) const PROTOCOL: &str = "roost";

/// Paths that need no token besides those of the web app, and what they begin with.
const OPEN: [&str; 4] = ["/health", "/api/auth/exchange", "/api/auth/refresh", "/api/auth/revoke"];
const OPEN_BELOW: [&str; 2] = ["/api/pair/", "/api/auth/pairing/"];

/// Where the MCP gateway is.
const MCP: &str = "/mcp";

/// The name under which calls with the token that the daemon was started with are counted and recorded.
pub(crate) const START_TOKEN_DEVICE: &str = "auth-token";

/// A request that was let in: who makes it, the device that proved itself, and what closes when an agent is gone.
#[derive(Clone)]
pub(crate) struct AdmittedRequest {
    pub(crate) caller: Caller,
    pub(crate) client: Option<Client>,
    pub(crate) runtime: Option<watch::Receiver<()>>,
}

/// Admits a request and passes it on, or refuses it. Adds the CORS headers to the response.
pub(crate) async fn guard(State(host): State<Arc<Host>>, mut request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = match admit(&host, &request) {
        Ok(_) if request.method() == Method::OPTIONS => StatusCode::OK.into_response(),
        Ok(admitted) => {
            let proved = admitted.caller.device.is_some() || admitted.caller.agent.is_some();
            let is_authenticated = proved || !host.settings.require_auth;
            if let Some(slot) = request.extensions().get::<Arc<ConnectionSlot>>()
                && is_authenticated
            {
                slot.authenticate();
            }
            request.extensions_mut().insert(admitted);
            let time = host.settings.limits.request_time;
            pass(request, if is_authenticated { Pace::steady(time) } else { Pace::within(time) }, next).await
        }
        Err(refusal) => return *refusal,
    };
    let headers = response.headers_mut();
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE, OPTIONS"));
        let allowed = "Content-Type, Authorization, X-Cdev-Token, X-Clarity-Token, X-Cdev-Protocol-Version, X-Roost-Local, \
                       Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID";
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(allowed));
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Mcp-Session-Id"));
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Passes a request on whose body must arrive at this pace.
async fn pass(request: Request, pace: Pace, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    let (body, was_cut) = PacedBody::new(body, pace);
    let response = next.run(Request::from_parts(head, Body::new(body))).await;
    if was_cut.get() {
        return *refuse(StatusCode::REQUEST_TIMEOUT, "the body came too slowly; send it again at once");
    }
    response
}

fn admit(host: &Host, request: &Request<Body>) -> Result<AdmittedRequest, Box<Response>> {
    let headers = request.headers();
    let named = request_host(headers, request.uri());
    if !named.as_deref().is_some_and(|name| is_our_name(&host.settings, name)) {
        return Err(refuse(
            StatusCode::FORBIDDEN,
            "this host name is not served here; add it to security.allowed_hosts",
        ));
    }
    if let Some(origin) = headers.get(header::ORIGIN)
        && !origin.to_str().is_ok_and(|origin| is_our_origin(&host.settings, origin, named.as_deref()))
    {
        return Err(Box::new((StatusCode::FORBIDDEN, "Origin not allowed").into_response()));
    }
    if let Some(version) = headers.get(VERSION)
        && !version.to_str().is_ok_and(|version| ["1", "2"].contains(&version.split('.').next().unwrap_or_default()))
    {
        let why = "this version of the protocol is not served; 1.x and 2.x are";
        let body = json!({ "error": why, "code": FaultCode::UnsupportedVersion.word(), "supported": ["1.x", "2.x"] });
        return Err(Box::new((StatusCode::BAD_REQUEST, Json(body)).into_response()));
    }
    if has_token(request.uri()) {
        return Err(refuse(StatusCode::BAD_REQUEST, "tokens in the address are refused; send Authorization: Bearer"));
    }
    let writes = [Method::POST, Method::PUT, Method::PATCH].contains(request.method());
    // A page can send a form to anybody, but not with a token in a header, which pictures need.
    let is_form = uploads::takes_forms(request.uri().path()) && has_type(headers, "multipart/form-data");
    let is_lines = request.uri().path() == rest::RUN_REPORTS && has_type(headers, rest::NDJSON);
    if writes && !is_form && !is_lines && !has_type(headers, "application/json") && !has_no_body(headers) {
        return Err(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send JSON with Content-Type: application/json"));
    }
    let path = request.uri().path();
    let token = bearer(headers);
    // Before anything that needs no token: an agent is never taken for somebody else.
    if let Some(token) = token.filter(|token| token.starts_with(SESSION_TOKEN_PREFIX)) {
        return admit_agent(host, token, path);
    }
    if request.method() == Method::OPTIONS || is_open(path) || !host.settings.require_auth {
        let caller = Caller::new(Door::Http, Scope::Operate, None);
        return Ok(AdmittedRequest { caller, client: None, runtime: None });
    }
    let token = token.ok_or_else(unauthorized)?;
    if is_start_token(&host.settings, token) {
        let starter = Device { id: START_TOKEN_DEVICE.into(), name: START_TOKEN_DEVICE.into() };
        let caller = Caller::new(Door::Http, Scope::Admin, Some(starter));
        return Ok(AdmittedRequest { caller, client: None, runtime: None });
    }
    let client = host.auth.devices.authenticate(token).map_err(|_| unauthorized())?;
    let device = Device { id: client.device_id.to_string(), name: client.name.clone() };
    let caller = Caller::new(Door::Http, client.scope, Some(device));
    Ok(AdmittedRequest { caller, client: Some(client), runtime: None })
}

/// Admits a hosted agent to the MCP gateway and nowhere else: everything else that it may do, it does over the local
/// socket, where its process is looked at.
fn admit_agent(host: &Host, token: &str, path: &str) -> Result<AdmittedRequest, Box<Response>> {
    let engine = &host.sessions.engine;
    let session = engine.session_of_token(token).ok_or_else(unauthorized)?;
    let runtime = engine.follow_token(token).ok_or_else(unauthorized)?;
    if path != MCP && !path.strip_prefix(MCP).is_some_and(|rest| rest.starts_with('/')) {
        return Err(refuse(
            StatusCode::FORBIDDEN,
            "this token belongs to the agent of a session, which may use tools at /mcp and nothing else; an agent does \
             not approve, start, stop or change anything",
        ));
    }
    let caller = Caller { agent: Some(Agent::Session(session)), ..Caller::new(Door::Http, Scope::Agent, None) };
    Ok(AdmittedRequest { caller, client: None, runtime: Some(runtime) })
}

fn unauthorized() -> Box<Response> {
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    Box::new((StatusCode::UNAUTHORIZED, challenge, "Unauthorized").into_response())
}

fn refuse(status: StatusCode, why: &str) -> Box<Response> {
    Box::new((status, Json(json!({ "error": why }))).into_response())
}

fn is_open(path: &str) -> bool {
    web_app::is_served(path) || OPEN.contains(&path) || OPEN_BELOW.iter().any(|open| path.starts_with(open))
}

/// Whether this is the token that the daemon was started with.
fn is_start_token(settings: &Settings, token: &str) -> bool {
    settings.start_token.as_ref().is_some_and(|ours| TokenHash::new(token) == TokenHash::new(ours.expose()))
}

/// The token of a request: in one of its headers, or among a WebSocket's protocols, where a browser can put it.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if let Some((scheme, token)) = header.and_then(|value| value.split_once(' ')) {
        return scheme.eq_ignore_ascii_case("bearer").then(|| token.trim());
    }
    if let Some(token) = headers.get(CLARITY_TOKEN) {
        return token.to_str().ok().map(str::trim);
    }
    let protocols = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    protocols.flat_map(|all| all.split(',')).find_map(|one| one.trim().strip_prefix(BEARER_PROTOCOL))
}

fn has_token(uri: &Uri) -> bool {
    let names = ["token", "access_token", "refresh_token", "pairing_token"];
    uri.query()
        .is_some_and(|query| query.split('&').any(|pair| names.contains(&pair.split('=').next().unwrap_or_default())))
}

pub(crate) fn has_type(headers: &HeaderMap, expected: &str) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(expected))
}

fn has_no_body(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH).map(HeaderValue::as_bytes);
    length.is_none_or(|length| length == b"0")
        && !headers.contains_key(header::TRANSFER_ENCODING)
        && !headers.contains_key(header::CONTENT_TYPE)
}

/// The host that the request addresses, in lower case and without its port.
fn request_host(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    let named = headers
        .get(header::HOST)
        .and_then(|value| value.to_str().ok())
        .or_else(|| uri.authority().map(|authority| authority.as_str()))?;
    Some(without_port(named).to_lowercase())
}

fn without_port(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => authority.rsplit_once(':').map_or(authority, |(name, _)| name),
    }
}

/// Names can be made to point here by anybody; addresses cannot, so only names are checked against the list.
fn is_our_name(settings: &Settings, name: &str) -> bool {
    let external = settings.tcp.as_ref().and_then(|tcp| tcp.external_url.as_deref()).and_then(url_host);
    is_local_name(name)
        || name.parse::<IpAddr>().is_ok()
        || external.as_deref() == Some(name)
        || settings.allowed_hosts.iter().any(|allowed| matches(allowed, name))
}

fn is_local_name(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// A page may call if it comes from this machine, from where it calls, or from the list.
fn is_our_origin(settings: &Settings, origin: &str, named: Option<&str>) -> bool {
    let listed = settings.allowed_origins.iter().any(|allowed| match allowed.strip_prefix("*.") {
        Some(_) => url_host(origin).is_some_and(|host| matches(allowed, &host)),
        None => allowed.eq_ignore_ascii_case(origin),
    });
    let host = url_host(origin);
    let same = host.is_some() && host.as_deref() == named;
    listed || host.as_deref().is_some_and(|host| is_local_name(host) || same && is_our_name(settings, host))
}

fn url_host(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let is_web = ["http", "https", "ws", "wss"].contains(&scheme.to_lowercase().as_str());
    let authority = rest.split(['/', '?', '#']).next().filter(|authority| !authority.is_empty())?;
    is_web.then(|| without_port(authority).to_lowercase())
}

/// Whether the name equals the allowed one, or lies below the domain of `*.domain`.
fn matches(allowed: &str, name: &str) -> bool {
    match allowed.strip_prefix("*.") {
        Some(domain) => name.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')),
        None => allowed.eq_ignore_ascii_case(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            allowed_origins: vec!["https://app.example".into(), "*.pages.example".into()],
            allowed_hosts: vec!["box.lan".into(), "*.tail.example".into()],
            ..Settings::default()
        }
    }

    #[test]
    fn only_our_own_names_and_addresses_are_served() {
        let table = [
            ("localhost", true),
            ("app.localhost", true),
            ("127.0.0.1", true),
            ("::1", true),
            ("192.0.2.7", true),
            ("box.lan", true),
            ("a.tail.example", true),
            ("tail.example", false),
            ("eviltail.example", false),
            ("rebind.example", false),
            ("localhost.evil.example", false),
            ("", false),
        ];
        for (name, served) in table {
            assert_eq!(is_our_name(&settings(), name), served, "{name}");
        }
    }

    #[test]
    fn only_pages_of_this_machine_and_of_the_list_may_call() {
        let table = [
            ("http://localhost:5173", true),
            ("http://127.0.0.1:9", true),
            ("https://app.example", true),
            ("https://x.pages.example", true),
            ("http://box.lan:8766", true),
            ("https://evil.example", false),
            ("https://app.example.evil", false),
            ("null", false),
            ("file://", false),
            ("", false),
        ];
        for (origin, allowed) in table {
            assert_eq!(is_our_origin(&settings(), origin, Some("box.lan")), allowed, "{origin}");
        }
    }

    #[test]
    fn a_token_in_the_address_is_seen() {
        for (uri, seen) in
            [("/ws?token=x", true), ("/ws?a=1&access_token=x", true), ("/ws?tokens=x", false), ("/ws", false)]
        {
            assert_eq!(has_token(&uri.parse().unwrap()), seen, "{uri}");
        }
    }
}
