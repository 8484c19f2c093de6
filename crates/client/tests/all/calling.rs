//! Calls and their answers.

use roost_client::{Client, Error};
use roost_rpc::{FaultCode, NoParams, SessionParams, method};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::daemon::Daemon;

fn session(id: &str) -> SessionParams {
    SessionParams { session_id: id.into(), agent_type: None }
}

#[tokio::test]
async fn calls_made_at_once_get_their_own_answers_in_any_order() {
    let (client, mut peer) = Daemon::new().client().await;
    let daemon = async {
        let requests = [peer.request().await.unwrap(), peer.request().await.unwrap()];
        for request in requests.iter().rev() {
            let name = &request["params"]["workspace_id"];
            peer.answer(request, json!({ "success": true, "message": name })).await;
        }
    };
    let remove = |id: &str| roost_rpc::WorkspaceParams { workspace_id: id.into() };
    let (one, two, ()) = tokio::join!(
        client.call::<method::WorkspaceRemove>(remove("one")),
        client.call::<method::WorkspaceRemove>(remove("two")),
        daemon,
    );
    assert_eq!((&*one.unwrap().message, &*two.unwrap().message), ("one", "two"));
}

#[tokio::test]
async fn a_refusal_is_a_fault_with_its_code() {
    let (client, mut peer) = Daemon::new().client().await;
    let daemon = async {
        let request = peer.request().await.unwrap();
        let error = json!({ "code": -32010, "message": "no session \"x\"", "data": { "code": "SESSION_NOT_FOUND" } });
        peer.say(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }).to_string()).await;
    };
    let (answer, ()) = tokio::join!(client.call::<method::SessionGet>(session("x")), daemon);
    let Err(Error::Fault(fault)) = answer else { panic!("it was refused: {answer:?}") };
    assert_eq!((fault.kind(), &*fault.message), (Some(FaultCode::SessionNotFound), "no session \"x\""));
}

#[tokio::test]
async fn heartbeats_are_passed_over_and_of_events_that_nobody_asked_for_the_last_is_kept() {
    let (client, mut peer) = Daemon::new().client().await;
    let daemon = async {
        let request = peer.request().await.unwrap();
        peer.say(r#"{"event":"heartbeat","payload":{"sequence":1}}"#).await;
        peer.say(r#"{"jsonrpc":"2.0","method":"event/claude_status","params":{}}"#).await;
        peer.say(r#"{"jsonrpc":"2.0","method":"event/error","params":{"a":1}}"#).await;
        peer.say("").await;
        peer.answer(&request, json!({ "success": true })).await;
    };
    let (answer, ()) = tokio::join!(client.call::<method::DaemonStop>(NoParams {}), daemon);
    assert!(answer.unwrap().success);
    let told = client.last_notification().borrow().clone().unwrap();
    assert_eq!((&*told.event, told.params.get()), ("error", r#"{"a":1}"#));
}

#[tokio::test]
async fn a_call_that_is_given_up_disturbs_no_other() {
    let (client, mut peer) = Daemon::new().client().await;
    let given_up = {
        let call = client.call::<method::DaemonStop>(NoParams {});
        tokio::select! {
            _ = call => panic!("nobody answers"),
            request = peer.request() => request.unwrap(),
        }
    };
    let daemon = async {
        let request = peer.request().await.unwrap();
        peer.answer(&given_up, json!({ "success": false })).await;
        peer.answer(&request, json!({ "success": true })).await;
    };
    let (answer, ()) = tokio::join!(client.call::<method::DaemonStop>(NoParams {}), daemon);
    assert!(answer.unwrap().success);
}

#[tokio::test]
async fn a_daemon_that_goes_even_in_the_middle_of_a_line_leaves_nobody_waiting() {
    for last_words in ["", r#"{"jsonrpc":"2.0","id":2,"res"#] {
        let (client, mut peer) = Daemon::new().client().await;
        let daemon = async {
            peer.request().await.unwrap();
            peer.write.write_all(last_words.as_bytes()).await.unwrap();
            drop(peer);
        };
        let (answer, ()) = tokio::join!(client.call::<method::DaemonStop>(NoParams {}), daemon);
        assert!(matches!(answer, Err(Error::Gone)), "{answer:?}");
        client.gone().await;
        assert!(matches!(client.call::<method::DaemonStop>(NoParams {}).await, Err(Error::Gone)));
    }
}

#[tokio::test]
async fn what_makes_no_sense_is_told_to_whoever_waits() {
    for nonsense in ["this is not JSON", r#"{"jsonrpc":"2.0","id":2}"#, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#] {
        let (client, mut peer) = Daemon::new().client().await;
        let daemon = async {
            peer.request().await.unwrap();
            peer.say(nonsense).await;
        };
        let (answer, ()) = tokio::join!(client.call::<method::DaemonStop>(NoParams {}), daemon);
        assert!(matches!(answer, Err(Error::Protocol(_))), "{nonsense}: {answer:?}");
    }
}

#[tokio::test]
async fn a_client_that_is_dropped_hangs_up() {
    let (client, mut peer) = Daemon::new().client().await;
    drop(client);
    assert_eq!(peer.request().await, None);
}

#[tokio::test]
async fn nobody_listening_is_told_apart_from_other_failures() {
    let folder = tempfile::TempDir::new().unwrap();
    let left_behind = folder.path().join("sock");
    drop(std::os::unix::net::UnixListener::bind(&left_behind).unwrap());
    for path in [folder.path().join("nothing"), left_behind] {
        assert!(Client::connect(&path).await.err().unwrap().is_nobody(), "{path:?}");
    }
    assert!(!Client::connect("x".repeat(200).as_ref()).await.err().unwrap().is_nobody(), "no socket has such a name");
}
