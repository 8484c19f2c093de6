//! The requests about tool calls that a runtime waits for a decision on.

use std::collections::HashMap;

use roost_engine::adapter::AdapterError;
use roost_model::ids::{QuestionId, ToolCallId};
use roost_model::tool::ToolCallIdentity;

/// The open requests, at most one per call. A decision answers a request only if it is about the same attempt: one that
/// was made before the runtime asked again has no effect.
#[derive(Debug)]
pub(crate) struct PendingDecisions<T>(HashMap<ToolCallId, (u32, T)>);

impl<T> Default for PendingDecisions<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> PendingDecisions<T> {
    /// Adds a request about this attempt, and returns the older request about the same call that it replaces.
    pub(crate) fn ask(&mut self, about: &ToolCallIdentity, question: T) -> Option<T> {
        self.0.insert(about.tool_call_id.clone(), (about.attempt, question)).map(|(_, void)| void)
    }

    /// Takes the request that a decision about this attempt answers; `None` if another attempt is pending, or none is.
    pub(crate) fn answer(&mut self, about: &ToolCallIdentity) -> Option<T> {
        let (attempt, _) = self.0.get(&about.tool_call_id)?;
        if *attempt != about.attempt {
            return None;
        }
        self.0.remove(&about.tool_call_id).map(|(_, question)| question)
    }

    /// Drops the requests that the runtime has withdrawn.
    pub(crate) fn drop_if(&mut self, is_over: impl Fn(&T) -> bool) {
        self.0.retain(|_, (_, question)| !is_over(question));
    }

    /// Takes every open request, because no decision will come.
    pub(crate) fn take_all(&mut self) -> Vec<T> {
        self.0.drain().map(|(_, (_, question))| question).collect()
    }

    /// The attempt that a matching request is about.
    #[cfg(test)]
    pub(crate) fn find(&self, is_it: impl Fn(&T) -> bool) -> Option<ToolCallIdentity> {
        let (call, (attempt, _)) = self.0.iter().find(|(_, (_, question))| is_it(question))?;
        let about = ToolCallIdentity::first(None, &serde_json::Value::Null);
        Some(ToolCallIdentity { tool_call_id: call.clone(), attempt: *attempt, ..about })
    }
}

/// The error for a decision that no request waits for.
pub(crate) fn not_pending(about: &ToolCallIdentity) -> AdapterError {
    AdapterError::NotPending(format!("a decision about {}", about.tool_call_id))
}

/// The error for an answer to a question that is not open.
pub(crate) fn question_not_pending(question: &QuestionId) -> AdapterError {
    AdapterError::NotPending(format!("an answer to {question}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_decision_about_one_attempt_answers_no_other() {
        let first = ToolCallIdentity::first(None, &json!({ "command": "ls" }));
        let second = ToolCallIdentity { attempt: 2, ..first.clone() };
        let mut waiting = PendingDecisions::default();
        assert_eq!(waiting.ask(&first, "ls"), None);
        assert_eq!(waiting.ask(&second, "rm"), Some("ls"));
        assert_eq!(waiting.answer(&first), None);
        assert_eq!(waiting.answer(&second), Some("rm"));
        assert_eq!(waiting.answer(&second), None);
    }
}
