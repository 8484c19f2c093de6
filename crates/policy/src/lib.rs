//! The one policy: rules and context in, a decision with its rule's name out. Pure: no I/O, no clock.
//!
//! This is the part that the first agent needs: a mode that allows everything, and an honest "nobody is there to
//! ask" for the rest. Tool classes, lists and remembered answers join it here.

use roost_proto::mode::Mode;
use roost_proto::tool::{PolicyResult, PolicySource, ToolPolicyEvaluation};

/// Whether somebody can answer when the policy says ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approver {
    /// Somebody watches and may answer.
    Present,
    /// The session is alone; asking would wait for ever.
    Nobody,
}

/// The rule that denies a call which nobody could approve.
pub const NO_APPROVER: &str = "no_approver";

/// What the policy says about a tool call: each layer's word, in order. The last one is never `Ask` when nobody is
/// there to answer.
pub fn evaluate(mode: Mode, approver: Approver) -> Vec<ToolPolicyEvaluation> {
    let host = |result, rule: &str| ToolPolicyEvaluation {
        source: PolicySource::Codesdk,
        result,
        rule: Some(rule.to_owned()),
    };
    if mode == Mode::Yolo {
        return vec![host(PolicyResult::Allow, "permission_mode:yolo")];
    }
    let ask = host(PolicyResult::Ask, &format!("permission_mode:{mode}"));
    match approver {
        Approver::Present => vec![ask],
        Approver::Nobody => vec![ask, host(PolicyResult::Deny, NO_APPROVER)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(mode: Mode, approver: Approver) -> (PolicyResult, String) {
        let word = evaluate(mode, approver).pop().unwrap();
        (word.result, word.rule.unwrap())
    }

    #[test]
    fn yolo_allows_whoever_is_there() {
        for approver in [Approver::Present, Approver::Nobody] {
            assert_eq!(last(Mode::Yolo, approver), (PolicyResult::Allow, "permission_mode:yolo".into()));
        }
    }

    #[test]
    fn every_other_mode_fails_closed_when_nobody_is_there() {
        for mode in [Mode::Plan, Mode::Ask, Mode::AcceptEdits, Mode::Auto] {
            assert_eq!(last(mode, Approver::Nobody), (PolicyResult::Deny, NO_APPROVER.into()));
        }
    }

    #[test]
    fn every_other_mode_asks_whoever_is_there() {
        assert_eq!(last(Mode::Ask, Approver::Present), (PolicyResult::Ask, "permission_mode:ask".into()));
    }
}
