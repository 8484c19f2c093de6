//! What a runtime reports: its capabilities, its login, and the events of a task.

use std::path::Path;

use roost_engine::Approver;
use roost_model::canonical;
use roost_model::content::TranscriptMessage;
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::payload::ModelOutputDeltaKind;
use roost_model::runtime::{AuthModel, McpSupport, ResumeModel, RuntimeCapabilities};
use roost_model::sources::ImplicitSources;
use serde::Deserialize;
use serde_json::Value;

use super::stage::{Stage, names, text};
use super::{Conformance, assert_claim};
use crate::soon;

/// A word of the prompt that must not come back as the agent's.
const WORD: &str = "xylographer-7f3a";
/// How tokens and keys of well-known services begin.
const SECRETS: [&str; 6] = ["sk-", "ghp_", "Bearer ", "AKIA", "-----BEGIN", "eyJ"];

/// 1. Capabilities are complete, legal, and do not contradict each other.
pub async fn the_capabilities_are_complete_and_agree_with_each_other(stage: &mut Stage) -> Conformance {
    let claims = stage.capabilities().await;
    let wire = serde_json::to_value(&claims).unwrap();
    assert_eq!(RuntimeCapabilities::deserialize(wire).unwrap(), claims);
    assert!(claims.supported_isolation_modes.contains(&claims.recommended_isolation_mode), "{claims:?}");
    assert!(claims.max_outstanding_tool_calls.is_none_or(|most| most >= 1), "{claims:?}");
    assert!(claims.supports_tool_calls || !claims.supports_parallel_tool_calls, "{claims:?}");
    assert_eq!(claims.supports_session_resume, claims.resume_model == ResumeModel::Native, "{claims:?}");
    let transports = claims.mcp_transports.iter().flatten().count();
    assert_eq!(claims.mcp_support == McpSupport::None, transports == 0, "{claims:?}");
    // The task that let the runtime introduce itself was in a session that was made here.
    assert_claim("supportsSessionCreate", claims.supports_session_create, true);
    Conformance::Holds
}

/// 2. The login is told without a network, without a secret, and not from another home.
pub async fn the_login_is_told_without_waiting_and_without_secrets(stage: &mut Stage) -> Conformance {
    for home in [stage.host().home.home(), Path::new("/nonexistent").into()] {
        let status = soon("the login is told", stage.adapter.auth_status(&stage.env_with_home(&home))).await;
        let shown = serde_json::to_string(&status).unwrap();
        assert!(!SECRETS.iter().any(|secret| shown.contains(secret)), "{shown}");
        if status.auth_model == AuthModel::Unknown {
            return Conformance::NotClaimed("authModel");
        }
        assert!(!status.logged_in, "nobody ever logged in here: {shown}");
    }
    Conformance::Holds
}

/// 3. `task.started` first, one terminal event last, `seq` without a gap; and usage is reported exactly if claimed.
pub async fn a_task_begins_with_its_start_and_ends_with_its_one_end(stage: &mut Stage) -> Conformance {
    let session = stage.conversation().await;
    let events = stage.run(&session, stage.script.say).await;
    assert!(matches!(events.first().unwrap().body, EventBody::TaskStarted(_)), "{:?}", names(&events));
    assert!(matches!(events.last().unwrap().body, EventBody::TaskCompleted(_)), "{:?}", names(&events));
    assert_eq!(events.iter().filter(|event| event.body.ends_task()).count(), 1, "{:?}", names(&events));
    let all = stage.host().events(&session).await;
    assert!(all.iter().map(|event| event.seq).eq(1..=all.len() as u64), "the sequence has a gap");
    let used = |event: &NormalizedEvent| match &event.body {
        EventBody::UsageReported(usage) => usage.input_tokens.or(usage.output_tokens).is_some(),
        _ => false,
    };
    let claimed = stage.adapter.capabilities().supports_usage_reporting;
    assert_claim("supportsUsageReporting", claimed, events.iter().any(used));
    Conformance::Holds
}

/// 4. `model.input` before any output, with bytes that hash to its hash and what the runtime reads by itself.
pub async fn the_input_is_kept_before_there_is_any_output(stage: &mut Stage) -> Conformance {
    let session = stage.conversation().await;
    let prompt = format!("{} {WORD}", stage.script.say);
    let events = stage.run(&session, &prompt).await;
    let first = |prefix: &str| events.iter().position(|event| event.body.name().starts_with(prefix));
    assert!(first("model.input") < first("model.output"), "{:?}", names(&events));
    let input = events.iter().find_map(|event| match &event.body {
        EventBody::ModelInput(input) => Some(input.clone()),
        _ => None,
    });
    let input = input.unwrap();
    let artifacts = stage.host().engine.artifacts();
    let bytes = artifacts.get(&input.input_ref.unwrap().artifact_id).await.unwrap();
    let stored: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(canonical::hash(&stored), input.input_hash);
    let messages = Vec::<TranscriptMessage>::deserialize(&stored["messages"]).unwrap();
    assert_eq!(messages.last().unwrap().text(), prompt);
    let bytes = artifacts.get(&input.implicit_sources_ref.unwrap().artifact_id).await.unwrap();
    let sources: ImplicitSources = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(sources.disabled, sources.sources.is_empty(), "{sources:?}");
    assert_eq!(sources.disabled, sources.reason.is_some(), "{sources:?}");
    Conformance::Holds
}

/// 5. Pieces of one block under one id, which add up to the finished text; nothing of the user's in it.
pub async fn pieces_of_text_add_up_to_the_finished_text(stage: &mut Stage) -> Conformance {
    let session = stage.conversation().await;
    let events = stage.run(&session, &format!("{} {WORD}", stage.script.say)).await;
    let pieces: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ModelOutputDelta(piece) if piece.kind == ModelOutputDeltaKind::TextDelta => Some(piece),
            _ => None,
        })
        .collect();
    let said = text(&events);
    assert!(!said.is_empty(), "the script wants a text");
    assert!(!said.contains(WORD), "the user's words came back as the agent's: {said}");
    assert_claim("supportsStreaming", stage.adapter.capabilities().supports_streaming, pieces.len() > 1);
    if pieces.is_empty() {
        return Conformance::NotClaimed("supportsStreaming");
    }
    assert_eq!(pieces.iter().map(|piece| piece.delta.as_str()).collect::<String>(), said);
    assert!(pieces.iter().all(|piece| piece.block_id == pieces[0].block_id), "one text is one block: {pieces:?}");
    Conformance::Holds
}

/// Fields that may differ between two runs of the same conversation.
const VOLATILE: [&str; 10] = [
    "answered_by",
    "artifact_id",
    "duration_ms",
    "expires_at",
    "prompt_id",
    "request_id",
    "runtime_session_id",
    "runtime_tool_call_id",
    "time",
    "tool_call_id",
];

/// 16. The same conversation twice gives the same events, but for ids and times.
pub async fn the_same_conversation_twice_is_the_same_story(stage: &mut Stage) -> Conformance {
    let first = story(stage).await;
    let second = story(stage).await;
    assert_eq!(first.join("\n"), second.join("\n"));
    Conformance::Holds
}

async fn story(stage: &Stage) -> Vec<String> {
    let session = stage.session(Mode::Ask).await;
    stage.run(&session, stage.script.say).await;
    if let Some(write) = &stage.script.write {
        stage.run_allowing(&session, write.prompt).await;
        std::fs::remove_file(stage.host().home.work().join(write.file)).unwrap();
    }
    let events = stage.host().events(&session).await;
    // Notices come at any time: agents report their commands, modes and context usage whenever they like.
    let is_notice = |event: &NormalizedEvent| match &event.body {
        EventBody::RuntimeNotice(_) => true,
        EventBody::UsageReported(usage) => usage.context.is_some(),
        _ => false,
    };
    let of_tasks = |event: &&NormalizedEvent| event.trace.task_id.is_some() && !is_notice(event);
    events.iter().filter(of_tasks).map(normalized).collect()
}

fn normalized(event: &NormalizedEvent) -> String {
    let mut value = serde_json::to_value(event).unwrap();
    for field in ["seq", "trace"] {
        value.as_object_mut().unwrap().remove(field);
    }
    remove_volatile(&mut value);
    value.to_string()
}

fn remove_volatile(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !VOLATILE.contains(&name.as_str()));
            fields.values_mut().for_each(remove_volatile);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_volatile),
        _ => {}
    }
}

/// 17. A second task in the same session works, with the same runtime, and goes on with the same sequence.
pub async fn a_second_task_goes_on_in_the_same_session(stage: &mut Stage) -> Conformance {
    let session = stage.conversation().await;
    let first = stage.run(&session, stage.script.say).await;
    let process = stage.runtime_process().await;
    let second = stage.run(&session, stage.script.say).await;
    assert_eq!(stage.runtime_process().await, process, "the runtime was started again");
    assert!(first.last().unwrap().seq < second.first().unwrap().seq);
    assert!(matches!(second.last().unwrap().body, EventBody::TaskCompleted(_)), "{:?}", names(&second));
    assert_eq!(native_ids(stage, &session).await.len(), 1, "one session of the runtime's");
    Conformance::Holds
}

/// Every native session id in the session's events, without repetitions.
pub(super) async fn native_ids(stage: &Stage, session: &SessionId) -> Vec<String> {
    let events = stage.host().events(session).await;
    let mut ids: Vec<_> =
        events.iter().filter_map(|event| Some(event.runtime.runtime_session_id.as_ref()?.to_string())).collect();
    ids.dedup();
    ids
}

/// 20. A native message that nobody has heard of is kept as it came and counted, and the task goes on.
pub async fn an_unknown_message_is_kept_as_it_came(stage: &mut Stage) -> Conformance {
    let Some(prompt) = stage.script.unknown_message else { return Conformance::NotClaimed("unknown messages") };
    let session = stage.conversation().await;
    let task = stage.begin(&session, prompt, Approver::Nobody).await;
    let end = stage.host().wait_for_end(&session, &task).await;
    assert!(matches!(end.body, EventBody::TaskCompleted(_)), "{end:?}");
    let events = stage.events_of(&session, &task).await;
    let kept = |event: &NormalizedEvent| {
        matches!(event.body, EventBody::RuntimeNotice(_)) && event.runtime.raw.as_ref().is_some_and(Value::is_object)
    };
    assert!(events.iter().any(kept), "{:?}", names(&events));
    assert!(stage.host().record(&session).await.unknown_messages > 0, "it was not counted");
    Conformance::Holds
}
