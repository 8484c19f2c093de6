//! The facts about ACP agents that the rest of Roost needs. The names of their tools are unknown, so the policy judges
//! their calls by the kinds that the protocol gives them.

use roost_engine::facts::{RuntimeFacts, Toolset};

use crate::codex;

/// The tools of every ACP agent. Whatever its id, an agent may wrap Codex and pass on Codex's fields, so those that
/// change nothing about a call are listed.
pub(crate) const TOOLS: Toolset = Toolset { silent_fields: codex::SILENT_FIELDS, ..Toolset::UNKNOWN };

/// The facts about every ACP agent that has no adapter of its own. Presets add the versions that they were tested with.
pub const FACTS: RuntimeFacts = RuntimeFacts { tools: TOOLS, ..RuntimeFacts::UNKNOWN };
