//! Access and refresh tokens: how long they are good, and what happens when one comes again.

use roost_server::auth::{AuthError, CloseReason};

use super::*;

#[tokio::test]
async fn an_access_token_is_good_for_fifteen_minutes() {
    let host = Host::new().await;
    let pair = host.pair().await;
    host.pass(15 * MINUTE - SECOND);
    assert!(host.knows(&pair));
    host.pass(SECOND);
    assert!(!host.knows(&pair));
}

#[tokio::test]
async fn a_refresh_token_gives_the_next_pair_once() {
    let host = Host::new().await;
    let first = host.pair().await;
    let second = host.devices.refresh(first.refresh.reveal()).await.unwrap();
    assert!(host.knows(&second));
    let again = host.devices.refresh(first.refresh.reveal()).await;
    assert!(matches!(again, Err(AuthError::RefreshToken)), "{again:?}");
    let third = host.devices.refresh(second.refresh.reveal()).await.unwrap();
    assert_eq!((host.knows(&third), third.device_id), (true, first.device_id));
}

#[tokio::test]
async fn the_access_token_before_stays_good_for_what_is_on_its_way_and_the_one_before_that_does_not() {
    let host = Host::new().await;
    let first = host.pair().await;
    host.pass(13 * MINUTE);
    let second = host.devices.refresh(first.refresh.reveal()).await.unwrap();
    assert!(host.knows(&first) && host.knows(&second));
    host.pass(2 * MINUTE);
    assert!(!host.knows(&first) && host.knows(&second));
    let third = host.devices.refresh(second.refresh.reveal()).await.unwrap();
    let fourth = host.devices.refresh(third.refresh.reveal()).await.unwrap();
    assert!(!host.knows(&second) && host.knows(&third) && host.knows(&fourth));
}

#[tokio::test]
async fn a_refresh_token_is_good_for_seven_days() {
    let host = Host::new().await;
    let (early, late) = (host.pair().await, host.pair().await);
    host.pass(7 * DAY - SECOND);
    host.devices.refresh(early.refresh.reveal()).await.unwrap();
    host.pass(SECOND);
    assert!(matches!(host.devices.refresh(late.refresh.reveal()).await, Err(AuthError::RefreshToken)));
    let listed: Vec<_> = host.devices.list().await.into_iter().map(|device| device.device_id).collect();
    assert_eq!(listed, [early.device_id]);
}

#[tokio::test]
async fn tokens_survive_a_restart() {
    let host = Host::new().await;
    let first = host.pair().await;
    let second = host.devices.refresh(first.refresh.reveal()).await.unwrap();
    let host = host.restarted().await;
    assert!(host.knows(&first) && host.knows(&second));
    assert!(matches!(host.devices.refresh(first.refresh.reveal()).await, Err(AuthError::RefreshToken)));
    host.devices.refresh(second.refresh.reveal()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_refreshes_at_once_one_wins_and_nobody_is_revoked() {
    let host = Host::new().await;
    let pair = host.pair().await;
    let refreshes = (0..16).map(|_| {
        let (devices, token) = (host.devices.clone(), pair.refresh.clone());
        tokio::spawn(async move { devices.refresh(token.reveal()).await })
    });
    let mut won = Vec::new();
    for refresh in refreshes.collect::<Vec<_>>() {
        won.extend(refresh.await.unwrap().ok());
    }
    assert_eq!(won.len(), 1);
    assert!(host.knows(&won[0]));
}

#[tokio::test]
async fn a_used_refresh_token_that_comes_within_thirty_seconds_revokes_nobody() {
    let host = Host::new().await;
    let first = host.pair().await;
    let second = host.devices.refresh(first.refresh.reveal()).await.unwrap();
    host.pass(30 * SECOND);
    assert!(matches!(host.devices.refresh(first.refresh.reveal()).await, Err(AuthError::RefreshToken)));
    assert!(host.knows(&second));
    host.devices.refresh(second.refresh.reveal()).await.unwrap();
}

#[tokio::test]
async fn a_used_refresh_token_that_comes_later_revokes_the_device() {
    let host = Host::new().await;
    let (first, other) = (host.pair().await, host.pair().await);
    let second = host.devices.refresh(first.refresh.reveal()).await.unwrap();
    host.pass(31 * SECOND);
    assert!(matches!(host.devices.refresh(first.refresh.reveal()).await, Err(AuthError::RefreshToken)));
    assert!(!host.knows(&second) && host.knows(&other));
    assert!(matches!(host.devices.refresh(second.refresh.reveal()).await, Err(AuthError::RefreshToken)));
    assert_eq!(host.types().await, ["device.paired", "device.paired", "device.revoked"]);
    let host = host.restarted().await;
    assert!(!host.knows(&second) && host.knows(&other));
}

#[tokio::test]
async fn a_refresh_token_of_long_ago_is_known_for_what_it_is() {
    let host = Host::new().await;
    let first = host.pair().await;
    let mut last = first.clone();
    for _ in 0..12 {
        last = host.devices.refresh(last.refresh.reveal()).await.unwrap();
        host.pass(10 * MINUTE);
    }
    let host = host.restarted().await;
    assert!(matches!(host.devices.refresh(first.refresh.reveal()).await, Err(AuthError::RefreshToken)));
    assert!(!host.knows(&last));
}

#[tokio::test]
async fn a_forged_refresh_token_revokes_nobody() {
    let host = Host::new().await;
    let pair = host.pair().await;
    for forged in [format!("cdev_r_{}", "A".repeat(86)), pair.access.reveal().replace("cdev_s_", "cdev_r_")] {
        assert!(matches!(host.devices.refresh(&forged).await, Err(AuthError::RefreshToken)));
        assert!(matches!(host.devices.revoke(&forged).await, Err(AuthError::RefreshToken)));
    }
    assert!(host.knows(&pair));
}

#[tokio::test]
async fn a_device_that_was_away_for_too_long_is_forgotten_at_the_next_start() {
    let host = Host::new().await;
    host.pair().await;
    host.pass(8 * DAY);
    let host = host.restarted().await;
    assert_eq!(host.log.rows(RowKind::Device).await.unwrap(), []);
    assert_eq!(host.types().await, ["device.paired", "device.revoked"]);
}

#[tokio::test(start_paused = true)]
async fn a_connection_lives_as_long_as_its_device_refreshes_its_tokens() {
    let host = Host::new().await;
    let pair = host.pair().await;
    let mut client = host.devices.authenticate(pair.access.reveal()).unwrap();
    host.pass(14 * MINUTE);
    let second = host.devices.refresh(pair.refresh.reveal()).await.unwrap();
    host.pass(2 * MINUTE);
    assert!(client.expires_at <= host.now() && client.is_alive());
    assert_eq!(client.alive_until(), Some(second.access_expires_at));
    let ended = tokio::spawn(async move { client.ended().await });
    host.pass(13 * MINUTE);
    assert_eq!(ended.await.unwrap(), CloseReason::Expired);
}
