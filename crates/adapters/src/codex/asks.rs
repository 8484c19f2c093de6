//! What Codex asks its host, and how the answers are said.

use roost_model::payload::{QuestionAskedPayload, ToolKind};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::item::{ToolItem, mcp_name, title};
use super::questions::{self, Form};
use super::tools::Tools;
use super::wire::{CommandAction, ItemStatus};
use crate::host::json_rpc::RpcError;

/// How an approval is answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wait {
    /// With a decision, for commands and changes of files.
    Decision,
    /// With the rights that are granted: these, or none.
    Rights(Value),
    /// As an elicitation, for tools of tool servers.
    Elicitation,
    /// With the result of a tool that the host runs.
    HostTool,
}

impl Wait {
    /// Yes.
    pub(super) fn allow(&self) -> Value {
        match self {
            Self::Decision => json!({ "decision": "accept" }),
            Self::Rights(rights) => json!({ "permissions": rights, "scope": "turn" }),
            Self::Elicitation => json!({ "action": "accept", "content": {} }),
            Self::HostTool => host_result(&Value::Null, true),
        }
    }

    /// No; only the host's own tools have a place for the reason.
    pub(super) fn deny(&self, reason: &str) -> Value {
        match self {
            Self::Decision => json!({ "decision": "decline" }),
            Self::Rights(_) => json!({ "permissions": {}, "scope": "turn" }),
            Self::Elicitation => json!({ "action": "decline", "content": null }),
            Self::HostTool => host_result(&reason.into(), false),
        }
    }
}

/// What a tool of the host's said.
pub(super) fn host_result(result: &Value, success: bool) -> Value {
    let text = result.as_str().map_or_else(|| result.to_string(), Into::into);
    json!({ "contentItems": [{ "type": "inputText", "text": text }], "success": success })
}

/// Something that Codex waits for.
#[derive(Debug)]
pub(super) enum Ask {
    /// May this run?
    Tool { turn: String, item: ToolItem, wait: Wait },
    /// What does the user say?
    Question { question: QuestionAskedPayload, form: Form },
    /// Nobody is asked; this is the answer, and this is why.
    Answered { answer: Value, why: &'static str },
}

/// Every question about a tool; what one of them does not have is absent.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Asked {
    turn_id: String,
    item_id: String,
    call_id: String,
    kind: Option<String>,
    command: Option<String>,
    cwd: Option<String>,
    command_actions: Option<Vec<CommandAction>>,
    reason: Option<String>,
    grant_root: Option<String>,
    additional_permissions: Option<Value>,
    network_approval_context: Option<Value>,
    permissions: Value,
    tool: String,
    arguments: Value,
}

/// Reads a request; an error is for Codex to read.
pub(super) fn read(method: &str, params: &RawValue, tools: &Tools) -> Result<Ask, RpcError> {
    let invalid = |error: serde_json::Error| RpcError { code: -32602, message: error.to_string(), data: None };
    let asked = || serde_json::from_str::<Asked>(params.get()).map_err(invalid);
    match method {
        "item/commandExecution/requestApproval" => Ok(command(asked()?, tools)),
        "item/fileChange/requestApproval" => Ok(change(asked()?, tools)),
        "item/permissions/requestApproval" => Ok(rights(asked()?)),
        "item/tool/call" => Ok(host_tool(asked()?)),
        "item/tool/requestUserInput" => serde_json::from_str(params.get()).map(questions::of_user).map_err(invalid),
        "mcpServer/elicitation/request" => {
            serde_json::from_str(params.get()).map(|asked| elicitation(asked, tools)).map_err(invalid)
        }
        _ => Err(RpcError { code: -32601, message: format!("{method} is not offered by Roost"), data: None }),
    }
}

fn command(asked: Asked, tools: &Tools) -> Ask {
    let extra = [
        // The words of the question count, whatever the item said before.
        ("command", asked.command.clone().map(Value::from)),
        ("cwd", asked.cwd.clone().map(Value::from)),
        ("kind", asked.kind.filter(|kind| kind != "command").map(Value::from)),
        ("reason", asked.reason.map(Value::from)),
        ("additionalPermissions", asked.additional_permissions),
        ("networkApprovalContext", asked.network_approval_context),
    ];
    let extra: Map<_, _> = extra.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    let known = tools.question_about(&asked.item_id, extra.clone());
    let item = known.unwrap_or_else(|| {
        let mut input = json!({ "command": asked.command, "cwd": asked.cwd });
        input.as_object_mut().into_iter().for_each(|input| input.extend(extra.clone()));
        let title = asked.command.map(|command| title(&command, asked.command_actions.as_deref().unwrap_or_default()));
        unknown(asked.item_id, "commandExecution", ToolKind::Execute, title, input)
    });
    Ask::Tool { turn: asked.turn_id, item, wait: Wait::Decision }
}

fn change(asked: Asked, tools: &Tools) -> Ask {
    let extra = [("reason", asked.reason), ("grantRoot", asked.grant_root)];
    let extra: Map<_, _> =
        extra.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))).collect();
    let known = tools.question_about(&asked.item_id, extra.clone());
    let item =
        known.unwrap_or_else(|| unknown(asked.item_id, "fileChange", ToolKind::Edit, None, Value::Object(extra)));
    Ask::Tool { turn: asked.turn_id, item, wait: Wait::Decision }
}

fn rights(asked: Asked) -> Ask {
    let input = json!({ "permissions": asked.permissions, "cwd": asked.cwd, "reason": asked.reason });
    let mut granted = asked.permissions;
    granted.as_object_mut().into_iter().for_each(|granted| granted.retain(|_, right| !right.is_null()));
    let item = unknown(asked.item_id, "requestPermissions", ToolKind::Other, asked.reason, input);
    Ask::Tool { turn: asked.turn_id, item, wait: Wait::Rights(granted) }
}

fn host_tool(asked: Asked) -> Ask {
    let item = unknown(asked.call_id, &asked.tool, ToolKind::Other, None, asked.arguments);
    Ask::Tool { turn: asked.turn_id, item, wait: Wait::HostTool }
}

/// A tool server's question: whether a tool of its may run, or something that the server itself wants to know.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Elicitation {
    pub(super) thread_id: String,
    #[serde(default)]
    pub(super) turn_id: Option<String>,
    pub(super) server_name: String,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default, rename = "_meta")]
    meta: Value,
    #[serde(default)]
    pub(super) requested_schema: Value,
}

fn elicitation(asked: Elicitation, tools: &Tools) -> Ask {
    if asked.meta.get("codex_approval_kind").is_none_or(|kind| kind != "mcp_tool_call") {
        return questions::of_server(asked);
    }
    let (turn, wait) = (asked.turn_id.unwrap_or_default(), Wait::Elicitation);
    let input = asked.meta.get("tool_params").cloned().unwrap_or_else(|| json!({}));
    let call = tools.mcp_call(&mcp_name(&asked.server_name, ""), &input);
    let words = input.as_object().cloned().unwrap_or_default();
    let item = match call.and_then(|call| tools.question_about(call, words)) {
        Some(item) => item,
        // The question carries no call's id; its words are all there is.
        None => {
            let id = format!("{}/{}", asked.server_name, asked.message);
            unknown(id, &mcp_name(&asked.server_name, ""), ToolKind::Other, Some(asked.message), input)
        }
    };
    Ask::Tool { turn, item, wait }
}

fn unknown(id: String, name: &str, kind: ToolKind, title: Option<String>, input: Value) -> ToolItem {
    let (name, state) = (name.to_owned(), ItemStatus::InProgress);
    ToolItem { id, name, title, kind, input, may_ask: true, runs: false, state, output: None, result: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_granted_as_they_were_asked_for_and_only_for_the_turn() {
        let permissions = json!({ "network": { "enabled": true }, "fileSystem": null });
        let asked = json!({ "threadId": "t", "turnId": "u", "itemId": "i", "cwd": "/w", "startedAtMs": 1,
            "environmentId": null, "reason": "to fetch", "permissions": permissions });
        let params = serde_json::value::to_raw_value(&asked).unwrap();
        let ask = read("item/permissions/requestApproval", &params, &Tools::default()).unwrap();
        let Ask::Tool { turn, item, wait } = ask else { panic!("{ask:?}") };
        assert_eq!((turn.as_str(), item.id.as_str(), item.title.as_deref()), ("u", "i", Some("to fetch")));
        assert_eq!(item.input, json!({ "permissions": permissions, "cwd": "/w", "reason": "to fetch" }));
        let granted = json!({ "permissions": { "network": { "enabled": true } }, "scope": "turn" });
        assert_eq!(wait.allow(), granted, "no right comes along that was not asked for");
        assert_eq!(wait.deny("no"), json!({ "permissions": {}, "scope": "turn" }));
    }
}
