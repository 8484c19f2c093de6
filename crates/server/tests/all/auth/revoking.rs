//! Revoked devices are out at once, for good, and know it.

use roost_model::ids::DeviceId;
use roost_server::auth::{AuthError, CloseReason};

use super::*;

#[tokio::test]
async fn a_revoked_device_is_out_and_stays_out_after_a_restart() {
    let host = Host::new().await;
    let (lost, kept) = (host.pair().await, host.pair().await);
    host.devices.revoke_device(&lost.device_id).await.unwrap();
    assert!(!host.knows(&lost) && host.knows(&kept));
    let host = host.restarted().await;
    assert!(!host.knows(&lost) && host.knows(&kept));
    assert!(matches!(host.devices.refresh(lost.refresh.reveal()).await, Err(AuthError::RefreshToken)));
    assert_eq!(host.devices.list().await.len(), 1);
}

#[tokio::test]
async fn a_device_can_revoke_itself() {
    let host = Host::new().await;
    let pair = host.pair().await;
    assert_eq!(host.devices.revoke(pair.refresh.reveal()).await.unwrap(), pair.device_id);
    assert!(!host.knows(&pair));
    assert!(matches!(host.devices.revoke(pair.refresh.reveal()).await, Err(AuthError::RefreshToken)));
}

#[tokio::test]
async fn a_device_that_is_not_there_cannot_be_revoked() {
    let host = Host::new().await;
    let refused = host.devices.revoke_device(&DeviceId::from("dev_1")).await;
    assert!(matches!(refused, Err(AuthError::UnknownDevice(_))), "{refused:?}");
}

#[tokio::test]
async fn revoking_all_ends_devices_pairing_tokens_and_codes() {
    let host = Host::new().await;
    let (first, second, token) = (host.pair().await, host.pair().await, host.token().await);
    let code = host.devices.code(Scope::Operate).await.unwrap();
    assert_eq!(host.devices.revoke_all().await.unwrap(), 2);
    let host = host.restarted().await;
    assert!(!host.knows(&first) && !host.knows(&second));
    assert!(matches!(host.devices.exchange(&token, phone()).await, Err(AuthError::PairingToken)));
    assert!(matches!(host.devices.redeem_code(&code.digits, [192, 0, 2, 1].into()).await, Err(AuthError::Code)));
    assert!(host.knows(&host.pair().await));
}

#[tokio::test]
async fn connections_of_a_revoked_device_are_told_and_others_are_not() {
    let host = Host::new().await;
    let (lost, kept) = (host.pair().await, host.pair().await);
    let connect = |pair: &TokenPair| host.devices.authenticate(pair.access.reveal()).unwrap();
    let (mut first, mut second, other) = (connect(&lost), connect(&lost), connect(&kept));
    host.devices.revoke_device(&lost.device_id).await.unwrap();
    assert_eq!((first.ended().await, second.ended().await), (CloseReason::Revoked, CloseReason::Revoked));
    assert_eq!((first.is_alive(), first.alive_until(), other.is_alive()), (false, None, true));
}
