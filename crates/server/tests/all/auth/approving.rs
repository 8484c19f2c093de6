//! Where somebody at the host has to let each device in.

use roost_server::auth::{AuthError, DeviceFacts};

use super::*;

async fn careful() -> Host {
    Host::with(Settings { require_approval: true, ..Settings::default() }).await
}

fn pending(exchanged: ExchangeOutcome) -> String {
    match exchanged {
        ExchangeOutcome::Pending { request_id, .. } => request_id,
        ExchangeOutcome::Granted(pair) => panic!("{pair:?}"),
    }
}

/// Waits until a device waits.
async fn waiting(host: &Host) -> String {
    loop {
        if let Some(request) = host.devices.pending().await.first() {
            return request.request_id.clone();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_exchange_that_nobody_answers_is_pending_and_its_token_can_be_tried_again() {
    let host = careful().await;
    let token = host.token().await;
    let asked = tokio::time::Instant::now();
    let request = pending(host.devices.exchange(&token, phone()).await.unwrap());
    assert_eq!(asked.elapsed().as_secs(), 25);
    let id = request.strip_prefix("pairreq_").unwrap();
    assert!(id.len() == 24 && id.bytes().all(|digit| digit.is_ascii_hexdigit()), "{request}");
    assert_eq!(pending(host.devices.exchange(&token, phone()).await.unwrap()), request);
    host.devices.approve(&request).await.unwrap();
    assert!(host.knows(&granted(host.devices.exchange(&token, phone()).await.unwrap())));
    assert_eq!(host.devices.pending().await, []);
}

#[tokio::test]
async fn an_exchange_waits_for_its_approval() {
    let host = careful().await;
    let token = host.token().await;
    let devices = host.devices.clone();
    let exchange = tokio::spawn(async move { devices.exchange(&token, phone()).await });
    let request = waiting(&host).await;
    host.devices.approve(&request).await.unwrap();
    assert!(host.knows(&granted(exchange.await.unwrap().unwrap())));
}

#[tokio::test]
async fn who_waits_is_shown_with_what_is_known_of_it() {
    let host = careful().await;
    let token = host.token().await;
    let devices = host.devices.clone();
    let exchange = tokio::spawn(async move { devices.exchange(&token, phone()).await });
    waiting(&host).await;
    let request = host.devices.pending().await.remove(0);
    assert_eq!((&*request.remote_addr, &*request.user_agent), ("192.168.1.7", "cdev-ios/1.4 (iPhone)"));
    assert_eq!((request.created_at, request.expires_at > host.now()), (host.now(), true));
    exchange.abort();
}

#[tokio::test]
async fn a_rejected_device_is_told_so_and_its_answer_stands() {
    let host = careful().await;
    let token = host.token().await;
    let (devices, asking) = (host.devices.clone(), token.clone());
    let exchange = tokio::spawn(async move { devices.exchange(&asking, phone()).await });
    let request = waiting(&host).await;
    host.devices.reject(&request).await.unwrap();
    assert!(matches!(exchange.await.unwrap(), Err(AuthError::Rejected)));
    assert!(matches!(host.devices.exchange(&token, phone()).await, Err(AuthError::Rejected)));
    let late = host.devices.approve(&request).await;
    assert!(matches!(late, Err(AuthError::UnknownRequest(_))), "{late:?}");
    assert_eq!(host.devices.list().await, []);
}

#[tokio::test(start_paused = true)]
async fn an_approval_is_for_the_device_that_was_seen_and_not_for_another_with_the_same_token() {
    let host = careful().await;
    let token = host.token().await;
    let thief = DeviceFacts { remote_addr: Some("10.0.0.66".into()), ..phone() };
    let request = pending(host.devices.exchange(&token, phone()).await.unwrap());
    host.devices.approve(&request).await.unwrap();
    assert_ne!(pending(host.devices.exchange(&token, thief).await.unwrap()), request);
    granted(host.devices.exchange(&token, phone()).await.unwrap());
    assert_eq!(host.devices.pending().await, [], "the token is used, so nobody else waits for it");
}

#[tokio::test]
async fn an_unknown_request_cannot_be_answered() {
    let host = careful().await;
    for answered in [host.devices.approve("pairreq_1").await, host.devices.reject("pairreq_1").await] {
        assert!(matches!(answered, Err(AuthError::UnknownRequest(_))), "{answered:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_ends_with_its_pairing_token() {
    let host = careful().await;
    let token = host.token().await;
    let request = pending(host.devices.exchange(&token, phone()).await.unwrap());
    host.pass(HOUR);
    assert_eq!(host.devices.pending().await, []);
    assert!(matches!(host.devices.approve(&request).await, Err(AuthError::UnknownRequest(_))));
    assert!(matches!(host.devices.exchange(&token, phone()).await, Err(AuthError::PairingToken)));
}

#[tokio::test(start_paused = true)]
async fn a_crowd_that_waits_has_a_bound() {
    let host = careful().await;
    let token = host.token().await;
    for n in 0..32 {
        let device = DeviceFacts { name: Some(format!("device {n}")), ..phone() };
        pending(host.devices.exchange(&token, device).await.unwrap());
    }
    let refused = host.devices.exchange(&token, phone()).await;
    assert!(matches!(refused, Err(AuthError::TooManyRequests)), "{refused:?}");
}
