//! Pairing and tokens as clients and pages see them.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Request, StatusCode, header};
use http_body_util::BodyExt;
use roost_server::auth::{Auth, CodeEnd, Endpoint, LOCAL_HEADER, LocalSecret, routes};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::*;

const HERE: &str = "127.0.0.1:50000";
const PHONE: &str = "192.168.1.7:50000";

/// A host with its routes.
struct Site {
    host: Host,
    auth: Arc<Auth>,
    router: Router,
}

/// An answer, read to its end.
struct HttpAnswer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl HttpAnswer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }

    fn error(&self) -> (u16, String) {
        (self.status.as_u16(), self.json()["error"].as_str().unwrap().to_owned())
    }
}

impl Site {
    async fn new() -> Self {
        Self::with(Settings::default()).await
    }

    async fn with(settings: Settings) -> Self {
        let host = Host::with(settings).await;
        let endpoint = Endpoint {
            address: Some("0.0.0.0:8766".parse().unwrap()),
            session: "instance-1".into(),
            repo: "engine".into(),
            require_auth: true,
            ..Endpoint::default()
        };
        let local = LocalSecret::create(host.dir.path(), clock(&host.time)).unwrap();
        let auth = Arc::new(Auth { devices: host.devices.clone(), local, endpoint });
        Self { router: routes(auth.clone()), auth, host }
    }

    fn secret(&self) -> String {
        std::fs::read_to_string(LocalSecret::path(self.host.dir.path())).unwrap()
    }

    async fn ask(&self, peer: &str, headers: &[(&str, &str)], path: &str, body: Option<Value>) -> HttpAnswer {
        let mut request = Request::builder().uri(path).header(header::HOST, "192.168.1.5:8766");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if body.is_some() {
            request = request.method("POST").header(header::CONTENT_TYPE, "application/json");
        }
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let request = request.extension(ConnectInfo(peer.parse::<SocketAddr>().unwrap())).body(body).unwrap();
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let (status, headers) = (answer.status(), answer.headers().clone());
        HttpAnswer { status, headers, body: answer.into_body().collect().await.unwrap().to_bytes().to_vec() }
    }

    /// Asks as a phone would.
    async fn post(&self, path: &str, body: Value) -> HttpAnswer {
        self.ask(PHONE, &[(header::USER_AGENT.as_str(), "cdev-ios/1.4")], path, Some(body)).await
    }

    /// Asks as somebody at the host would.
    async fn here(&self, path: &str, body: Option<Value>) -> HttpAnswer {
        self.ask(HERE, &[(LOCAL_HEADER, &self.secret())], path, body).await
    }

    async fn exchange(&self) -> Value {
        let answer = self.post("/api/auth/exchange", json!({ "pairing_token": self.host.token().await })).await;
        assert_eq!(answer.status, 200);
        answer.json()
    }
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn an_exchange_gives_a_pair_in_the_form_that_clients_decode() {
    let site = Site::new().await;
    let pair = site.exchange().await;
    let expected = [
        "access_token",
        "access_token_expires_at",
        "refresh_token",
        "refresh_token_expires_at",
        "token_type",
        "expires_in",
        "device_id",
        "scope",
    ];
    assert_eq!(keys(&pair), expected);
    assert_eq!((&pair["token_type"], &pair["expires_in"]), (&json!("Bearer"), &json!(900)));
    assert_eq!(pair["access_token_expires_at"], json!("2026-09-21T14:28:20.000Z"));
    assert!(site.host.devices.authenticate(pair["access_token"].as_str().unwrap()).is_ok());
    assert_eq!(site.host.devices.list().await[0].facts.remote_addr.as_deref(), Some("192.168.1.7"));
}

#[tokio::test]
async fn a_refresh_gives_the_next_pair_once() {
    let site = Site::new().await;
    let pair = site.exchange().await;
    let body = json!({ "refresh_token": pair["refresh_token"] });
    let next = site.post("/api/auth/refresh", body.clone()).await;
    assert_eq!((next.status.as_u16(), keys(&next.json())), (200, keys(&pair)));
    assert_eq!(site.post("/api/auth/refresh", body).await.status, 401);
}

#[tokio::test]
async fn a_device_that_revokes_itself_is_gone_and_takes_no_workspace_with_it() {
    let site = Site::new().await;
    let pair = site.exchange().await;
    let revoked = site.post("/api/auth/revoke", json!({ "refresh_token": pair["refresh_token"] })).await;
    assert_eq!(revoked.json(), json!({ "success": true, "orphaned_workspaces": [] }));
    assert_eq!(site.host.devices.list().await, []);
}

#[tokio::test]
async fn refusals_have_the_status_and_the_words_that_clients_know() {
    let site = Site::new().await;
    let forged = format!("cdev_p_{}", "A".repeat(43));
    let table = [
        ("/api/auth/exchange", json!({ "pairing_token": forged }), 401, "Invalid or expired pairing token"),
        ("/api/auth/exchange", json!({ "pairing_token": "" }), 401, "Invalid or expired pairing token"),
        ("/api/auth/exchange", json!({}), 400, "Send a JSON object: missing field `pairing_token`"),
        ("/api/auth/exchange", json!({ "pairing_token": 7 }), 400, "Send a JSON object: invalid type"),
        ("/api/auth/exchange", json!([]), 400, "Send a JSON object"),
        ("/api/auth/exchange?pairing_token=cdev_p_x", json!({}), 400, "Send a JSON object"),
        ("/api/auth/refresh", json!({ "refresh_token": "cdev_r_x" }), 401, "Invalid or expired refresh token"),
        ("/api/auth/refresh", json!({}), 400, "Send a JSON object: missing field `refresh_token`"),
        ("/api/auth/revoke", json!({ "refresh_token": "cdev_r_x" }), 401, "Invalid or expired refresh token"),
        ("/api/pair/code", json!({ "code": "000000" }), 401, "Invalid or expired pairing code"),
        ("/api/pair/code", json!({ "code": "12345" }), 400, "A pairing code is six digits"),
        ("/api/pair/code", json!({ "code": "12345x" }), 400, "A pairing code is six digits"),
    ];
    for (path, body, status, words) in table {
        let (told, error) = site.post(path, body.clone()).await.error();
        assert!(told == status && error.starts_with(words), "{path} {body}: {told} {error}");
    }
}

#[tokio::test]
async fn a_body_that_is_too_big_is_refused_in_the_same_form() {
    let site = Site::new().await;
    let body = json!({ "pairing_token": "x".repeat(3 << 20) });
    assert_eq!(site.post("/api/auth/exchange", body).await.error().0, 413);
}

#[tokio::test]
async fn a_code_becomes_a_pairing_token_and_that_a_pair() {
    let site = Site::new().await;
    let info = site.here("/api/pair/info?include_token=1", None).await.json();
    let told = site.post("/api/pair/code", json!({ "code": info["code"] })).await.json();
    assert_eq!((keys(&told), &told["expires_in"]), (vec!["pairing_token", "expires_at", "expires_in"], &json!(3600)));
    let pair = site.post("/api/auth/exchange", json!({ "pairing_token": told["pairing_token"] })).await;
    assert_eq!(pair.status, 200);
}

#[tokio::test]
async fn a_code_can_be_typed_as_it_is_shown() {
    let site = Site::new().await;
    for (before, between) in [("", " "), ("", "-"), (" ", "")] {
        let code = site.host.devices.code(Scope::Operate).await.unwrap().digits;
        let typed = format!("{before}{}{between}{}", &code[..3], &code[3..]);
        assert_eq!(site.post("/api/pair/code", json!({ "code": typed })).await.status, 200, "{typed:?}");
    }
}

#[tokio::test]
async fn opening_the_page_leaves_the_code_on_the_screen_valid_until_another_is_asked_for() {
    let site = Site::new().await;
    let shown = site.host.devices.code(Scope::Observe).await.unwrap();
    let page = site.here("/api/pair/info?include_token=1", None).await.json();
    assert_eq!((&page["code"], &page["code_scope"]), (&json!(shown.digits), &json!("observe")));
    assert_eq!(page["code_expires_at"], json!(shown.expires_at));
    site.here("/api/pair/info?include_token=1&new_code=1", None).await;
    assert_eq!(site.host.devices.code_end(&shown.digits).await, CodeEnd::Replaced);
}

#[tokio::test]
async fn a_page_pairs_devices_with_the_scope_that_its_link_was_made_for() {
    let site = Site::new().await;
    let offer = site.auth.offer(Scope::Observe, None).await.unwrap();
    let (_, secret) = offer.page.split_once("/pair#").unwrap();
    let opened = site.ask(HERE, &[], "/api/pair/open", Some(json!({ "secret": secret }))).await.json();
    let own = [(LOCAL_HEADER, opened["local"].as_str().unwrap())];
    let info = site.ask(HERE, &own, "/api/pair/info?include_token=1", None).await.json();
    let image = site.ask(HERE, &own, "/api/pair/qr", None).await.body;
    for token in [info["token"].clone(), scanned(&image)["token"].clone()] {
        let pair = granted(site.host.devices.exchange(token.as_str().unwrap(), phone()).await.unwrap());
        assert_eq!(pair.scope, Scope::Observe);
    }
}

#[tokio::test]
async fn anybody_learns_where_the_daemon_is_and_only_the_host_gets_a_token() {
    let site = Site::new().await;
    let info = site.ask(PHONE, &[], "/api/pair/info", None).await.json();
    let expected = json!({ "ws": "ws://192.168.1.5:8766/ws", "http": "http://192.168.1.5:8766",
        "session": "instance-1", "repo": "engine", "auth_required": true });
    assert_eq!(info, expected);
    let info = site.here("/api/pair/info?include_token=1", None).await.json();
    assert!(site.host.devices.exchange(info["token"].as_str().unwrap(), phone()).await.is_ok());
    assert!(info["token_expires_at"].as_str().unwrap().ends_with(".000Z"));
}

#[tokio::test]
async fn what_shows_a_token_or_approves_needs_this_machine_and_its_secret_and_nobody_in_between() {
    let site = Site::with(Settings { require_approval: true, ..Settings::default() }).await;
    let secret = site.secret();
    let own = (LOCAL_HEADER, secret.as_str());
    let strangers: [(&str, Vec<(&str, &str)>); 8] = [
        (PHONE, vec![own]),
        (HERE, vec![]),
        (HERE, vec![(LOCAL_HEADER, "guess")]),
        (HERE, vec![own, ("x-forwarded-for", "203.0.113.9")]),
        (HERE, vec![own, ("x-forwarded-proto", "https")]),
        (HERE, vec![own, ("forwarded", "for=203.0.113.9")]),
        (HERE, vec![own, ("cf-connecting-ip", "203.0.113.9")]),
        (HERE, vec![own, ("via", "1.1 tunnel")]),
    ];
    let doors = [
        ("/api/pair/info?include_token=1", None),
        ("/api/pair/info?include_token=1&new_code=1", None),
        ("/api/pair/qr", None),
        ("/api/pair/refresh", Some(json!({}))),
        ("/api/auth/pairing/pending", None),
        ("/api/auth/pairing/approve", Some(json!({ "request_id": "pairreq_1" }))),
        ("/api/auth/pairing/reject", Some(json!({ "request_id": "pairreq_1" }))),
    ];
    for (peer, headers) in strangers {
        for (path, body) in &doors {
            let answer = site.ask(peer, &headers, path, body.clone()).await;
            assert_eq!(answer.error().0, 403, "{path} {peer} {headers:?}");
        }
    }
    assert_eq!(site.here("/api/pair/qr", None).await.status, 200);
    assert_eq!(site.ask("[::1]:9", &[own], "/api/pair/qr", None).await.status, 200);
    assert_eq!(site.ask("[::ffff:127.0.0.1]:9", &[own], "/api/pair/qr", None).await.status, 200);
}

#[tokio::test]
async fn a_request_whose_peer_is_unknown_is_nobodys_at_the_host() {
    let site = Site::new().await;
    let request = Request::get("/api/pair/qr").header(LOCAL_HEADER, site.secret()).body(Body::empty()).unwrap();
    assert_eq!(site.router.clone().oneshot(request).await.unwrap().status(), 403);
}

#[tokio::test]
async fn the_qr_code_holds_what_a_phone_needs_to_pair() {
    let site = Site::new().await;
    let answer = site.here("/api/pair/qr?size=300", None).await;
    assert_eq!(answer.headers[header::CONTENT_TYPE], "image/png");
    assert_eq!(pixels(&answer.body).0, 300);
    let link = scanned(&answer.body);
    assert_eq!(keys(&link), ["ws", "http", "session", "repo", "token"]);
    assert_eq!((&link["ws"], &link["repo"]), (&json!("ws://192.168.1.5:8766/ws"), &json!("engine")));
    granted(site.host.devices.exchange(link["token"].as_str().unwrap(), phone()).await.unwrap());
}

/// The JSON that a phone reads from the image of a QR code.
fn scanned(image: &[u8]) -> Value {
    let (side, pixels) = pixels(image);
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(side, side, |x, y| pixels[y * side + x]);
    let (_, text) = image.detect_grids()[0].decode().unwrap();
    serde_json::from_str(&text).unwrap()
}

fn pixels(image: &[u8]) -> (usize, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(image)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width as usize, pixels)
}

#[tokio::test]
async fn a_qr_code_is_no_bigger_than_512_pixels() {
    let site = Site::new().await;
    assert_eq!(pixels(&site.here("/api/pair/qr?size=100000", None).await.body).0, 512);
    assert_eq!(pixels(&site.here("/api/pair/qr", None).await.body).0, 256);
    assert_eq!(site.here("/api/pair/qr?size=big", None).await.error().0, 400);
}

#[tokio::test]
async fn starting_over_revokes_everybody_and_offers_a_new_token() {
    let site = Site::new().await;
    let pair = site.exchange().await;
    let told = site.here("/api/pair/refresh", Some(json!({}))).await.json();
    assert_eq!(keys(&told), ["token", "expires_at", "message"]);
    assert!(site.host.devices.authenticate(pair["access_token"].as_str().unwrap()).is_err());
    granted(site.host.devices.exchange(told["token"].as_str().unwrap(), phone()).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_device_waits_for_approval_is_seen_and_let_in() {
    let site = Site::with(Settings { require_approval: true, ..Settings::default() }).await;
    let body = json!({ "pairing_token": site.host.token().await, "name": "Ada's phone" });
    let told = site.post("/api/auth/exchange", body.clone()).await;
    assert_eq!((told.status.as_u16(), &told.json()["status"]), (202, &json!("pending_approval")));
    let request = told.json()["request_id"].clone();
    let listed = site.here("/api/auth/pairing/pending", None).await.json();
    assert_eq!((&listed["count"], &listed["pending"][0]["request_id"]), (&json!(1), &request));
    assert_eq!(listed["pending"][0]["name"], "Ada's phone");
    assert_eq!(listed["pending"][0]["remote_addr"], "192.168.1.7");
    assert_eq!(listed["pending"][0]["user_agent"], "cdev-ios/1.4");
    let answer = site.here("/api/auth/pairing/approve", Some(json!({ "request_id": request }))).await.json();
    assert_eq!(answer, json!({ "success": true, "status": "approved", "request_id": request }));
    assert_eq!(site.post("/api/auth/exchange", body).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_rejected_device_gets_403_and_an_unknown_request_404() {
    let site = Site::with(Settings { require_approval: true, ..Settings::default() }).await;
    let body = json!({ "pairing_token": site.host.token().await });
    let request = site.post("/api/auth/exchange", body.clone()).await.json()["request_id"].clone();
    let answer = json!({ "request_id": request });
    assert_eq!(site.here("/api/auth/pairing/reject", Some(answer.clone())).await.json()["status"], "rejected");
    let refused = site.post("/api/auth/exchange", body).await.error();
    assert_eq!(refused, (403, "Pairing request rejected".into()));
    assert_eq!(site.here("/api/auth/pairing/approve", Some(answer)).await.error().0, 404);
}

#[tokio::test]
async fn where_no_approval_is_needed_nothing_can_be_pending() {
    let site = Site::new().await;
    assert_eq!(site.here("/api/auth/pairing/pending", None).await.error().0, 404);
}

#[tokio::test]
async fn a_device_behind_a_tunnel_is_shown_as_such() {
    let site = Site::new().await;
    let body = json!({ "pairing_token": site.host.token().await });
    let answer = site.ask(HERE, &[("x-forwarded-for", "203.0.113.9")], "/api/auth/exchange", Some(body)).await;
    assert_eq!(answer.status, 200);
    let address = site.host.devices.list().await[0].facts.remote_addr.clone();
    assert_eq!(address.as_deref(), Some("127.0.0.1, forwarded for 203.0.113.9"));
}

#[tokio::test]
async fn a_link_opens_the_page_for_somebody_at_the_host_once() {
    let site = Site::new().await;
    let offer = site.auth.offer(Scope::Operate, None).await.unwrap();
    let (address, secret) = offer.page.split_once("/pair#").unwrap();
    assert_eq!(address, "http://127.0.0.1:8766");
    let body = json!({ "secret": secret });
    assert_eq!(site.ask(PHONE, &[], "/api/pair/open", Some(body.clone())).await.error().0, 403);
    let opened = site.ask(HERE, &[], "/api/pair/open", Some(body.clone())).await.json();
    let local = opened["local"].as_str().unwrap();
    assert_eq!(site.ask(HERE, &[(LOCAL_HEADER, local)], "/api/pair/qr", None).await.status, 200);
    assert_eq!(site.ask(HERE, &[], "/api/pair/open", Some(body)).await.error().0, 403);
}

#[tokio::test]
async fn an_offer_holds_what_a_terminal_shows() {
    let site = Site::new().await;
    let offer = site.auth.offer(Scope::Admin, Some("box.lan:8766")).await.unwrap();
    assert_eq!((&*offer.ws, &*offer.http), ("ws://box.lan:8766/ws", "http://box.lan:8766"));
    let pair = granted(site.host.devices.exchange(&offer.token, phone()).await.unwrap());
    assert_eq!(pair.scope, Scope::Admin);
    assert_eq!(offer.link, Some(format!("http://box.lan:8766/pair#{}", offer.code)));
    assert_eq!(site.post("/api/pair/code", json!({ "code": offer.code })).await.status, 200);
}

#[tokio::test]
async fn no_answer_is_kept_by_anybody_in_between() {
    let site = Site::new().await;
    for path in ["/api/pair/info", "/api/pair/qr"] {
        let answer = site.here(path, None).await;
        assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store", "{path}");
    }
}

#[tokio::test]
async fn wrong_codes_count_against_the_address_that_a_proxy_on_this_machine_saw_and_against_no_other_claim() {
    /// The headers of a try that claims to come from this address.
    type Headers = fn(u8) -> Vec<(&'static str, String)>;
    let proxied: Headers = |claim| vec![("x-forwarded-for", format!("10.0.0.{claim}, 203.0.113.5"))];
    let twice: Headers =
        |claim| vec![("x-forwarded-for", format!("10.0.0.{claim}")), ("x-forwarded-for", "203.0.113.5".to_owned())];
    let claimed: Headers = |claim| vec![("x-forwarded-for", format!("10.0.0.{claim}"))];
    let table = [(HERE, proxied, "203.0.113.5"), (HERE, twice, "203.0.113.5"), (PHONE, claimed, "192.168.1.7")];
    for (peer, headers, locked) in table {
        let site = Site::new().await;
        let info = site.here("/api/pair/info?include_token=1", None).await.json();
        let right = info["code"].as_str().unwrap();
        let wrong = if right == "000000" { "000001" } else { "000000" };
        let attempt = async |code: &str, claim: u8| {
            let headers = headers(claim);
            let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            site.ask(peer, &headers, "/api/pair/code", Some(json!({ "code": code }))).await.status.as_u16()
        };
        for claim in 0..5 {
            assert_eq!(attempt(wrong, claim).await, 401);
        }
        assert_eq!(attempt(right, 99).await, 429, "{locked}");
        let locks = site.host.devices.locks().await.addresses;
        assert_eq!(locks.iter().map(ToString::to_string).collect::<Vec<_>>(), [locked]);
        let owner = site.ask("192.168.1.8:50000", &[], "/api/pair/code", Some(json!({ "code": right }))).await;
        assert_eq!(owner.status, 200);
    }
}
