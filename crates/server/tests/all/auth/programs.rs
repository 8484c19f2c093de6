//! The token of a program lives long, is not refreshed, and ends when its device is revoked.

use roost_server::auth::{AuthError, CloseReason, Token, TokenKind};

use super::*;

const NEARLY_A_YEAR: Duration = Duration::from_secs(364 * 24 * 3600);

#[tokio::test]
async fn the_token_of_a_program_outlives_access_tokens_and_restarts_and_ends_after_a_year() {
    let host = Host::new().await;
    let (phone, program) = (host.pair().await, host.devices.program_token("ci", Scope::Observe).await.unwrap());
    let token = program.token.reveal();
    host.pass(HOUR);
    assert!(!host.knows(&phone), "an access token of a device lives 15 minutes");
    let client = host.devices.authenticate(token).unwrap();
    assert_eq!((client.scope, client.name.as_str(), &client.device_id), (Scope::Observe, "ci", &program.device_id));
    host.pass(NEARLY_A_YEAR);
    let host = host.restarted().await;
    assert!(host.devices.authenticate(token).unwrap().is_alive());
    host.pass(DAY);
    assert!(matches!(host.devices.authenticate(token), Err(AuthError::AccessToken)));
    assert_eq!(host.devices.list().await.len(), 0);
}

#[tokio::test]
async fn a_revoked_program_is_out_at_once_and_its_connections_are_told() {
    let host = Host::new().await;
    let program = host.devices.program_token("ci", Scope::Operate).await.unwrap();
    let mut client = host.devices.authenticate(program.token.reveal()).unwrap();
    let names: Vec<_> = host.devices.list().await.into_iter().map(|device| device.name).collect();
    assert_eq!(names, ["ci"]);
    host.devices.revoke_device(&program.device_id).await.unwrap();
    assert_eq!(client.ended().await, CloseReason::Revoked);
    let host = host.restarted().await;
    assert!(matches!(host.devices.authenticate(program.token.reveal()), Err(AuthError::AccessToken)));
}

#[tokio::test]
async fn the_token_of_a_program_is_stored_as_a_hash_and_cannot_be_refreshed() {
    let host = Host::new().await;
    let program = host.devices.program_token("ci", Scope::Operate).await.unwrap();
    let kept = host.rows().await + &host.events().await;
    assert!(!kept.contains(program.token.reveal()), "{kept}");
    assert_eq!(host.types().await, ["device.paired"]);
    let guessed = Token::new(TokenKind::Refresh).unwrap();
    for token in [program.token.reveal(), guessed.reveal()] {
        assert!(matches!(host.devices.refresh(token).await, Err(AuthError::RefreshToken)));
    }
}

#[tokio::test]
async fn a_program_without_a_name_gets_no_token() {
    let host = Host::new().await;
    let refused = host.devices.program_token(" \n", Scope::Operate).await;
    assert!(matches!(refused, Err(AuthError::NoName)), "{refused:?}");
    assert_eq!(host.devices.list().await.len(), 0);
}
