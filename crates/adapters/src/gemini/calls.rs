//! Reads Gemini's tool calls. Over ACP Gemini sends no raw input, but its words are built from the input, in ways that
//! were read in its source and seen in runs of the pinned version:
//!
//! * The id of a call is `<tool>__<id>`. No tool of Gemini's has `__` in its name, those of MCP servers begin with
//!   `mcp_<server>_`, and those of a discovery command with `discovered_tool_`.
//! * The title of `run_shell_command` is the command itself, whole. The text beside it is `[in <folder>]` or `[current
//!   working directory <folder>]`, then ` (<description>)` and ` [background]` if there are any.
//! * The text beside a call of an MCP server is its input as JSON, unless that is longer than 500 characters. Its title
//!   can be anything, even a command.

use roost_engine::GATEWAY_SERVER;
use roost_model::payload::ToolKind;
use serde_json::{Map, Value, json};

use crate::acp::{CallWords, NamedCall};

/// The beginnings of what Gemini shows of a command that failed. It reports such a command as completed, and shows only
/// the output of one that printed something.
pub(super) const FAILURE_TEXTS: &[&str] = &[
    "Blocked: command substitution detected",
    "Command cancelled by user.",
    "Command exited with code: ",
    "Command failed: ",
    "Command terminated by signal: ",
    "Command was automatically cancelled",
];

/// The tool that runs commands.
pub(super) const SHELL: &str = "run_shell_command";
/// The tool that writes the to-do list.
pub(super) const TODOS: &str = "write_todos";
/// The end of the explanation of a command that runs in the background.
const BACKGROUND: &str = " [background]";

/// The tool and the input of a call; `None` for an id that is not Gemini's.
pub(super) fn read_call(words: CallWords<'_>) -> Option<NamedCall> {
    let (tool, id) = words.id.split_once("__")?;
    if tool == SHELL && words.kind == Some(ToolKind::Execute) && !words.title.is_empty() {
        return Some(NamedCall { name: tool.to_owned(), input: Some(command(words)) });
    }
    // A server may have `__` in the name of its tool. An answer that was remembered for `a` must not count for `a__b`, so
    // the call then has a name of its own.
    let tool = match tool.starts_with("mcp_") && id.contains("__") {
        true => gateway_call(words.id).unwrap_or(words.id),
        false => tool,
    };
    match tool.strip_prefix("mcp_").and_then(|rest| rest.split_once('_')) {
        Some((server, tool)) => {
            Some(NamedCall { name: format!("mcp__{server}__{tool}"), input: Some(server_input(words)) })
        }
        None => Some(NamedCall { name: tool.to_owned(), input: None }),
    }
}

/// The tool of a call of Roost's own gateway, all of whose tools have `__` in their names; `None` for other servers. A model
/// that chooses the id of a call could make it look like one of another tool. That is in vain here: the gateway knows which
/// tool is called, and a decision about another one does not count there.
fn gateway_call(call: &str) -> Option<&str> {
    call.strip_prefix("mcp_")?.strip_prefix(GATEWAY_SERVER)?.strip_prefix('_')?;
    // Without an id of the model's, Gemini makes one of the tool's name, the time and a number.
    let is_made_of = |at: &usize| call[at + 2..].strip_prefix(&call[..*at]).is_some_and(|rest| rest.starts_with('-'));
    let made = call.match_indices("__").map(|(at, _)| at).find(is_made_of);
    made.or_else(|| call.rfind("__")).map(|at| &call[..at])
}

/// The input of a command. An explanation that cannot be taken apart with certainty stays as it is; the policy does not
/// understand that field, so it asks.
fn command(words: CallWords<'_>) -> Value {
    let mut input = Map::from_iter([("command".to_owned(), words.title.into())]);
    match Explanation::parse(words.explanation) {
        Some(Explanation { folder, description, background }) => {
            input.extend(folder.map(|folder| ("dir_path".to_owned(), folder.into())));
            input.extend(description.map(|text| ("description".to_owned(), text.into())));
            input.extend(background.then(|| ("is_background".to_owned(), true.into())));
        }
        None => {
            input.insert("explanation".into(), words.explanation.into());
        }
    }
    input.into()
}

/// The input of a tool of an MCP server. If Gemini leaves it out because it is long, the call's id makes the input
/// unique: an answer that was remembered for it must not count for another one.
fn server_input(words: CallWords<'_>) -> Value {
    match serde_json::from_str(words.explanation) {
        Ok(Value::Object(input)) => input.into(),
        _ => json!({ "title": words.title, "explanation": words.explanation, "call": words.id }),
    }
}

/// The text beside a command.
#[derive(Debug, PartialEq)]
struct Explanation<'a> {
    /// The folder that the model named; `None` means Gemini's own.
    folder: Option<&'a str>,
    description: Option<&'a str>,
    background: bool,
}

impl<'a> Explanation<'a> {
    /// Takes the text apart; `None` if more than one way is possible, because the folder and the description come from
    /// the model.
    fn parse(text: &'a str) -> Option<Self> {
        let (text, background) = text.strip_suffix(BACKGROUND).map_or((text, false), |text| (text, true));
        let (rest, is_named) = match text.strip_prefix("[in ") {
            Some(rest) => (rest, true),
            None => (text.strip_prefix("[current working directory ")?, false),
        };
        let (folder, description) = match rest.strip_suffix(')') {
            Some(rest) => {
                let (folder, description) = rest.split_once("] (")?;
                (folder, Some(description).filter(|description| !description.contains("] ("))?.into())
            }
            None => (rest.strip_suffix(']')?, None),
        };
        Some(Self { folder: is_named.then_some(folder), description, background })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(id: &str, kind: ToolKind, title: &str, explanation: &str) -> (String, Option<Value>) {
        let NamedCall { name, input } = read_call(CallWords { id, kind: Some(kind), title, explanation }).unwrap();
        (name, input)
    }

    #[test]
    fn a_command_is_its_title_and_the_text_beside_it() {
        let cases = [
            ("[current working directory /w]", json!({ "command": "ls" })),
            ("[current working directory /w] (Lists)", json!({ "command": "ls", "description": "Lists" })),
            ("[in /etc]", json!({ "command": "ls", "dir_path": "/etc" })),
            ("[in a] (Lists (b))", json!({ "command": "ls", "dir_path": "a", "description": "Lists (b)" })),
            (
                "[in a] (Lists) [background]",
                json!({ "command": "ls", "dir_path": "a", "description": "Lists", "is_background": true }),
            ),
            // A folder that looks like a folder with a description, and the other way round.
            ("[in a] (b)]", json!({ "command": "ls", "dir_path": "a] (b)" })),
            ("[in a] (b] (c)", json!({ "command": "ls", "explanation": "[in a] (b] (c)" })),
            ("something new", json!({ "command": "ls", "explanation": "something new" })),
        ];
        for (explanation, expected) in cases {
            let (name, input) = read("run_shell_command__1", ToolKind::Execute, "ls", explanation);
            assert_eq!((name.as_str(), input), ("run_shell_command", Some(expected)), "{explanation}");
        }
    }

    #[test]
    fn a_title_is_a_command_only_if_the_tool_is_the_shell() {
        for id in ["mcp_evil_run__1", "mcp_evil_run_shell_command__1", "discovered_tool_run_shell_command__1"] {
            let (name, input) = read(id, ToolKind::Execute, "ls", "");
            assert!(name != "run_shell_command" && !input.is_some_and(|input| input["command"] == "ls"), "{id}");
        }
        assert_eq!(read("run_shell_command__1", ToolKind::Other, "ls", ""), ("run_shell_command".into(), None));
    }

    #[test]
    fn a_tool_of_a_server_is_named_with_its_server_and_has_the_input_that_is_told() {
        let (name, input) = read("mcp_probe_probe_echo__1", ToolKind::Other, "ls", r#"{"command":"rm"}"#);
        assert_eq!((name.as_str(), input), ("mcp__probe__probe_echo", Some(json!({ "command": "rm" }))));
        assert_eq!(read("mcp_probe_a__b__1", ToolKind::Other, "", "{}").0, "mcp__probe__a__b__1");
        for id in ["mcp_roost_docs__search__fc1", "mcp_roost_docs__search__mcp_roost_docs__search-17-a"] {
            assert_eq!(read(id, ToolKind::Other, "", "{}").0, "mcp__roost__docs__search", "{id}");
        }
        let long = |id: &str| read(id, ToolKind::Other, "echo", "[Payload omitted due to length]").1;
        assert_ne!(long("mcp_probe_echo__1"), long("mcp_probe_echo__2"));
    }

    #[test]
    fn every_other_tool_has_its_own_name() {
        assert_eq!(read("write_todos__1", ToolKind::Other, "Set 1 todo(s)", ""), ("write_todos".into(), None));
        assert_eq!(read_call(CallWords { id: "call_1", kind: None, title: "", explanation: "" }), None);
    }
}
