//! Which tools of a service are offered: those that its manifest allows and that are as they were approved.

use serde_json::{Map, Value};

use super::interface::Interface;
use super::stored::StoredService;
use crate::catalog::ListedItem;
use crate::tool_pins::{PinState, ToolPins, pinned_part};

/// A tool with what was decided about it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewedTool {
    /// Its name as the service knows it.
    pub name: String,
    /// How it stands to what was approved.
    pub state: PinState,
    /// Whether the manifest allows it.
    pub is_allowed: bool,
    /// For a changed tool: what was approved, and what it is now.
    pub change: Option<(Map<String, Value>, Map<String, Value>)>,
}

impl ReviewedTool {
    /// Whether clients see it.
    pub fn is_offered(&self) -> bool {
        self.is_allowed && self.state == PinState::Approved
    }

    /// Whether the code behind it is another than the one that was approved.
    pub fn has_other_code(&self) -> bool {
        self.change.as_ref().is_some_and(|(before, now)| before.get("_meta") != now.get("_meta"))
    }

    /// Whether a person has to look at it before clients see it.
    pub fn is_held_back(&self) -> bool {
        self.is_allowed && self.state != PinState::Approved
    }
}

/// What somebody approves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolApproval {
    /// The tools, as the service knows them; all that are held back if none is named.
    pub tools: Vec<String>,
    /// The interface that was looked at; whatever is offered now if absent.
    pub revision: Option<String>,
    /// The name of the device or user that approves, for the record.
    pub by: String,
}

/// Looks at every tool of an interface.
pub(super) fn review(stored: &StoredService, interface: &Interface) -> Vec<ReviewedTool> {
    interface.tools.iter().map(|tool| review_tool(stored, tool)).collect()
}

fn review_tool(stored: &StoredService, tool: &ListedItem) -> ReviewedTool {
    let definition = definition(tool);
    let state = stored.pins.state(&tool.key, &definition);
    let before = stored.pins.approved(&tool.key).filter(|_| state == PinState::Changed);
    let change = before.map(|before| (before.clone(), pinned_part(&definition)));
    ReviewedTool { name: tool.key.clone(), state, is_allowed: stored.allows(&tool.key), change }
}

/// The approvals with those tools approved as they are now that `is_meant` names; and their names.
pub(super) fn approve(
    pins: &ToolPins,
    interface: &Interface,
    is_meant: impl Fn(&str, PinState) -> bool,
) -> (ToolPins, Vec<String>) {
    let (mut pins, mut names) = (pins.clone(), Vec::new());
    for tool in &interface.tools {
        let definition = definition(tool);
        let state = pins.state(&tool.key, &definition);
        if state != PinState::Approved && is_meant(&tool.key, state) {
            pins.approve(&tool.key, &definition);
            names.push(tool.key.clone());
        }
    }
    (pins, names)
}

/// A definition that is no object has nothing that could be approved, and its list was refused already.
fn definition(tool: &ListedItem) -> Map<String, Value> {
    serde_json::from_str(tool.definition.get()).unwrap_or_default()
}
