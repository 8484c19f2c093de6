//! Approved tool definitions: a tool that has changed since a person approved it is held back.
//!
//! A server could offer harmless tools until somebody approved them and then change what their descriptions make an agent
//! do. So what an agent reads of a tool is hashed at its approval, and only a definition with that hash is offered. The code
//! behind a tool is approved with it where we know the code and it may do more than compute: see [`ARTIFACT`].

use std::collections::BTreeMap;

use roost_model::canonical;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// What an agent reads of a tool, and what decides how it is asked about.
const PINNED: [&str; 6] = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// In the `_meta` of a tool: the SHA-256 of the code behind it. Another build is then approved anew like another definition,
/// because what was granted to the code was granted to the code that somebody knew.
pub const ARTIFACT: &str = "dev.roost/artifactSha256";

/// The part of a definition that is approved.
pub fn pinned_part(tool: &Map<String, Value>) -> Map<String, Value> {
    let mut pinned: Map<_, _> =
        PINNED.iter().filter_map(|key| Some(((*key).to_owned(), tool.get(*key)?.clone()))).collect();
    if let Some(sha256) = tool.get("_meta").and_then(|meta| meta.get(ARTIFACT)) {
        pinned.insert("_meta".into(), json!({ ARTIFACT: sha256 }));
    }
    pinned
}

/// How a tool stands to what was approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinState {
    /// Nobody has approved it yet.
    New,
    /// It is as it was approved.
    Approved,
    /// It has changed since.
    Changed,
}

/// An approved definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pin {
    hash: String,
    /// What was approved, to be shown beside what the tool has become.
    definition: Map<String, Value>,
}

/// The approved definitions of a service's tools, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolPins(BTreeMap<String, Pin>);

impl ToolPins {
    /// How this definition of a tool stands to what was approved under its name.
    pub fn state(&self, name: &str, tool: &Map<String, Value>) -> PinState {
        match self.0.get(name) {
            None => PinState::New,
            Some(pin) if pin.hash == hash(&pinned_part(tool)) => PinState::Approved,
            Some(_) => PinState::Changed,
        }
    }

    /// Whether nothing is approved.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Approves this definition under its name, in place of an earlier one.
    pub fn approve(&mut self, name: &str, tool: &Map<String, Value>) {
        let definition = pinned_part(tool);
        self.0.insert(name.to_owned(), Pin { hash: hash(&definition), definition });
    }

    /// What was approved under this name.
    pub fn approved(&self, name: &str) -> Option<&Map<String, Value>> {
        self.0.get(name).map(|pin| &pin.definition)
    }
}

fn hash(definition: &Map<String, Value>) -> String {
    canonical::hash(&Value::Object(definition.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(changes: Value) -> Map<String, Value> {
        let mut tool = json!({ "name": "echo", "description": "says it", "inputSchema": { "a": 1, "b": 2 } });
        let tool = tool.as_object_mut().unwrap();
        tool.extend(changes.as_object().unwrap().clone());
        tool.clone()
    }

    #[test]
    fn a_tool_is_held_back_when_what_an_agent_reads_of_it_has_changed() {
        let mut pins = ToolPins::default();
        assert_eq!(pins.state("echo", &tool(json!({}))), PinState::New);
        pins.approve("echo", &tool(json!({})));
        for (changes, expected) in [
            (json!({}), PinState::Approved),
            (json!({ "inputSchema": { "b": 2, "a": 1 } }), PinState::Approved),
            (json!({ "icons": [], "_meta": {} }), PinState::Approved),
            (json!({ "_meta": { ARTIFACT: "00" } }), PinState::Changed),
            (json!({ "description": "says it and sends your keys along" }), PinState::Changed),
            (json!({ "inputSchema": { "a": 1 } }), PinState::Changed),
            (json!({ "annotations": { "readOnlyHint": true } }), PinState::Changed),
        ] {
            assert_eq!(pins.state("echo", &tool(changes.clone())), expected, "{changes}");
        }
    }
}
