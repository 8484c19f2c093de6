use serde_json::{Value, json};

use super::super::Interjection;
use super::super::call_limiter::CallLimiter;
use super::super::limits::DefaultLimits;
use super::*;
use crate::era::Era;
use crate::principal::Principal;

const PATIENCE: Duration = Duration::from_secs(10);

fn raw(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

fn queue(max_running: usize, max_waiting: usize) -> CallQueue {
    CallLimiter::new(max_running, max_waiting).queue(&Principal::Local)
}

fn peer() -> (Arc<ServerPeer>, PeerChannels) {
    ServerPeer::new(DefaultLimits::default().of(&Default::default()), queue(8, 0))
}

fn client(capability: &str) -> ClientProfile {
    let capabilities = serde_json::from_value(json!({ capability: {} })).unwrap();
    ClientProfile { era: Era::Modern, capabilities, info: None }
}

type Calling = tokio::task::JoinHandle<Result<ServerAnswer, UpstreamError>>;

fn call(
    peer: &Arc<ServerPeer>,
    method: &'static str,
    params: Value,
    patience: Duration,
) -> (Calling, mpsc::Receiver<Interjection>) {
    let (sender, interjections) = mpsc::channel(8);
    let peer = peer.clone();
    let calling = tokio::spawn(async move {
        let (client, params) = (client("roots"), raw(&params));
        let (params, interjections) = (Some(&*params), Some(sender));
        peer.call(UpstreamRequest { method, params, client: &client, patience, interjections }, None).await
    });
    (calling, interjections)
}

async fn sent(channels: &mut PeerChannels) -> Value {
    serde_json::from_slice(&channels.outgoing.recv().await.unwrap()).unwrap()
}

async fn says(peer: &ServerPeer, message: &Value) -> Received {
    peer.on_message(message.to_string().as_bytes()).await
}

#[tokio::test]
async fn answers_reach_their_calls_in_any_order_and_as_they_were_written() {
    let (peer, mut channels) = peer();
    let (one, _) = call(&peer, "one", json!({}), PATIENCE);
    let first = sent(&mut channels).await;
    let (other, _) = call(&peer, "other", json!({ "a": 1 }), PATIENCE);
    let second = sent(&mut channels).await;
    assert_eq!(second, json!({ "jsonrpc": "2.0", "id": second["id"], "method": "other", "params": { "a": 1 } }));
    peer.on_message(format!(r#"{{"id":{},"result":{{"z": 1.50}} }}"#, second["id"]).as_bytes()).await;
    peer.on_message(format!(r#"{{"id":{},"error":{{"code":-1}}}}"#, first["id"]).as_bytes()).await;
    assert_eq!(other.await.unwrap().unwrap().unwrap().get(), r#"{"z": 1.50}"#);
    assert_eq!(one.await.unwrap().unwrap().unwrap_err().get(), r#"{"code":-1}"#);
}

#[tokio::test]
async fn an_end_fails_every_open_and_later_call_with_its_reason() {
    let (peer, mut channels) = peer();
    let (open, _) = call(&peer, "a", json!({}), PATIENCE);
    sent(&mut channels).await;
    let end = UpstreamEnd::Failed(crate::lifecycle::ServiceFault::Unreachable, "it crashed".into());
    peer.end(end.clone());
    peer.end(UpstreamEnd::Closed);
    let gone = UpstreamError::Gone("it crashed".into());
    assert_eq!(open.await.unwrap().unwrap_err(), gone);
    assert_eq!(call(&peer, "b", json!({}), PATIENCE).0.await.unwrap().unwrap_err(), gone);
    assert_eq!(peer.ended().await, end);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_fails_and_is_cancelled() {
    let (peer, mut channels) = peer();
    let (slow, _) = call(&peer, "slow", json!({}), Duration::from_secs(1));
    assert_eq!(slow.await.unwrap().unwrap_err(), UpstreamError::Timeout(Duration::from_secs(1)));
    let id = sent(&mut channels).await["id"].clone();
    let note = sent(&mut channels).await;
    assert_eq!((&note["method"], &note["params"]["requestId"]), (&json!("notifications/cancelled"), &id));
    let late = says(&peer, &json!({ "id": id, "result": 1 })).await;
    assert!(matches!(late, Received::Taken), "a late answer is ignored");
}

#[tokio::test]
async fn an_answer_under_an_id_of_no_call_reaches_nobody() {
    let (peer, mut channels) = peer();
    let (open, _) = call(&peer, "a", json!({}), PATIENCE);
    let id = sent(&mut channels).await["id"].as_u64().unwrap();
    says(&peer, &json!({ "id": id + 1, "result": "wrong" })).await;
    says(&peer, &json!({ "id": id, "result": "right" })).await;
    assert_eq!(open.await.unwrap().unwrap().unwrap().get(), r#""right""#);
}

#[tokio::test]
async fn progress_reaches_its_call_with_the_token_of_the_client() {
    let (peer, mut channels) = peer();
    let (_one, mut first) = call(&peer, "one", json!({ "_meta": { "progressToken": 1 } }), PATIENCE);
    let id = sent(&mut channels).await["params"]["_meta"]["progressToken"].clone();
    let (_other, mut second) = call(&peer, "other", json!({ "_meta": { "progressToken": 1 } }), PATIENCE);
    assert_ne!(sent(&mut channels).await["params"]["_meta"]["progressToken"], id);
    let report = json!({ "method": "notifications/progress", "params": { "progressToken": id, "progress": 3 } });
    says(&peer, &report).await;
    let Some(Interjection::Notification { method, params }) = first.recv().await else { panic!() };
    assert_eq!(
        (method.as_str(), params.unwrap().get()),
        ("notifications/progress", r#"{"progressToken":1,"progress":3}"#)
    );
    assert!(second.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_question_goes_to_the_newest_call_that_can_answer_it_and_its_time_does_not_count() {
    let (peer, mut channels) = peer();
    let (_older, mut older) = call(&peer, "older", json!({}), 2 * PATIENCE);
    sent(&mut channels).await;
    let (newer, mut interjections) = call(&peer, "newer", json!({}), PATIENCE);
    let id = sent(&mut channels).await["id"].clone();
    let asked = says(&peer, &json!({ "id": "q", "method": "roots/list" })).await;
    let Received::Question { id: question, answer } = asked else { panic!() };
    let person = async {
        let Some(Interjection::Request { method, reply, .. }) = interjections.recv().await else { panic!() };
        assert_eq!(method, "roots/list");
        tokio::time::sleep(PATIENCE + PATIENCE / 2).await;
        reply.send(Ok(raw(&json!({ "roots": [] })))).unwrap();
    };
    let (answer, ()) = tokio::join!(answer, person);
    peer.respond(&question, &answer).await;
    assert_eq!(sent(&mut channels).await, json!({ "jsonrpc": "2.0", "id": "q", "result": { "roots": [] } }));
    says(&peer, &json!({ "id": id, "result": 1 })).await;
    assert_eq!(newer.await.unwrap().unwrap().unwrap().get(), "1");
    assert!(older.try_recv().is_err());
}

#[tokio::test]
async fn a_question_that_no_client_can_answer_is_refused_and_a_ping_is_answered() {
    let (peer, mut channels) = peer();
    let (_open, _interjections) = call(&peer, "a", json!({}), PATIENCE);
    sent(&mut channels).await;
    for (method, expected) in [("sampling/createMessage", false), ("ping", true)] {
        let asked = says(&peer, &json!({ "id": 9, "method": method })).await;
        let Received::Question { answer, .. } = asked else { panic!() };
        assert_eq!(answer.await.is_ok(), expected, "{method}");
    }
}

#[tokio::test]
async fn a_server_that_asks_forever_is_refused_in_the_end() {
    let (peer, mut channels) = peer();
    let (_open, mut interjections) = call(&peer, "a", json!({}), PATIENCE);
    sent(&mut channels).await;
    let person = tokio::spawn(async move {
        let mut asked = 0;
        while let Some(Interjection::Request { reply, .. }) = interjections.recv().await {
            reply.send(Ok(raw(&json!({})))).unwrap();
            asked += 1;
        }
        asked
    });
    let mut answered = 0;
    loop {
        let asked = says(&peer, &json!({ "id": answered, "method": "roots/list" })).await;
        let Received::Question { answer, .. } = asked else { panic!() };
        match answer.await {
            Ok(_) => answered += 1,
            Err(refused) => break assert!(refused.get().contains("too often"), "{refused}"),
        }
    }
    peer.end(UpstreamEnd::Closed);
    assert_eq!(person.await.unwrap(), answered);
}

#[tokio::test]
async fn what_the_server_says_outside_of_calls_is_passed_on() {
    let (peer, mut channels) = peer();
    let changed = json!({ "method": "notifications/tools/list_changed" });
    assert!(matches!(says(&peer, &changed).await, Received::Taken));
    assert_eq!(channels.unasked.recv().await.unwrap().method, "notifications/tools/list_changed");
    assert!(matches!(peer.on_message(b"listening on port 3000").await, Received::NotProtocol));
}

#[tokio::test]
async fn an_answer_that_is_too_long_fails_its_call_alone() {
    let (peer, mut channels) = peer();
    for ends in [
        (r#"{"jsonrpc":"2.0","id":ID,"result":{"x":"aaa"#, r#"aaa"}}"#),
        (r#"{"result":{"id":1"#, r#"},"jsonrpc":"2.0","id":ID}"#),
    ] {
        let (open, _) = call(&peer, "a", json!({}), PATIENCE);
        let id = sent(&mut channels).await["id"].to_string();
        let (start, end) = (ends.0.replace("ID", &id), ends.1.replace("ID", &id));
        assert!(peer.on_oversized(5_000_000, start.as_bytes(), end.as_bytes()));
        let failed = open.await.unwrap().unwrap_err();
        assert!(matches!(&failed, UpstreamError::AnswerTooLarge { bytes: 5_000_000, .. }), "{failed}");
    }
    assert!(!peer.on_oversized(5_000_000, b"garbage", b"garbage"));
}

#[tokio::test]
async fn parameters_that_are_too_long_are_not_sent() {
    let (peer, mut channels) = peer();
    let (refused, _) = call(&peer, "a", json!({ "x": "a".repeat(2 << 20) }), PATIENCE);
    assert!(matches!(refused.await.unwrap(), Err(UpstreamError::TooLarge { .. })));
    assert!(channels.outgoing.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_never_had_its_turn_says_nothing_against_the_service() {
    let (peer, mut channels) = ServerPeer::new(DefaultLimits::default().of(&Default::default()), queue(1, 8));
    let (slow, _) = call(&peer, "slow", json!({}), Duration::from_secs(5));
    sent(&mut channels).await;
    let (waiting, _) = call(&peer, "waiting", json!({}), Duration::from_secs(1));
    let refused = waiting.await.unwrap().unwrap_err();
    assert_eq!(refused, UpstreamError::QueueTimeout(Duration::from_secs(1)));
    assert!(!refused.is_fault_of_service());
    assert!(slow.await.unwrap().unwrap_err().is_fault_of_service());
}

#[tokio::test(start_paused = true)]
async fn while_a_client_is_asked_something_another_call_has_its_turn() {
    let (peer, mut channels) = ServerPeer::new(DefaultLimits::default().of(&Default::default()), queue(1, 8));
    let (asking, mut interjections) = call(&peer, "asking", json!({}), PATIENCE);
    let id = sent(&mut channels).await["id"].clone();
    let (other, _) = call(&peer, "other", json!({}), PATIENCE);
    let asked = says(&peer, &json!({ "id": "q", "method": "roots/list" })).await;
    let Received::Question { answer, .. } = asked else { panic!() };
    let mut answer = tokio::spawn(answer);
    let Some(Interjection::Request { reply, .. }) = interjections.recv().await else { panic!() };
    let running = sent(&mut channels).await;
    assert_eq!(running["method"], "other");
    reply.send(Ok(raw(&json!({ "roots": [] })))).unwrap();
    let goes_on = tokio::time::timeout(Duration::from_millis(20), &mut answer).await;
    assert!(goes_on.is_err(), "it waits for its turn again");
    says(&peer, &json!({ "id": running["id"], "result": 1 })).await;
    other.await.unwrap().unwrap().unwrap();
    answer.await.unwrap().unwrap();
    says(&peer, &json!({ "id": id, "result": 2 })).await;
    asking.await.unwrap().unwrap().unwrap();
    let (last, _) = call(&peer, "last", json!({}), PATIENCE);
    assert_eq!(sent(&mut channels).await["method"], "last", "the turn is given back");
    last.abort();
}

#[tokio::test]
async fn a_call_whose_client_hangs_up_or_whose_question_is_withdrawn_leaves_no_turn_taken() {
    let (peer, mut channels) = ServerPeer::new(DefaultLimits::default().of(&Default::default()), queue(1, 8));
    for is_withdrawn in [true, false] {
        let (asking, mut interjections) = call(&peer, "asking", json!({}), PATIENCE);
        let id = sent(&mut channels).await["id"].clone();
        let asked = says(&peer, &json!({ "id": "q", "method": "roots/list" })).await;
        let Received::Question { answer, .. } = asked else { panic!() };
        let answer = tokio::spawn(answer);
        let Some(Interjection::Request { reply, .. }) = interjections.recv().await else { panic!() };
        if is_withdrawn {
            answer.abort();
            assert!(answer.await.is_err());
            let (waiting, _) = call(&peer, "waiting", json!({}), PATIENCE);
            tokio::task::yield_now().await;
            assert!(channels.outgoing.try_recv().is_err(), "the call that asked goes on");
            waiting.abort();
            assert!(waiting.await.is_err());
            says(&peer, &json!({ "id": id, "result": 1 })).await;
            asking.await.unwrap().unwrap().unwrap();
        } else {
            asking.abort();
            assert!(asking.await.is_err());
            assert_eq!(sent(&mut channels).await["method"], "notifications/cancelled");
            drop(reply);
            assert!(answer.await.unwrap().is_err());
        }
    }
    let (last, _) = call(&peer, "last", json!({}), PATIENCE);
    assert_eq!(sent(&mut channels).await["method"], "last");
    last.abort();
}
