//! The lazy surface: three tools that find, describe and call all others, for clients that drown in tools.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::surface::Surface;
use crate::raw_object::{RawObject, to_raw};

/// Finds tools by words.
pub(super) const SEARCH: &str = "runtime__search_tools";
/// Shows the whole definition of a tool.
pub(super) const DESCRIBE: &str = "runtime__describe_tool";
/// Calls a tool by its name.
pub(super) const CALL: &str = "runtime__call_tool";

/// Tools that a search gives at most.
const MAX_FOUND: usize = 20;

/// The definitions of the three tools.
pub(super) fn definitions() -> Vec<Box<RawValue>> {
    let name = json!({ "type": "string", "description": "The tool's name, as runtime__search_tools gives it" });
    let tools = [
        json!({
            "name": SEARCH,
            "description": "Finds tools whose name or description has the words of the query. Without a query, the first ones.",
            "inputSchema": { "type": "object", "properties": { "query": { "type": "string" } } },
            "annotations": { "readOnlyHint": true },
        }),
        json!({
            "name": DESCRIBE,
            "description": "Shows the whole definition of a tool, with the schema of its arguments.",
            "inputSchema": { "type": "object", "properties": { "name": name }, "required": ["name"] },
            "annotations": { "readOnlyHint": true },
        }),
        json!({
            "name": CALL,
            "description": "Calls a tool. Describe it first to learn its arguments.",
            "inputSchema": {
                "type": "object",
                "properties": { "name": name, "arguments": { "type": "object" } },
                "required": ["name"],
            },
        }),
    ];
    tools.iter().map(to_raw).collect()
}

/// The names and descriptions of the tools that have every word of the query.
pub(super) fn search(surface: &Surface, query: &str) -> Value {
    let words: Vec<_> = query.to_lowercase().split_whitespace().map(ToOwned::to_owned).collect();
    let mut found = Vec::new();
    let mut more = 0;
    for (name, target) in surface.tools() {
        let description = RawObject::parse(&target.definition).and_then(|definition| definition.text("description"));
        let description = description.unwrap_or_default();
        let text = format!("{name} {description}").to_lowercase();
        if !words.iter().all(|word| text.contains(word)) {
            continue;
        }
        if found.len() < MAX_FOUND {
            found.push(json!({ "name": name, "description": description }));
        } else {
            more += 1;
        }
    }
    json!({ "tools": found, "more": more })
}
