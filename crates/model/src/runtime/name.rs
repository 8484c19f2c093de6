//! The names of runtimes: the one in events, and the id that people and clients use.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Who events come from: the seed's four runtimes, `demo`, `acp:<id>` for any other runtime, `mcp` and `host`. The
/// spellings are the log's and the wire's for good; what else is known of a runtime comes with its adapter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuntimeName {
    /// Claude Code, by its `stream-json` protocol.
    ClaudeAgentSdk,
    /// Codex, by its app server or `codex exec`.
    CodexSdk,
    /// The Gemini CLI, by ACP.
    GeminiCliCore,
    /// OpenCode, by its HTTP server.
    OpencodeServer,
    /// The demo agent inside Roost's own binary.
    Demo,
    /// Any other runtime, by the id it is registered under. Most speak ACP, hence the prefix; none has to.
    Acp(Arc<str>),
    /// A client of the MCP gateway that is no hosted agent. Its session holds the calls that a person is asked about; it
    /// cannot be prompted, so no id leads to it.
    McpClient,
    /// Roost itself, for what happens to the host; no runtime, so no id leads to it.
    Host,
}

/// The text is not a runtime's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown runtime name \"{0}\"")]
pub struct UnknownRuntimeName(pub String);

/// The runtimes whose names are fixed.
pub(crate) const FIXED: [RuntimeName; 5] = [
    RuntimeName::ClaudeAgentSdk,
    RuntimeName::CodexSdk,
    RuntimeName::GeminiCliCore,
    RuntimeName::OpencodeServer,
    RuntimeName::Demo,
];

/// The names that are no runtime's, so no id leads to them.
pub(crate) const UNPROMPTABLE: [RuntimeName; 2] = [RuntimeName::McpClient, RuntimeName::Host];

/// What people also call a runtime, besides its id and its name in events.
const ALIASES: [(&str, RuntimeName); 2] =
    [("claude-code", RuntimeName::ClaudeAgentSdk), ("gemini-cli", RuntimeName::GeminiCliCore)];

impl RuntimeName {
    /// The name in events, such as `claude-agent-sdk`.
    pub fn wire(&self) -> Cow<'static, str> {
        match self {
            Self::ClaudeAgentSdk => "claude-agent-sdk".into(),
            Self::CodexSdk => "codex-sdk".into(),
            Self::GeminiCliCore => "gemini-cli-core".into(),
            Self::OpencodeServer => "opencode-server".into(),
            Self::Demo => "demo".into(),
            Self::Acp(id) => format!("acp:{id}").into(),
            Self::McpClient => "mcp".into(),
            Self::Host => "host".into(),
        }
    }

    /// The id under which people and seed 000 know the runtime (`claude`, `codex`, … or the ACP agent's own id).
    pub fn id(&self) -> &str {
        match self {
            Self::ClaudeAgentSdk => "claude",
            Self::CodexSdk => "codex",
            Self::GeminiCliCore => "gemini",
            Self::OpencodeServer => "opencode",
            Self::Demo => "demo",
            Self::Acp(id) => id,
            Self::McpClient => "mcp",
            Self::Host => "host",
        }
    }

    /// Reads the name in events; the inverse of [`RuntimeName::wire`].
    pub fn from_wire(text: &str) -> Result<Self, UnknownRuntimeName> {
        if let Some(name) = FIXED.iter().chain(&UNPROMPTABLE).find(|name| name.wire() == text) {
            return Ok(name.clone());
        }
        match text.strip_prefix("acp:") {
            Some(id) if !id.is_empty() => Ok(Self::Acp(id.into())),
            _ => Err(UnknownRuntimeName(text.into())),
        }
    }

    /// The runtime that is meant by an id, by the name in events or by the product's usual name. Ids that are not ours are
    /// ACP agents.
    pub fn from_id(id: &str) -> Self {
        let fixed = FIXED.iter().find(|name| name.id() == id || name.wire() == id);
        let alias = || ALIASES.iter().find(|(alias, _)| *alias == id).map(|(_, name)| name);
        let own = id.strip_prefix("acp:").filter(|own| !own.is_empty()).unwrap_or(id);
        fixed.or_else(alias).cloned().unwrap_or_else(|| Self::Acp(own.into()))
    }
}

impl fmt::Display for RuntimeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.wire())
    }
}

impl Serialize for RuntimeName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.wire())
    }
}

impl<'de> Deserialize<'de> for RuntimeName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::from_wire(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ids_map_both_ways() {
        let cases = [
            ("claude-agent-sdk", "claude"),
            ("codex-sdk", "codex"),
            ("gemini-cli-core", "gemini"),
            ("opencode-server", "opencode"),
            ("demo", "demo"),
            ("acp:goose", "goose"),
        ];
        for (wire, id) in cases {
            let name = RuntimeName::from_wire(wire).unwrap();
            assert_eq!((&*name.wire(), name.id()), (wire, id));
            assert_eq!(RuntimeName::from_id(id), name);
            assert_eq!(RuntimeName::from_id(wire), name);
        }
    }

    #[test]
    fn a_product_is_known_by_its_usual_name() {
        assert_eq!(RuntimeName::from_id("claude-code").id(), "claude");
        assert_eq!(RuntimeName::from_id("gemini-cli").id(), "gemini");
        assert_eq!(RuntimeName::from_id("claude-agent-acp").id(), "claude-agent-acp");
        assert_ne!(RuntimeName::from_id("acp:claude"), RuntimeName::ClaudeAgentSdk);
    }

    #[test]
    fn the_host_and_clients_of_the_gateway_are_named_by_events_and_by_no_id() {
        for (wire, name) in [("host", RuntimeName::Host), ("mcp", RuntimeName::McpClient)] {
            assert_eq!(RuntimeName::from_wire(wire).unwrap(), name);
            assert_eq!(name.wire(), wire);
            assert_eq!(RuntimeName::from_id(wire), RuntimeName::Acp(wire.into()));
        }
    }

    #[test]
    fn a_name_that_is_not_ours_is_refused() {
        for text in ["", "claude", "acp:", "gpt"] {
            assert!(RuntimeName::from_wire(text).is_err(), "{text}");
        }
    }
}
