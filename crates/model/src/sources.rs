//! The files that a runtime reads by itself, besides its input: settings, instructions and manifests, by path and hash.

use serde::{Deserialize, Serialize};

/// What a file is to the runtime that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// The runtime's settings.
    Config,
    /// Its permission rules.
    Policy,
    /// Instructions of the project, such as AGENTS.md.
    ProjectInstruction,
    /// A list of tools or tool servers.
    ToolManifest,
    /// None of the others.
    Other,
}

/// A file that a runtime reads by itself. Its content is never recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImplicitSource {
    /// Path of the file, as the runtime finds it.
    pub path: String,
    /// What it is to the runtime.
    pub kind: SourceKind,
    /// `sha256:<hex>` of its canonical text; absent where it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// True if the runtime was told not to read it; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// True if it could not be read or must not be shown; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redacted: Option<bool>,
}

/// All files that a runtime reads by itself, or the reason why they are not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImplicitSources {
    /// True if they are not known, or the runtime reads none.
    pub disabled: bool,
    /// Why they are not known; absent if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The files; empty if they are not known.
    pub sources: Vec<ImplicitSource>,
    /// The order in which they take precedence, the strongest first; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precedence: Option<Vec<String>>,
}

impl ImplicitSources {
    /// An empty list, with the reason why nothing is known.
    pub fn disabled(reason: &str) -> Self {
        Self { disabled: true, reason: Some(reason.into()), sources: Vec::new(), precedence: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical;

    #[test]
    fn a_disabled_snapshot_is_written_as_in_the_golden_vectors() {
        let mut empty = ImplicitSources::disabled("settingSources empty");
        empty.precedence = Some(Vec::new());
        let cases = [
            (
                ImplicitSources::disabled("capture disabled"),
                "f2e7f3c3b2fd6429772c7742f22fb605b539c747010921a789f3102cdde8fd28",
            ),
            (ImplicitSources::disabled("disabled"), "6e7fbec28f82377827d73be7ba6b5dca66ed22dd5dad6c4466e3c88b7ab370fe"),
            (empty, "40f05741e9b90e843184a9a6b029462845af58c3dcbf6d7b7d8827cee6e22dbd"),
        ];
        for (sources, expected) in cases {
            let text = serde_json::to_string_pretty(&sources).unwrap();
            assert_eq!(canonical::hash_bytes(text.as_bytes()), format!("sha256:{expected}"), "{text}");
        }
    }
}
