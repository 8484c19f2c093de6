//! The tools of a service, as a gateway offers them.

use std::collections::BTreeMap;

use roost_model::canonical;
use serde::Serialize;
use serde_json::{Map, Value};

/// Before the name of an exported function.
const FUNCTION_PREFIX: &str = "fn__";
/// The longest name of a tool that clients take.
const MAX_NAME: usize = 128;
/// How many hex digits of the hash a changed name ends in.
const HASH_DIGITS: usize = 8;

/// One tool, in the shape of an entry of `tools/list`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// The name by which it is called.
    pub name: String,
    /// What it does, for agents.
    pub description: String,
    /// The JSON schema of its arguments.
    pub input_schema: Map<String, Value>,
    /// The JSON schema of its structured content.
    pub output_schema: Map<String, Value>,
    /// What may be said about it without running it.
    pub annotations: ToolAnnotations,
}

/// What may be said about a tool without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// It changes nothing.
    pub read_only_hint: bool,
    /// It may destroy something.
    pub destructive_hint: bool,
    /// A second call with the same arguments changes nothing more.
    pub idempotent_hint: bool,
    /// It reaches beyond the service.
    pub open_world_hint: bool,
}

impl ToolAnnotations {
    /// A function that can only compute: the module has no effects, and every call gets an instance of its own.
    pub const PURE: Self =
        Self { read_only_hint: true, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    /// A function of a module that was granted effects.
    pub const EFFECTFUL: Self =
        Self { read_only_hint: false, destructive_hint: true, idempotent_hint: false, open_world_hint: true };
}

/// Gives each exported function the name of its tool: `fn__` and the function's name, with characters that clients refuse
/// replaced. A name that was changed or taken ends in a hash, so it is the same every time.
pub(crate) fn function_tools<'a>(functions: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, String> {
    let mut tools = BTreeMap::new();
    for function in functions {
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
        let mut name: String = FUNCTION_PREFIX.chars().chain(function.chars().map(plain)).collect();
        let unchanged = name.len() == FUNCTION_PREFIX.len() + function.len() && name.ends_with(function);
        if !unchanged || name.len() > MAX_NAME {
            let hash = canonical::hash_bytes(function.as_bytes());
            name.truncate(MAX_NAME - HASH_DIGITS - 1);
            name = format!("{name}_{}", &hash[hash.len() - HASH_DIGITS..]);
        }
        tools.insert(name, function.to_owned());
    }
    tools
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_unless_clients_would_refuse_them() {
        let long = "x".repeat(200);
        let tools = function_tools(["add", "a-b", "local:x/api#get", "é", &long]);
        assert_eq!(tools.len(), 5);
        assert_eq!(tools["fn__add"], "add");
        assert_eq!(tools["fn__a-b"], "a-b");
        for (name, function) in tools {
            assert!(name.len() <= MAX_NAME, "{function}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')), "{name}");
        }
    }
}
