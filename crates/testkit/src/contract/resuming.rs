//! How a session goes on with a new process, and with the tool servers that it is given.

use roost_engine::adapter::{McpServer, McpServerTransport};
use roost_model::content::{TranscriptContentBlock, TranscriptMessage};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::runtime::{McpSupport, McpTransport, RuntimeStateModel};
use serde::Deserialize;
use serde_json::Value;

use super::reporting::native_ids;
use super::stage::{Stage, text};
use super::{Conformance, Recall, assert_claim, not_claimed};

/// 18. After a restart the runtime remembers the session by itself exactly if it claims to, and no tool runs again.
pub async fn a_session_goes_on_in_a_new_process_and_runs_no_tool_again(stage: &mut Stage) -> Conformance {
    let Some(recall) = stage.script.recall.clone() else {
        return not_claimed("supportsSessionResume", stage.capabilities().await.supports_session_resume);
    };
    let session = stage.session(Mode::Ask).await;
    let first = stage.script.write.as_ref().map_or(stage.script.say, |write| write.prompt);
    stage.run_allowing(&session, first).await;
    // Whoever runs the tool a second time brings the file back.
    if let Some(write) = &stage.script.write {
        std::fs::remove_file(stage.host().home.work().join(write.file)).unwrap();
    }
    stage.restart().await;
    let natively = goes_on(stage, &session, &recall).await;
    let claims = stage.adapter.capabilities();
    assert_claim("supportsSessionResume", claims.supports_session_resume, natively);
    let kept = [RuntimeStateModel::LocalDisk, RuntimeStateModel::ServerSide, RuntimeStateModel::Hybrid];
    assert_eq!(kept.contains(&claims.state_model), natively, "{:?} says where its state is", claims.state_model);

    if let Some(forget) = recall.forget {
        stage.restart().await;
        forget(&stage.host().home.home());
        assert!(!goes_on(stage, &session, &recall).await, "it remembers what it was made to forget");
    }
    Conformance::Holds
}

/// Asks what the session remembers. True if the runtime knew by itself, false if it was sent the transcript.
async fn goes_on(stage: &Stage, session: &SessionId, recall: &Recall) -> bool {
    let before = native_ids(stage, session).await;
    let events = stage.run(session, recall.prompt).await;
    assert!(text(&events).contains(recall.proof), "the conversation is lost: {}", text(&events));
    let tools = events.iter().filter(|event| event.body.name().starts_with("tool.")).count();
    assert_eq!((tools, stage.files()), (0, Vec::new()), "a tool ran again");

    let sent = sent_messages(stage, &events).await;
    let natively = sent.len() == 1;
    let same_session = native_ids(stage, session).await == before;
    assert_eq!(same_session, natively, "the transcript goes to a new session of the runtime's, and only there");
    let blocks = || sent.iter().flat_map(|message| &message.content);
    let has_result = blocks().any(|block| matches!(block, TranscriptContentBlock::ToolResult { .. }));
    assert_eq!(has_result, !natively && stage.script.write.is_some(), "{sent:?}");
    natively
}

/// The messages that the runtime was sent for this task: one if it remembers the rest by itself.
async fn sent_messages(stage: &Stage, events: &[NormalizedEvent]) -> Vec<TranscriptMessage> {
    let input = events.iter().find_map(|event| match &event.body {
        EventBody::ModelInput(input) => input.input_ref.clone(),
        _ => None,
    });
    let bytes = stage.host().engine.artifacts().get(&input.unwrap().artifact_id).await.unwrap();
    let input: Value = serde_json::from_slice(&bytes).unwrap();
    Vec::deserialize(&input["messages"]).unwrap()
}

/// 19. A tool server is reached over every transport that the runtime claims.
pub async fn a_tool_server_is_reached_over_every_transport_that_is_claimed(stage: &mut Stage) -> Conformance {
    let claims = stage.capabilities().await;
    let client = matches!(claims.mcp_support, McpSupport::ClientOnly | McpSupport::Both);
    let Some(used) = stage.script.use_server.clone() else { return not_claimed("mcpSupport", client) };
    assert!(client, "mcpSupport is not claimed, but a server is to be used");
    for claimed in claims.mcp_transports.into_iter().flatten() {
        let server = used.servers.iter().find(|server| transport(server) == claimed);
        let server = server.unwrap_or_else(|| panic!("{claimed:?} is claimed, but no server can be reached over it"));
        // The conversation that told the capabilities was opened with the first server.
        let session = if server == &used.servers[0] {
            stage.conversation().await
        } else {
            stage.host().home.offer(server);
            stage.session(Mode::Ask).await
        };
        let events = stage.run_allowing(&session, used.prompt).await;
        assert_claim(&format!("mcpTransports {claimed:?}"), true, text(&events).contains(used.proof));
    }
    Conformance::Holds
}

fn transport(server: &McpServer) -> McpTransport {
    match server.transport {
        McpServerTransport::Http { .. } => McpTransport::Http,
        McpServerTransport::Stdio { .. } => McpTransport::Stdio,
    }
}
