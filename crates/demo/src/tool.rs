//! The life of a tool call: announced, perhaps approved, started, completed or failed.

use std::sync::atomic::Ordering;

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest, SessionUpdate,
    ToolCall, ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use serde_json::{Value, json};

use super::turn::{DemoTurn, Interrupt};

/// The key of an answer's `_meta` under which Roost adds things, such as why a call was refused.
const REASON_META: &str = "roost";

const ALLOW_ONCE: &str = "allow-once";
const ALLOW_ALWAYS: &str = "allow-always";
const REJECT_ONCE: &str = "reject-once";

/// The client's answer to a request for permission.
pub(super) enum PermissionAnswer {
    Granted,
    Refused(Refusal),
}

/// A refusal, with the reason if the host passed one on.
pub(super) struct Refusal(Option<String>);

impl Refusal {
    /// The beginning of a sentence about what was not done, for the answer to the user.
    pub(super) fn sentence(&self) -> String {
        match &self.0 {
            Some(reason) => format!("You did not allow it ({reason})"),
            None => "You did not allow it".to_owned(),
        }
    }
}

/// An announced tool call that has not ended yet.
pub(super) struct OpenCall<'turn> {
    turn: &'turn DemoTurn,
    call: ToolCall,
    tool: &'static str,
}

impl DemoTurn {
    /// A tool call with the next id of this session; announce it when it is complete.
    pub(super) fn tool_call(&self, title: impl Into<String>, kind: ToolKind) -> ToolCall {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let id = ToolCallId::new(format!("call-{}-{number}", self.totals.prompts));
        ToolCall::new(id, title).kind(kind)
    }

    /// Tells the client that `tool` is about to be used, still pending.
    pub(super) async fn announce(&self, tool: &'static str, call: ToolCall) -> Result<OpenCall<'_>, Interrupt> {
        let call = call.name(tool.to_owned()).status(ToolCallStatus::Pending);
        self.open_calls.lock().push(call.tool_call_id.clone());
        self.update(SessionUpdate::ToolCall(call.clone())).await?;
        Ok(OpenCall { turn: self, call, tool })
    }

    pub(super) async fn fail_call(&self, id: ToolCallId, reason: &str) -> Result<(), Interrupt> {
        let fields = ToolCallUpdateFields::new()
            .status(ToolCallStatus::Failed)
            .content(vec![ToolCallContent::from(reason)])
            .raw_output(json!({ "error": reason }));
        self.update_call(id, fields).await
    }

    async fn update_call(&self, id: ToolCallId, fields: ToolCallUpdateFields) -> Result<(), Interrupt> {
        let update = ToolCallUpdate::new(id, fields);
        self.update(SessionUpdate::ToolCallUpdate(update)).await
    }
}

impl OpenCall<'_> {
    /// Asks the user; anything but one of the two ways to allow is a refusal.
    pub(super) async fn permission(&self) -> Result<PermissionAnswer, Interrupt> {
        let session = &self.turn.session;
        if session.is_always_allowed(self.tool) {
            return Ok(PermissionAnswer::Granted);
        }
        let option = PermissionOption::new;
        let request = RequestPermissionRequest::new(
            session.id.clone(),
            ToolCallUpdate::from(self.call.clone()),
            vec![
                option(ALLOW_ONCE, "Allow", PermissionOptionKind::AllowOnce),
                option(ALLOW_ALWAYS, "Allow for the rest of this session", PermissionOptionKind::AllowAlways),
                option(REJECT_ONCE, "Reject", PermissionOptionKind::RejectOnce),
            ],
        );
        let answer = self.turn.client.send_request(request).block_task().await;
        let answer = answer.map_err(Interrupt::Failed)?;
        let reason = answer.meta.as_ref().and_then(|meta| meta.get(REASON_META)?.get("reason")?.as_str());
        let refused = PermissionAnswer::Refused(Refusal(reason.map(Into::into)));
        match answer.outcome {
            RequestPermissionOutcome::Cancelled => Err(Interrupt::Cancelled),
            RequestPermissionOutcome::Selected(selected) => match &*selected.option_id.0 {
                ALLOW_ONCE => Ok(PermissionAnswer::Granted),
                ALLOW_ALWAYS => {
                    session.always_allow(self.tool);
                    Ok(PermissionAnswer::Granted)
                }
                _ => Ok(refused),
            },
            _ => Ok(refused),
        }
    }

    /// Reports that the tool runs now.
    pub(super) async fn start(&self) -> Result<(), Interrupt> {
        let fields = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
        self.turn.update_call(self.id(), fields).await
    }

    /// Replaces what the client shows of a running tool.
    pub(super) async fn show(&self, text: impl Into<String>) -> Result<(), Interrupt> {
        let content = vec![ToolCallContent::from(text.into())];
        let fields = ToolCallUpdateFields::new().content(content);
        self.turn.update_call(self.id(), fields).await
    }

    pub(super) async fn complete(
        self,
        content: impl Into<ToolCallContent>,
        raw_output: Value,
    ) -> Result<(), Interrupt> {
        self.close();
        let fields = ToolCallUpdateFields::new()
            .status(ToolCallStatus::Completed)
            .content(vec![content.into()])
            .raw_output(raw_output);
        self.turn.update_call(self.id(), fields).await
    }

    pub(super) async fn fail(self, reason: &str) -> Result<(), Interrupt> {
        self.close();
        self.turn.fail_call(self.id(), reason).await
    }

    fn id(&self) -> ToolCallId {
        self.call.tool_call_id.clone()
    }

    fn close(&self) {
        self.turn.open_calls.lock().retain(|open| *open != self.call.tool_call_id);
    }
}
