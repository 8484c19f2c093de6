//! A host for the demo agent: the official SDK's client over an in-memory pipe.

use std::collections::BTreeMap;
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, ContentBlock, CreateElicitationRequest, CreateElicitationResponse,
    ElicitationAcceptAction, ElicitationAction, ElicitationCapabilities, ElicitationContentValue,
    ElicitationFormCapabilities, InitializeRequest, NewSessionRequest, PromptRequest, PromptResponse,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse, SelectedPermissionOutcome,
    SessionId, SessionNotification, SessionUpdate,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, ByteStreams, Client, Error, on_receive_notification, on_receive_request};
use roost_demo::serve;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

/// How the host answers requests for permission.
#[derive(Clone, Copy)]
pub(crate) enum Approver {
    Picks(&'static str),
    /// Leaves them to the test, in `Host::held`.
    Holds,
    /// Answers with an error, as a client without approvals would.
    Fails,
}

pub(crate) const ALLOWS: Approver = Approver::Picks("allow-once");
pub(crate) const REJECTS: Approver = Approver::Picks("reject-once");

pub(crate) struct Host {
    pub(crate) agent: ConnectionTo<Agent>,
    pub(crate) session: SessionId,
    pub(crate) cwd: TempDir,
    pub(crate) updates: mpsc::UnboundedReceiver<SessionUpdate>,
    pub(crate) held: mpsc::UnboundedReceiver<Responder<RequestPermissionResponse>>,
    /// One entry for each permission the agent asked for.
    pub(crate) permission_requests: mpsc::UnboundedReceiver<String>,
}

/// Opens a session in an empty directory and runs the test in it.
pub(crate) async fn host(approver: Approver, test: impl AsyncFnOnce(Host)) {
    host_with(approver, ClientCapabilities::new(), test).await;
}

/// The same for a client that can show forms and fills them with "owl".
pub(crate) async fn host_with_forms(test: impl AsyncFnOnce(Host)) {
    let forms = ElicitationCapabilities::new().form(ElicitationFormCapabilities::new());
    host_with(REJECTS, ClientCapabilities::new().elicitation(forms), test).await;
}

async fn host_with(approver: Approver, capabilities: ClientCapabilities, test: impl AsyncFnOnce(Host)) {
    let (here, there) = tokio::io::duplex(64 << 10);
    let (agent_reads, agent_writes) = tokio::io::split(there);
    let (host_reads, host_writes) = tokio::io::split(here);
    let serving = tokio::spawn(serve(agent_reads, agent_writes));

    let (update, updates) = mpsc::unbounded_channel();
    let (hold, held) = mpsc::unbounded_channel();
    let (ask, permission_requests) = mpsc::unbounded_channel();
    let talking = Client
        .v1()
        .on_receive_notification(
            async move |it: SessionNotification, _: ConnectionTo<Agent>| {
                // The test may have dropped its end already.
                let _ = update.send(it.update);
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |it: RequestPermissionRequest, responder, _: ConnectionTo<Agent>| {
                let _ = ask.send(it.tool_call.tool_call_id.to_string());
                match approver {
                    Approver::Picks(option) => responder.respond(picked(option)),
                    Approver::Fails => responder.respond_with_error(Error::method_not_found()),
                    Approver::Holds => {
                        let _ = hold.send(responder);
                        Ok(())
                    }
                }
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: CreateElicitationRequest, responder, _: ConnectionTo<Agent>| {
                let owl = ElicitationContentValue::String("owl".into());
                let content = BTreeMap::from([("bird".to_owned(), owl)]);
                responder.respond(CreateElicitationResponse::new(ElicitationAction::Accept(
                    ElicitationAcceptAction::new().content(content),
                )))
            },
            on_receive_request!(),
        )
        .connect_with(
            ByteStreams::new(host_writes.compat_write(), host_reads.compat()),
            async |agent: ConnectionTo<Agent>| {
                let hello = InitializeRequest::new(ProtocolVersion::V1).client_capabilities(capabilities);
                agent.send_request(hello).block_task().await?;
                let cwd = tempfile::tempdir().unwrap();
                let new = NewSessionRequest::new(cwd.path());
                let session = agent.send_request(new).block_task().await?.session_id;
                test(Host { agent, session, cwd, updates, held, permission_requests }).await;
                Ok(())
            },
        );
    tokio::time::timeout(Duration::from_secs(60), talking).await.expect("the test should end").unwrap();
    tokio::time::timeout(Duration::from_secs(60), serving)
        .await
        .expect("the agent should leave when its input ends")
        .unwrap()
        .unwrap();
}

pub(crate) fn picked(option: &'static str) -> RequestPermissionResponse {
    let selected = SelectedPermissionOutcome::new(option);
    RequestPermissionResponse::new(RequestPermissionOutcome::Selected(selected))
}

impl Host {
    /// Sends a prompt and returns its reply and the updates that came before it.
    pub(crate) async fn turn(&mut self, text: &str) -> (Result<PromptResponse, Error>, Vec<SessionUpdate>) {
        let reply = self.prompt(text).await;
        (reply, self.seen())
    }

    pub(crate) fn prompt(&self, text: &str) -> impl Future<Output = Result<PromptResponse, Error>> + use<> {
        self.prompt_blocks(vec![text.into()])
    }

    pub(crate) fn prompt_blocks(
        &self,
        blocks: Vec<ContentBlock>,
    ) -> impl Future<Output = Result<PromptResponse, Error>> + use<> {
        let request = PromptRequest::new(self.session.clone(), blocks);
        self.agent.send_request(request).block_task()
    }

    pub(crate) fn cancel(&self) {
        let cancel = CancelNotification::new(self.session.clone());
        self.agent.send_notification(cancel).unwrap();
    }

    /// The updates received since the last look.
    pub(crate) fn seen(&mut self) -> Vec<SessionUpdate> {
        std::iter::from_fn(|| self.updates.try_recv().ok()).collect()
    }

    /// Waits for the first piece of the answer.
    pub(crate) async fn answer_begins(&mut self) {
        while !matches!(
            self.updates.recv().await.expect("the agent should answer"),
            SessionUpdate::AgentMessageChunk(_)
        ) {}
    }
}

/// The answer's text.
pub(crate) fn agent_text(updates: &[SessionUpdate]) -> String {
    let text = |update: &SessionUpdate| match update {
        SessionUpdate::AgentMessageChunk(chunk) => match &chunk.content {
            ContentBlock::Text(text) => Some(text.text.clone()),
            _ => None,
        },
        _ => None,
    };
    updates.iter().filter_map(text).collect()
}
