//! What a runtime waits to hear about its tool calls.

use std::collections::HashMap;

use roost_engine::adapter::AdapterError;
use roost_model::ids::ToolCallId;
use roost_model::tool::ToolCallIdentity;

/// The open questions: one per call at most, answered only by a decision about that very attempt. A decision that was on
/// its way while the runtime asked again answers nothing.
#[derive(Debug)]
pub(crate) struct Waiting<T>(HashMap<ToolCallId, (u32, T)>);

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> Waiting<T> {
    /// The runtime asks about this attempt; what it asked before about the same call is void.
    pub(crate) fn ask(&mut self, about: &ToolCallIdentity, question: T) -> Option<T> {
        self.0.insert(about.tool_call_id.clone(), (about.attempt, question)).map(|(_, void)| void)
    }

    /// The question that a decision about this attempt answers.
    pub(crate) fn answer(&mut self, about: &ToolCallIdentity) -> Option<T> {
        let (attempt, _) = self.0.get(&about.tool_call_id)?;
        if *attempt != about.attempt {
            return None;
        }
        self.0.remove(&about.tool_call_id).map(|(_, question)| question)
    }

    /// The runtime no longer waits with these.
    pub(crate) fn drop_if(&mut self, is_over: impl Fn(&T) -> bool) {
        self.0.retain(|_, (_, question)| !is_over(question));
    }

    /// Everything that the runtime waits with; nobody will decide about it.
    pub(crate) fn take_all(&mut self) -> Vec<T> {
        self.0.drain().map(|(_, (_, question))| question).collect()
    }

    /// The attempt that this question is about.
    #[cfg(test)]
    pub(crate) fn find(&self, is_it: impl Fn(&T) -> bool) -> Option<ToolCallIdentity> {
        let (call, (attempt, _)) = self.0.iter().find(|(_, (_, question))| is_it(question))?;
        let about = ToolCallIdentity::first(None, &serde_json::Value::Null);
        Some(ToolCallIdentity { tool_call_id: call.clone(), attempt: *attempt, ..about })
    }
}

/// What is said about a decision that nobody waits for.
pub(crate) fn not_pending(about: &ToolCallIdentity) -> AdapterError {
    AdapterError::NotPending(format!("a decision about {}", about.tool_call_id))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_decision_about_one_attempt_answers_no_other() {
        let first = ToolCallIdentity::first(None, &json!({ "command": "ls" }));
        let second = ToolCallIdentity { attempt: 2, ..first.clone() };
        let mut waiting = Waiting::default();
        assert_eq!(waiting.ask(&first, "ls"), None);
        assert_eq!(waiting.ask(&second, "rm"), Some("ls"));
        assert_eq!(waiting.answer(&first), None);
        assert_eq!(waiting.answer(&second), Some("rm"));
        assert_eq!(waiting.answer(&second), None);
    }
}
