//! The kinds of tools in the protocol: their counterparts in Roost, their names, and which of two is stricter.

use agent_client_protocol_schema::v1 as acp;
use roost_model::payload::ToolKind;

/// The stricter of two kinds that an agent claims for one call. A first `other` does not count: agents use it before
/// the kind is known.
pub(super) fn stricter(before: Option<acp::ToolKind>, now: Option<acp::ToolKind>) -> Option<acp::ToolKind> {
    let strictness = |kind: acp::ToolKind| match kind {
        acp::ToolKind::Think => 0,
        acp::ToolKind::Search => 1,
        acp::ToolKind::Read => 2,
        acp::ToolKind::Fetch => 3,
        acp::ToolKind::SwitchMode => 4,
        acp::ToolKind::Move => 5,
        acp::ToolKind::Edit => 6,
        acp::ToolKind::Execute => 7,
        acp::ToolKind::Delete => 8,
        _ => 9,
    };
    match (before, now) {
        (None | Some(acp::ToolKind::Other), now) => now.or(before),
        (before, None) => before,
        (Some(before), Some(now)) => Some(if strictness(now) > strictness(before) { now } else { before }),
    }
}

/// Converts a kind of the protocol; one that Roost does not know becomes `Other`.
pub(super) fn from_acp(kind: acp::ToolKind) -> ToolKind {
    match kind {
        acp::ToolKind::Read => ToolKind::Read,
        acp::ToolKind::Edit => ToolKind::Edit,
        acp::ToolKind::Delete => ToolKind::Delete,
        acp::ToolKind::Move => ToolKind::Move,
        acp::ToolKind::Search => ToolKind::Search,
        acp::ToolKind::Execute => ToolKind::Execute,
        acp::ToolKind::Think => ToolKind::Think,
        acp::ToolKind::Fetch => ToolKind::Fetch,
        acp::ToolKind::SwitchMode => ToolKind::SwitchMode,
        _ => ToolKind::Other,
    }
}

/// The name of a tool that is known only by its kind.
pub(super) fn name(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "execute",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
        ToolKind::SwitchMode => "switch_mode",
        ToolKind::Other => "other",
    }
}
