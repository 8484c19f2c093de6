//! The policy, fed with what the engine knows: the call, the session, and what persons said before.

use std::sync::{PoisonError, RwLock};

use roost_proto::mode::Mode;
use roost_proto::pattern::{CallPattern, RememberedRule};
use roost_proto::payload::ToolCallRequestedPayload;
use roost_proto::tool::ToolPolicyEvaluation;

pub use roost_policy::Approver;

use crate::runtime::Profile;

/// What the policy says about a call.
pub(crate) struct Judgement {
    pub(crate) words: Vec<ToolPolicyEvaluation>,
    /// The calls that an answer for longer than once would cover.
    pub(crate) offer: Option<CallPattern>,
}

/// The rules, and the answers that count for longer than once.
#[derive(Default)]
pub(crate) struct Judge {
    remembered: RwLock<Vec<RememberedRule>>,
}

impl Judge {
    /// The policy with these remembered answers.
    pub(crate) fn new(remembered: Vec<RememberedRule>) -> Self {
        Self { remembered: RwLock::new(remembered) }
    }

    /// What the policy says about a call of this session.
    pub(crate) fn judge(
        &self,
        _profile: &Profile,
        mode: Mode,
        approver: Approver,
        _request: &ToolCallRequestedPayload,
    ) -> Judgement {
        Judgement { words: roost_policy::evaluate(mode, approver), offer: None }
    }

    /// From now on this counts.
    pub(crate) fn remember(&self, rule: RememberedRule) {
        self.remembered.write().unwrap_or_else(PoisonError::into_inner).push(rule);
    }
}
