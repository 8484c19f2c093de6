//! Pairing tokens and codes: each good once, for a while, for one device.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use roost_log::{Health, Log, LogOptions, StreamId};
use roost_model::event::{EventBody, NewEvent};
use roost_model::scope::Scope;
use roost_server::auth::{AuthError, CodeEnd, DeviceFacts, PairingLocks, Settings, Token, TokenKind};
use serde_json::json;

use super::*;

#[tokio::test]
async fn a_paired_device_is_let_in_with_what_its_pairing_token_grants() {
    let host = Host::new().await;
    for scope in [Scope::Observe, Scope::Operate, Scope::Admin] {
        let offered = host.devices.pairing_token(scope).await.unwrap();
        let pair = granted(host.devices.exchange(offered.token.reveal(), phone()).await.unwrap());
        let client = host.devices.authenticate(pair.access.reveal()).unwrap();
        assert_eq!((client.scope, &client.device_id), (scope, &pair.device_id));
    }
}

#[tokio::test]
async fn only_access_tokens_let_in() {
    let host = Host::new().await;
    let pair = host.pair().await;
    let forged = format!("cdev_s_{}", "A".repeat(43));
    for token in [&host.token().await, pair.refresh.reveal(), &forged, "", "cdev_s_", "nonsense"] {
        let refused = host.devices.authenticate(token);
        assert!(matches!(refused, Err(AuthError::AccessToken)), "{token} {refused:?}");
    }
}

#[tokio::test]
async fn a_pairing_token_is_good_once() {
    let host = Host::new().await;
    let token = host.token().await;
    granted(host.devices.exchange(&token, phone()).await.unwrap());
    let again = host.devices.exchange(&token, phone()).await;
    assert!(matches!(again, Err(AuthError::PairingToken)), "{again:?}");
}

#[tokio::test]
async fn a_used_pairing_token_stays_used_after_a_restart_and_an_unused_one_stays_good() {
    let host = Host::new().await;
    let (used, unused) = (host.token().await, host.token().await);
    granted(host.devices.exchange(&used, phone()).await.unwrap());
    let host = host.restarted().await;
    assert!(matches!(host.devices.exchange(&used, phone()).await, Err(AuthError::PairingToken)));
    granted(host.devices.exchange(&unused, phone()).await.unwrap());
}

#[tokio::test]
async fn a_pairing_token_is_good_for_as_long_as_configured() {
    let host = Host::with(Settings { pairing_ttl: HOUR, ..Settings::default() }).await;
    let (early, late) = (host.token().await, host.token().await);
    host.pass(HOUR - SECOND);
    granted(host.devices.exchange(&early, phone()).await.unwrap());
    host.pass(SECOND);
    assert!(matches!(host.devices.exchange(&late, phone()).await, Err(AuthError::PairingToken)));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_exchanges_at_once_one_wins() {
    let host = Host::new().await;
    let token = host.token().await;
    let exchanges = (0..16).map(|_| {
        let (devices, token) = (host.devices.clone(), token.clone());
        tokio::spawn(async move { devices.exchange(&token, phone()).await })
    });
    let mut won = 0;
    for exchange in exchanges.collect::<Vec<_>>() {
        won += usize::from(exchange.await.unwrap().is_ok());
    }
    assert_eq!((won, host.devices.list().await.len()), (1, 1));
}

#[tokio::test]
async fn pairing_tokens_that_nobody_uses_do_not_pile_up() {
    let host = Host::new().await;
    let first = host.token().await;
    for _ in 0..100 {
        host.pass(SECOND);
        host.token().await;
    }
    assert!(host.log.rows(RowKind::Secret).await.unwrap().len() <= 64);
    assert!(matches!(host.devices.exchange(&first, phone()).await, Err(AuthError::PairingToken)));
    granted(host.devices.exchange(&host.token().await, phone()).await.unwrap());
}

#[tokio::test]
async fn a_code_is_six_digits_that_become_a_pairing_token_once() {
    let host = Host::new().await;
    let code = host.devices.code(Scope::Observe).await.unwrap();
    assert!(code.digits.len() == 6 && code.digits.bytes().all(|digit| digit.is_ascii_digit()), "{}", code.digits);
    let offered = host.devices.redeem_code(&code.digits, address(9)).await.unwrap();
    let pair = granted(host.devices.exchange(offered.token.reveal(), phone()).await.unwrap());
    assert_eq!(pair.scope, Scope::Observe);
    assert!(matches!(host.devices.redeem_code(&code.digits, address(9)).await, Err(AuthError::Code)));
}

#[tokio::test]
async fn a_code_is_good_for_ten_minutes_and_until_the_next_one_is_made() {
    let host = Host::new().await;
    let old = host.devices.code(Scope::Operate).await.unwrap();
    let new = loop {
        let new = host.devices.code(Scope::Operate).await.unwrap();
        if new.digits != old.digits {
            break new;
        }
    };
    assert!(matches!(host.devices.redeem_code(&old.digits, address(9)).await, Err(AuthError::Code)));
    host.pass(10 * MINUTE);
    assert!(matches!(host.devices.redeem_code(&new.digits, address(9)).await, Err(AuthError::Code)));
}

#[tokio::test(start_paused = true)]
async fn whoever_shows_a_code_is_told_why_it_is_no_longer_valid() {
    let host = Host::new().await;
    let digits = || async { host.devices.code(Scope::Operate).await.unwrap().digits };
    let used = digits().await;
    host.devices.redeem_code(&used, address(9)).await.unwrap();
    assert_eq!(host.devices.code_end(&used).await, CodeEnd::Used);
    let withdrawn = digits().await;
    let guesses = async {
        for attempt in 0..50 {
            assert!(host.devices.redeem_code(wrong(&withdrawn), address(attempt)).await.is_err());
        }
    };
    let (end, ()) = tokio::join!(host.devices.code_end(&withdrawn), guesses);
    assert_eq!(end, CodeEnd::Withdrawn);
    let expired = digits().await;
    host.pass(10 * MINUTE - SECOND);
    let (end, ()) = tokio::join!(host.devices.code_end(&expired), async { host.pass(SECOND) });
    assert_eq!(end, CodeEnd::Expired);
}

/// A code that is not this one.
fn wrong(digits: &str) -> &'static str {
    if digits == "000000" { "000001" } else { "000000" }
}

/// An address of the network for documentation.
fn address(last: u8) -> IpAddr {
    [192, 0, 2, last].into()
}

#[tokio::test]
async fn wrong_tries_lock_the_address_that_tried_and_not_the_owner() {
    let host = Host::new().await;
    let code = host.devices.code(Scope::Operate).await.unwrap();
    for _ in 0..5 {
        let refused = host.devices.redeem_code(wrong(&code.digits), address(1)).await;
        assert!(matches!(refused, Err(AuthError::Code)), "{refused:?}");
    }
    // Even the right code is of no use to that address any more.
    let refused = host.devices.redeem_code(&code.digits, address(1)).await;
    assert!(matches!(refused, Err(AuthError::AddressLocked)), "{refused:?}");
    let locks = PairingLocks { addresses: vec![address(1)], code_withdrawn: false };
    assert_eq!(host.devices.locks().await, locks);
    assert_eq!(host.types().await, ["pairing.locked"]);
    let told = r#""payload":{"address":"192.0.2.1","wrong_tries":5,"code_withdrawn":false}"#;
    assert!(host.events().await.contains(told), "{}", host.events().await);
    host.devices.redeem_code(&code.digits, address(2)).await.unwrap();
}

#[tokio::test]
async fn many_addresses_together_have_fifty_tries_of_a_code_and_the_next_code_is_good_for_all() {
    let host = Host::new().await;
    let code = host.devices.code(Scope::Operate).await.unwrap();
    for attempt in 0..50 {
        let refused = host.devices.redeem_code(wrong(&code.digits), address(attempt)).await;
        assert!(matches!(refused, Err(AuthError::Code)), "{refused:?}");
    }
    let refused = host.devices.redeem_code(&code.digits, address(200)).await;
    assert!(matches!(refused, Err(AuthError::CodeWithdrawn)), "{refused:?}");
    assert!(host.devices.locks().await.code_withdrawn);
    let code = host.devices.code(Scope::Operate).await.unwrap();
    assert_eq!(host.devices.locks().await, PairingLocks::default());
    host.devices.redeem_code(&code.digits, address(0)).await.unwrap();
}

#[tokio::test]
async fn whoever_has_a_whole_ipv6_network_is_one_address() {
    let host = Host::new().await;
    let code = host.devices.code(Scope::Operate).await.unwrap();
    let one = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 1, last, 0, 0, last]);
    for last in 0..5 {
        assert!(host.devices.redeem_code(wrong(&code.digits), one(last)).await.is_err());
    }
    let refused = host.devices.redeem_code(&code.digits, one(77)).await;
    assert!(matches!(refused, Err(AuthError::AddressLocked)), "{refused:?}");
}

#[tokio::test]
async fn codes_differ() {
    let host = Host::new().await;
    let mut codes = HashSet::new();
    for _ in 0..20 {
        codes.insert(host.devices.code(Scope::Operate).await.unwrap().digits);
    }
    assert!(codes.len() > 15, "{codes:?}");
}

#[tokio::test]
async fn a_device_is_listed_with_what_it_said_about_itself_made_harmless() {
    let host = Host::new().await;
    let facts = DeviceFacts {
        name: Some("Ada's\u{1b}[31m phone\n".into()),
        user_agent: Some("x".repeat(5000)),
        remote_addr: Some("192.168.1.7".into()),
    };
    let pair = granted(host.devices.exchange(&host.token().await, facts).await.unwrap());
    let unnamed = host.pair().await;
    let list = host.devices.list().await;
    let names: Vec<_> = list.iter().map(|device| (&device.device_id, device.name.as_str())).collect();
    assert_eq!(names, [(&pair.device_id, "Ada's[31m phone"), (&unnamed.device_id, "cdev-ios")]);
    assert_eq!(list[0].facts.user_agent.as_ref().unwrap().len(), 120);
    assert_eq!((list[0].paired_at, list[0].expires_at), (host.now(), pair.refresh_expires_at));
}

#[tokio::test]
async fn a_device_was_last_seen_when_it_last_proved_itself() {
    let host = Host::new().await;
    let pair = host.pair().await;
    host.pass(MINUTE);
    assert!(host.knows(&pair));
    assert_eq!(host.devices.list().await[0].last_seen, host.now());
}

#[tokio::test]
async fn no_token_or_hash_is_in_any_event_and_no_token_in_any_row() {
    let host = Host::new().await;
    let offered = host.devices.pairing_token(Scope::Operate).await.unwrap();
    let first = granted(host.devices.exchange(offered.token.reveal(), phone()).await.unwrap());
    let next = host.devices.refresh(first.refresh.reveal()).await.unwrap();
    let unused = host.devices.pairing_token(Scope::Operate).await.unwrap();
    host.devices.revoke_device(&host.pair().await.device_id).await.unwrap();
    let (events, rows) = (host.events().await, host.rows().await);
    assert_eq!(host.types().await, ["device.paired", "device.paired", "device.revoked"]);
    let tokens = [&offered.token, &unused.token, &first.access, &first.refresh, &next.access, &next.refresh];
    for token in tokens {
        for half in token.reveal().as_bytes()["cdev_p_".len()..].chunks(43).map(String::from_utf8_lossy) {
            assert!(!events.contains(&*half) && !rows.contains(&*half), "{token:?}");
        }
        assert!(!events.contains(&token.hash().to_string()), "{token:?}");
    }
    assert!(rows.contains(&next.refresh.hash().to_string()), "{rows}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_goes_away_while_it_is_paired_is_paired_all_the_same() {
    let pages = Arc::new(AtomicU32::new(u32::MAX - 1));
    let host =
        Host::on(LogOptions { page_limit: Some(pages.clone()), ..Default::default() }, Settings::default()).await;
    let token = host.token().await;
    pages.store(1, Ordering::Release);
    let noise: String = (0..20_000).map(|_| Token::new(TokenKind::Access).unwrap().reveal().to_owned()).collect();
    let big = EventBody::Other { name: "big".into(), payload: json!(noise) };
    let mut health = host.log.health();
    let big = host.log.append(&StreamId::from("s"), vec![NewEvent::for_host(host.now(), big)]).await.unwrap();
    health.wait_for(|health| matches!(health, Health::Stalled { .. })).await.unwrap();
    let exchange = tokio::spawn({
        let (devices, token) = (host.devices.clone(), token.clone());
        async move { devices.exchange(&token, phone()).await }
    });
    // It holds the state now: whoever looks waits.
    while tokio::time::timeout(Duration::from_millis(1), host.devices.list()).await.is_ok() {}
    exchange.abort();
    pages.store(u32::MAX - 1, Ordering::Release);
    big.await.unwrap();
    assert_eq!(host.devices.list().await.len(), 1);
    let host = host.restarted().await;
    assert_eq!(host.devices.list().await.len(), 1);
    assert!(matches!(host.devices.exchange(&token, phone()).await, Err(AuthError::PairingToken)));
}
