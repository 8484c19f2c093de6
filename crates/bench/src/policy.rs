//! `policy`: the cost of decisions and of asking a person.

use std::time::Instant;

use roost_engine::{Approver, Decision, Prompt, Response, ResponseTo};
use roost_log::{Filter, Follower, Log, LogOptions, SqliteLog, Start, StateLock, StreamId};
use roost_model::approval::{Answerer, ApprovalScope};
use roost_model::event::{EventBody, NewEvent, RuntimeRef, Trace};
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::payload::ApprovalRequestedPayload;
use roost_model::runtime::RuntimeName;
use roost_model::time::Timestamp;
use roost_model::tool::ToolCallIdentity;
use serde_json::json;

use crate::agent::PipedAgent;
use crate::figure::{Table, Target, median, millis};
use crate::stage::Stage;
use crate::{Outcome, decision};

const TURNS: usize = 200;
const PENDING: usize = 10_000;
const LISTINGS: usize = 21;

/// Adds the time of a decision, of a turn with and without an approval, and of listing [`PENDING`] approvals.
pub(crate) fn run(table: &mut Table) -> Outcome {
    let (call, micros) = decision::slowest()?;
    table.add("policy", format!("a decision with 1000 rules, p99 ({call})"), micros, "us", Target::AtMost(20.0));
    let runtime = tokio::runtime::Runtime::new()?;
    let folder = tempfile::tempdir()?;
    let mut agent = PipedAgent::start_in(folder.path())?;
    let mut bare = vec![];
    for _ in 0..=TURNS {
        let start = Instant::now();
        agent.run_turn_granting("edit")?;
        bare.push(millis(start.elapsed()));
    }
    let bare = median(bare);
    let (unasked, asked) = runtime.block_on(turns())?;
    table.add("policy", "a turn with an edit: bare agent, p50", bare, "ms", Target::None);
    table.add("policy", "a turn with an edit: Roost, nobody asked, p50", unasked, "ms", Target::None);
    table.add("policy", "a turn with an edit: Roost, somebody asked, p50", asked, "ms", Target::None);
    table.add("policy", "asking, answering and starting adds", asked - unasked, "ms", Target::AtMost(2.0));
    let listing = runtime.block_on(listing())?;
    table.add("policy", format!("{PENDING} pending approvals listed, p50"), listing, "ms", Target::AtMost(10.0));
    Ok(())
}

/// The middle time of a turn with a tool call that is allowed unasked, and of one that a person allows at once.
async fn turns() -> Outcome<(f64, f64)> {
    let stage = Stage::start(4).await?;
    let mut middles = vec![];
    for (mode, approver) in [(Mode::Yolo, Approver::Nobody), (Mode::Ask, Approver::Present)] {
        let session = stage.session_in(mode).await?;
        let stream = StreamId::from(&session);
        let mut follower = stage.log.follow(Filter::stream(stream.clone()), Start::AfterSeq(stream, 0)).await?;
        let mut times = vec![];
        for round in 0..=TURNS {
            let start = Instant::now();
            let prompt = Prompt { approver, ..Prompt::text("edit") };
            stage.engine.prompt(session.as_str(), prompt).await?;
            turn(&stage, &session, &mut follower).await?;
            if round > 0 {
                times.push(millis(start.elapsed()));
            }
        }
        middles.push(median(times));
    }
    stage.engine.shutdown("bench").await;
    Ok((middles[0], middles[1]))
}

async fn turn(stage: &Stage, session: &SessionId, follower: &mut Follower) -> Outcome {
    loop {
        for entry in &follower.next().await? {
            match &entry.event()?.body {
                EventBody::ApprovalRequested(asked) => {
                    let to = ResponseTo::Approval {
                        call: asked.identity.tool_call_id.clone(),
                        attempt: Some(asked.identity.attempt),
                        input_hash: Some(asked.identity.input_hash.clone()),
                        decision: Decision::Allow { scope: ApprovalScope::Once },
                    };
                    let response = Response { to, by: Answerer::default(), key: None };
                    stage.engine.respond(session.as_str(), response).await?;
                }
                EventBody::TaskCompleted(_) => return Ok(()),
                body if body.ends_task() => return Err(format!("the task ended badly: {body:?}").into()),
                _ => {}
            }
        }
    }
}

/// The middle time to list many approvals that wait.
async fn listing() -> Outcome<f64> {
    let folder = tempfile::tempdir()?;
    let lock = StateLock::acquire(folder.path(), "roost-bench")?;
    let log = SqliteLog::open(&lock, LogOptions::default())?;
    let session = SessionId::new();
    let events = (0..PENDING).map(|_| approval_requested(&session)).collect();
    log.append(&(&session).into(), events).await?.await?;
    let mut times = vec![];
    for _ in 0..LISTINGS {
        let start = Instant::now();
        let listed = log.pending(None).await?.len();
        times.push(millis(start.elapsed()));
        if listed != PENDING {
            return Err(format!("{listed} of {PENDING} approvals were listed").into());
        }
    }
    Ok(median(times))
}

fn approval_requested(session: &SessionId) -> NewEvent {
    let input = json!({ "command": "cargo test --workspace", "description": "Run the tests" });
    let payload = ApprovalRequestedPayload {
        identity: ToolCallIdentity::first(Some("call_1".into()), &input),
        name: "shell".into(),
        title: Some("cargo test --workspace".into()),
        kind: None,
        input,
        input_ref: None,
        class: None,
        rule: Some("permission_mode:ask".into()),
        offer: None,
        expires_at: None,
    };
    let (trace, runtime) = (Trace::session(session.clone()), RuntimeRef::new(RuntimeName::Demo));
    NewEvent { time: Timestamp::now(), trace, runtime, body: payload.into() }
}
