//! The audit file of seed 002 (`ACPLB_EVIDENCE_PATH`): what an editor did here, one line of JSON each.

use agent_client_protocol_schema::v1 as acp;
use roost_model::time::Timestamp;
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// Where the lines go; nowhere by default. A line for which there is no room is left out, so that nothing waits for it.
#[derive(Clone, Debug, Default)]
pub struct Evidence(Option<mpsc::Sender<String>>);

impl Evidence {
    /// Sends the lines here; whoever receives them writes them.
    pub fn to(lines: mpsc::Sender<String>) -> Self {
        Self(Some(lines))
    }

    pub(crate) fn record(&self, event: &str, session: Option<&str>, details: Value) {
        let Some(lines) = &self.0 else { return };
        let time = Timestamp::now().as_millis();
        let line = json!({ "timestampMs": time, "event": event, "sessionId": session, "details": details });
        if lines.try_send(line.to_string()).is_err() {
            tracing::warn!(event, "A line of the audit file was left out.");
        }
    }

    /// Records how a prompt was answered.
    pub(crate) fn record_end(&self, session: &str, answer: &Result<acp::PromptResponse, acp::Error>) {
        let (event, details) = match answer {
            Ok(response) if response.stop_reason == acp::StopReason::Cancelled => ("prompt_cancelled", json!({})),
            Ok(response) => ("prompt_completed", json!({ "stopReason": response.stop_reason })),
            Err(error) => ("prompt_failed", json!({ "error": error.message, "code": i32::from(error.code) })),
        };
        self.record(event, Some(session), details);
    }
}
