//! Who is let in: names of this machine, pages that may call it, tokens, scopes.

use roost_model::scope::Scope;
use serde_json::{Value, json};
use testkit::soon;

use crate::kit::Door;

const JSON: (&str, &str) = ("Content-Type", "application/json");
const HEALTH: &str = r#"{"jsonrpc":"2.0","id":1,"method":"status/health"}"#;

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

#[tokio::test]
async fn only_an_access_token_that_was_given_out_opens_anything() {
    let door = Door::open().await;
    let offer = door.local().await.call("pair/create", json!({})).await.unwrap();
    let pair = door.pair(None).await;
    let good = pair["access_token"].as_str().unwrap();
    let mut altered = good.to_owned();
    let last = altered.pop().unwrap();
    altered.push(if last == 'A' { 'B' } else { 'A' });
    let bad = [
        Value::Null,
        json!(""),
        json!("cdev_s_"),
        json!("cdev_s_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
        json!(altered),
        json!(good.to_uppercase()),
        offer["token"].clone(),
        pair["refresh_token"].clone(),
    ];
    let paths = [
        "GET /ws",
        "GET /metrics",
        "GET /api/status",
        "GET /api/rpc/discover",
        "GET /api/claude/sessions",
        "GET /nowhere",
    ];
    for token in &bad {
        let value = token.as_str().map(bearer);
        let headers: Vec<_> = value.as_deref().map(|value| ("Authorization", value)).into_iter().collect();
        for path in paths {
            let (status, head, _) = door.http(path, &headers, "").await;
            assert_eq!(status, 401, "{path} with {token}");
            assert!(head.contains("www-authenticate: bearer"), "{head}");
        }
        let (status, ..) = door.http("POST /api/rpc", &[&headers[..], &[JSON][..]].concat(), HEALTH).await;
        assert_eq!(status, 401, "{token}");
        assert_eq!(door.upgrade("/ws", &headers).await.err(), Some(401), "{token}");
    }
    assert!(door.upgrade("/ws", &[("Authorization", bearer(good).as_str())]).await.is_ok());
}

#[tokio::test]
async fn the_token_that_the_daemon_was_started_with_opens_everything_in_either_header() {
    let start_token = "a-token-of-whoever-starts-it";
    let door = Door::open_with(|settings| settings.start_token = Some(start_token.into())).await;
    let device = door.token().await;
    let services = r#"{"jsonrpc":"2.0","id":1,"method":"secret/list"}"#;
    let cases = [
        ("Authorization", bearer(start_token), 200),
        ("X-Clarity-Token", start_token.to_owned(), 200),
        ("X-Clarity-Token", device.clone(), 200),
        ("X-Clarity-Token", String::new(), 401),
        ("X-Clarity-Token", format!("{start_token}x"), 401),
        ("X-Clarity-Token", start_token[1..].to_owned(), 401),
    ];
    for (name, value, expected) in cases {
        let (status, ..) = door.http("POST /api/rpc", &[(name, &value), JSON], HEALTH).await;
        assert_eq!(status, expected, "{name}: {value}");
    }
    let (_, _, body) = door.http("POST /api/rpc", &[("X-Clarity-Token", start_token), JSON], services).await;
    assert!(body.contains("\"result\""), "it has the scope admin: {body}");
    let (_, _, body) = door.http("POST /api/rpc", &[("X-Clarity-Token", &device), JSON], services).await;
    assert!(body.contains("\"error\""), "a device keeps its own scope: {body}");
    // A page of another site gets nowhere, whatever it knows.
    let evil = [("X-Clarity-Token", start_token), ("Origin", "https://evil.example"), JSON];
    assert_eq!(door.http("POST /api/rpc", &evil, HEALTH).await.0, 403);
    assert_eq!(door.http(&format!("GET /api/events?token={start_token}"), &[], "").await.0, 400);
}

#[tokio::test]
async fn without_a_start_token_no_empty_or_guessed_one_is_taken() {
    let door = Door::open().await;
    for token in ["", " ", "auth-token"] {
        assert_eq!(door.http("POST /api/rpc", &[("X-Clarity-Token", token), JSON], HEALTH).await.0, 401, "{token:?}");
    }
}

#[tokio::test]
async fn what_pairs_a_device_needs_no_token() {
    let door = Door::open().await;
    for path in ["/health", "/", "/pair", "/api/pair/info"] {
        assert_eq!(door.get(path, None).await.0, 200, "{path}");
    }
    let health: Value = serde_json::from_str(&door.get("/health", None).await.1).unwrap();
    assert_eq!(health["status"], "ok");
}

#[tokio::test]
async fn a_token_in_the_address_is_refused_even_beside_a_good_one() {
    let door = Door::open().await;
    let token = door.token().await;
    let value = bearer(&token);
    let good = ("Authorization", value.as_str());
    for name in ["token", "access_token"] {
        assert_eq!(door.upgrade(&format!("/ws?{name}={token}"), &[good]).await.err(), Some(400));
        assert_eq!(door.upgrade(&format!("/ws?a=b&{name}={token}"), &[]).await.err(), Some(400));
        assert_eq!(door.http(&format!("GET /api/status?{name}={token}"), &[good], "").await.0, 400);
    }
}

#[tokio::test]
async fn a_browser_sends_its_token_as_a_websocket_protocol_and_gets_another_one_back() {
    let door = Door::open().await;
    let protocols = format!("roost, bearer.{}", door.token().await);
    let (mut client, headers) =
        door.upgrade("/ws", &[("Sec-WebSocket-Protocol", protocols.as_str())]).await.ok().unwrap();
    assert_eq!(headers["sec-websocket-protocol"], "roost");
    client.hello().await;
    let forged = "roost, bearer.cdev_s_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    assert_eq!(door.upgrade("/ws", &[("Sec-WebSocket-Protocol", forged)]).await.err(), Some(401));
}

#[tokio::test]
async fn a_foreign_host_name_is_refused_on_every_route_and_on_the_upgrade() {
    let door = Door::open_with(|settings| settings.allowed_hosts = vec!["box.lan".into()]).await;
    let value = bearer(&door.token().await);
    let good = ("Authorization", value.as_str());
    for name in ["evil.example", "localhost.evil.example", "evil.example:8766"] {
        let host = ("Host", name);
        for path in ["GET /", "GET /health", "GET /pair", "GET /api/pair/info", "GET /api/status", "GET /metrics"] {
            assert_eq!(door.http(path, &[host, good], "").await.0, 403, "{path} at {name}");
        }
        assert_eq!(door.http("POST /api/rpc", &[host, good, JSON], HEALTH).await.0, 403);
        assert_eq!(door.http("POST /api/auth/exchange", &[host, JSON], "{}").await.0, 403);
        assert_eq!(door.upgrade("/ws", &[host, good]).await.err(), Some(403));
    }
    assert_eq!(door.raw("GET /health HTTP/1.1\r\nConnection: close\r\n\r\n").await.0, 403);
    for name in ["localhost", "localhost:1", "127.0.0.1", "[::1]:80", "box.lan", "BOX.lan:8766"] {
        assert_eq!(door.http("GET /health", &[("Host", name)], "").await.0, 200, "{name}");
    }
}

#[tokio::test]
async fn a_page_of_another_site_is_refused_over_http_and_on_the_upgrade() {
    let door = Door::open_with(|settings| settings.allowed_origins = vec!["https://app.example".into()]).await;
    let value = bearer(&door.token().await);
    let good = ("Authorization", value.as_str());
    for site in ["https://evil.example", "http://localhost.evil.example", "null", "https://app.example.evil"] {
        let origin = ("Origin", site);
        assert_eq!(door.http("GET /health", &[origin], "").await.0, 403, "{site}");
        assert_eq!(door.http("OPTIONS /api/rpc", &[origin], "").await.0, 403, "{site}");
        assert_eq!(door.http("POST /api/rpc", &[origin, good, JSON], HEALTH).await.0, 403, "{site}");
        assert_eq!(door.http("POST /api/auth/exchange", &[origin, JSON], "{}").await.0, 403, "{site}");
        assert_eq!(door.upgrade("/ws", &[origin, good]).await.err(), Some(403), "{site}");
    }
    for site in ["http://localhost:5173", "http://127.0.0.1:3000", "https://app.example"] {
        let origin = ("Origin", site);
        let (status, head, _) = door.http("POST /api/rpc", &[origin, good, JSON], HEALTH).await;
        assert_eq!(status, 200);
        assert!(head.contains(&format!("access-control-allow-origin: {site}")), "{head}");
        assert!(door.upgrade("/ws", &[origin, good]).await.is_ok(), "{site}");
    }
}

#[tokio::test]
async fn a_browser_may_ask_beforehand_without_a_token() {
    let door = Door::open().await;
    let asks = [
        ("Origin", "http://localhost:5173"),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization,content-type"),
    ];
    let (status, head, _) = door.http("OPTIONS /api/rpc", &asks, "").await;
    assert_eq!(status, 200);
    for header in
        ["access-control-allow-methods: get, post", "access-control-allow-headers: content-type, authorization"]
    {
        assert!(head.contains(header), "{head}");
    }
}

#[tokio::test]
async fn what_is_written_is_json_by_its_content_type() {
    let door = Door::open().await;
    let value = bearer(&door.token().await);
    let good = ("Authorization", value.as_str());
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp"] {
        for path in ["POST /api/rpc", "POST /api/claude/run", "POST /api/auth/exchange", "POST /api/pair/code"] {
            assert_eq!(door.http(path, &[good, ("Content-Type", kind)], HEALTH).await.0, 415, "{path} as {kind}");
        }
    }
    assert_eq!(door.http("POST /api/rpc", &[good], HEALTH).await.0, 415);
    let kind = ("Content-Type", "Application/JSON; charset=utf-8");
    assert_eq!(door.http("POST /api/rpc", &[good, kind], HEALTH).await.0, 200);
    // Where nothing is sent, nothing needs a type.
    assert_eq!(door.http("POST /api/claude/stop", &[good], "").await.0, 409);
}

#[tokio::test]
async fn a_pairing_token_that_comes_again_is_refused() {
    let door = Door::open().await;
    let offer = door.local().await.call("pair/create", json!({})).await.unwrap();
    let body = json!({ "pairing_token": offer["token"] });
    let tries = (0..8).map(|_| door.post("/api/auth/exchange", None, &body));
    let answers = futures::future::join_all(tries).await;
    assert_eq!(answers.iter().filter(|(status, _)| *status == 200).count(), 1, "{answers:?}");
    assert!(answers.iter().all(|(status, _)| [200, 401].contains(status)), "{answers:?}");
}

#[tokio::test]
async fn of_several_refreshes_at_once_one_wins_and_the_device_goes_on() {
    let door = Door::open().await;
    let pair = door.pair(None).await;
    let body = json!({ "refresh_token": pair["refresh_token"] });
    let tries = (0..8).map(|_| door.post("/api/auth/refresh", None, &body));
    let answers = futures::future::join_all(tries).await;
    let winners: Vec<_> = answers.iter().filter(|(status, _)| *status == 200).collect();
    assert_eq!(winners.len(), 1, "{answers:?}");
    let token = winners[0].1["access_token"].as_str().unwrap();
    assert_eq!(door.rpc(token, "status/health", json!({})).await.0, 200);
}

#[tokio::test]
async fn revoking_a_device_closes_its_sockets_with_1008_and_no_others() {
    let door = Door::open().await;
    let pair = door.pair(None).await;
    let token = pair["access_token"].as_str().unwrap();
    let mut first = door.connect(token).await.unwrap();
    first.hello().await;
    let mut second = door.connect(token).await.unwrap();
    let mut other = door.client().await;
    let mut local = door.local().await;
    local.call("device/revoke", json!({ "device_id": pair["device_id"] })).await.unwrap();
    assert_eq!(first.closed().await.unwrap().0, 1008);
    assert_eq!(second.closed().await.unwrap().0, 1008);
    other.call("status/health", json!({})).await.unwrap();
    assert_eq!(door.upgrade("/ws", &[("Authorization", bearer(token).as_str())]).await.err(), Some(401));
    let refresh = json!({ "refresh_token": pair["refresh_token"] });
    assert_eq!(door.post("/api/auth/refresh", None, &refresh).await.0, 401);
}

#[tokio::test]
async fn a_program_does_what_its_token_allows_until_it_is_revoked() {
    let door = Door::open().await;
    let mut local = door.local().await;
    let made = local.call("device/token", json!({ "name": "ci", "scope": "observe" })).await.unwrap();
    let token = made["token"].as_str().unwrap();
    let mut socket = door.connect(token).await.unwrap();
    socket.hello().await;
    assert_eq!(door.rpc(token, "status/health", json!({})).await.0, 200);
    // It can neither do more than it was made for, nor make itself a token that can.
    for (method, params) in [
        ("session/start", json!({ "workspace_id": door.workspace().await })),
        ("device/token", json!({ "name": "more" })),
        ("pair/create", json!({})),
    ] {
        let refused = socket.call(method, params).await.unwrap_err();
        assert_eq!(refused["data"]["code"], "FORBIDDEN", "{method}: {refused}");
    }
    assert_eq!(door.post("/api/auth/refresh", None, &json!({ "refresh_token": token })).await.0, 401);
    local.call("device/revoke", json!({ "device_id": made["device_id"] })).await.unwrap();
    assert_eq!(socket.closed().await.unwrap().0, 1008);
    assert_eq!(door.upgrade("/ws", &[("Authorization", bearer(token).as_str())]).await.err(), Some(401));
}

#[tokio::test]
async fn a_device_is_listed_by_its_name_with_its_connections() {
    let door = Door::open().await;
    let mut local = door.local().await;
    let offer = local.call("pair/create", json!({ "scope": "observe" })).await.unwrap();
    let body = json!({ "pairing_token": offer["token"], "device_name": "Ada's phone" });
    let (_, pair) = door.post("/api/auth/exchange", None, &body).await;
    let _client = door.connect(pair["access_token"].as_str().unwrap()).await.unwrap();
    let connected = async {
        loop {
            let list = local.call("device/list", json!({})).await.unwrap();
            assert_eq!(
                (&list["devices"][0]["name"], &list["devices"][0]["scope"]),
                (&json!("Ada's phone"), &json!("observe"))
            );
            if list["devices"][0]["connections"] == 1 {
                return;
            }
        }
    };
    soon("the device is connected", connected).await;
}

#[tokio::test]
async fn a_scope_allows_what_it_names_and_nothing_above_it() {
    let door = Door::open().await;
    let workspace = door.workspace().await;
    // A call, and the lowest scope that may make it.
    let calls = [
        ("workspace/list", json!({}), Scope::Observe),
        ("session/list", json!({}), Scope::Observe),
        ("events/subscribe", json!({}), Scope::Observe),
        ("session/start", json!({ "workspace_id": workspace }), Scope::Operate),
        ("workspace/update", json!({ "workspace_id": workspace, "auto_start": false }), Scope::Operate),
        ("device/list", json!({}), Scope::Admin),
        ("pair/create", json!({}), Scope::Admin),
        ("daemon/status", json!({}), Scope::Admin),
    ];
    for scope in [Scope::Observe, Scope::Operate, Scope::Admin] {
        let pair = door.pair(Some(scope)).await;
        let token = pair["access_token"].as_str().unwrap();
        let mut client = door.connect(token).await.unwrap();
        client.hello().await;
        for (method, params, needs) in &calls {
            let answers = [
                client.call(method, params.clone()).await,
                match door.rpc(token, method, params.clone()).await.1 {
                    answer if answer.get("error").is_some() => Err(answer["error"].clone()),
                    answer => Ok(answer["result"].clone()),
                },
            ];
            for answer in answers {
                match answer {
                    Err(fault) if fault["code"] == -32051 => {
                        assert!(scope < *needs, "{scope:?} {method}: {fault}");
                        let data = &fault["data"];
                        assert_eq!((&data["scope"], &data["needs"]), (&json!(scope), &json!(needs)));
                    }
                    answer => assert!(scope >= *needs, "{scope:?} {method}: {answer:?}"),
                }
            }
        }
    }
}

#[tokio::test]
async fn where_no_token_is_asked_for_a_stranger_may_operate_and_not_administer() {
    let door = Door::open_with(|settings| settings.require_auth = false).await;
    let (mut client, _) = door.upgrade("/ws", &[]).await.ok().unwrap();
    client.hello().await;
    let workspace = door.workspace().await;
    client.call("session/start", json!({ "workspace_id": workspace })).await.unwrap();
    assert_eq!(client.call("pair/create", json!({})).await.unwrap_err()["code"], -32051);
    assert_eq!(door.upgrade("/ws", &[("Origin", "https://evil.example")]).await.err(), Some(403));
}
