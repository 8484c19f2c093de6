//! What a token may not do, method by method and route by route.

use roost_model::scope::Scope;
use roost_rpc::{Method, Verb};
use serde_json::json;

use crate::kit::Door;

/// The methods that need more than this scope.
fn beyond(scope: Scope) -> Vec<Method> {
    Method::ALL.iter().copied().filter(|method| method.scope() > scope).collect()
}

async fn token(door: &Door, scope: Scope) -> String {
    door.pair(Some(scope)).await["access_token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn no_method_is_open_to_a_token_of_a_lower_scope() {
    let door = Door::open().await;
    for scope in [Scope::Observe, Scope::Operate] {
        let mut client = door.connect(&token(&door, scope).await).await.unwrap();
        client.hello().await;
        assert!(beyond(scope).len() > 10, "{scope:?} is a lower scope");
        for method in beyond(scope) {
            let refused = client.call(method.name(), json!({})).await.expect_err(method.name());
            let data = &refused["data"];
            let expected = (&json!("forbidden"), &json!(scope), &json!(method.scope()));
            let code = json!(data["code"].as_str().unwrap_or_default().to_lowercase());
            assert_eq!((&code, &data["scope"], &data["needs"]), expected, "{}: {refused}", method.name());
        }
    }
}

#[tokio::test]
async fn no_route_is_open_to_a_token_of_a_lower_scope() {
    let door = Door::open().await;
    for scope in [Scope::Observe, Scope::Operate] {
        let token = token(&door, scope).await;
        for route in beyond(scope).into_iter().flat_map(|method| method.routes()) {
            let path = route.path.replace(['{', '}'], "");
            let verb = match route.verb {
                Verb::Get => "GET",
                Verb::Post => "POST",
                Verb::Delete => "DELETE",
            };
            let body = if route.verb == Verb::Get { "" } else { r#"{"kind":"agent.run_started","run_id":"r"}"# };
            let request = format!(
                "{verb} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
                 Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            let (status, _, answer) = door.raw(&request).await;
            assert_eq!(status, 403, "{verb} {path} with {scope:?}: {answer}");
        }
    }
}
