//! What the rest of Roost must know of an agent that speaks ACP: its tools have no names that mean anything to us, so
//! they are judged by the kinds that the protocol gives them.

use roost_engine::facts::{RuntimeFacts, Toolset};

use crate::codex;

/// What is known of the tools of every ACP agent. Whatever its id, it may be an adapter of Codex, which passes on what
/// Codex says.
pub(crate) const TOOLS: Toolset = Toolset { silent_fields: codex::SILENT_FIELDS, ..Toolset::UNKNOWN };

/// The facts about every ACP agent.
pub static FACTS: RuntimeFacts = RuntimeFacts { tools: TOOLS, ..RuntimeFacts::UNKNOWN };
