//! The requests that Codex sends to its host, and the JSON results that answer them.

use roost_model::payload::{QuestionAskedPayload, ToolKind};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::item::{ToolItem, command_title, mcp_name};
use super::questions::{self, AnswerFormat};
use super::tools::ItemTracker;
use super::wire::{CommandAction, ItemStatus};
use crate::host::json_rpc::RpcError;

/// Which of Codex's requests asked for an approval; each has its own JSON for yes and no.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ApprovalKind {
    /// A command or a change of files, answered with a decision.
    Decision,
    /// More permissions for the sandbox, answered with those that are granted: these, or none.
    Rights(Value),
    /// A tool of an MCP server, asked about as an elicitation.
    Elicitation,
    /// A tool that the host runs, answered with its result.
    HostTool,
}

impl ApprovalKind {
    /// The result that lets the call run. Permissions are granted for the rest of the turn only.
    pub(super) fn allow(&self) -> Value {
        match self {
            Self::Decision => json!({ "decision": "accept" }),
            Self::Rights(rights) => json!({ "permissions": rights, "scope": "turn" }),
            Self::Elicitation => json!({ "action": "accept", "content": {} }),
            Self::HostTool => host_result(&Value::Null, true),
        }
    }

    /// The result that refuses the call. Only [`Self::HostTool`] has a place for the reason; for the others the caller
    /// sends it as a message.
    pub(super) fn deny(&self, reason: &str) -> Value {
        match self {
            Self::Decision => json!({ "decision": "decline" }),
            Self::Rights(_) => json!({ "permissions": {}, "scope": "turn" }),
            Self::Elicitation => json!({ "action": "decline", "content": null }),
            Self::HostTool => host_result(&reason.into(), false),
        }
    }
}

/// The result of a tool that the host ran; `result` is sent as its text if it is a string, and as JSON if not.
pub(super) fn host_result(result: &Value, success: bool) -> Value {
    let text = result.as_str().map_or_else(|| result.to_string(), Into::into);
    json!({ "contentItems": [{ "type": "inputText", "text": text }], "success": success })
}

/// A request that Codex waits on.
#[derive(Debug)]
pub(super) enum HostRequest {
    /// A tool call that needs an approval or, for [`ApprovalKind::HostTool`], a result.
    Tool { turn: String, item: ToolItem, approval: ApprovalKind },
    /// A question for the user; `format` turns the answer into Codex's result.
    Question { question: QuestionAskedPayload, format: AnswerFormat },
    /// Answered without asking anybody. `reason` is shown as a warning.
    AutoReply { answer: Value, reason: &'static str },
}

/// The parameters of every request about a tool. The requests differ in which fields they have; the others stay empty.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ToolRequestParams {
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

/// Parses a request. `tools` are the calls of the running turn, which the request may refer to. An error is sent back
/// to Codex.
pub(super) fn parse(method: &str, params: &RawValue, tools: &ItemTracker) -> Result<HostRequest, RpcError> {
    let invalid = |error: serde_json::Error| RpcError { code: -32602, message: error.to_string(), data: None };
    let request = || serde_json::from_str::<ToolRequestParams>(params.get()).map_err(invalid);
    match method {
        "item/commandExecution/requestApproval" => Ok(command_approval(request()?, tools)),
        "item/fileChange/requestApproval" => Ok(file_change_approval(request()?, tools)),
        "item/permissions/requestApproval" => Ok(permissions_approval(request()?)),
        "item/tool/call" => Ok(host_tool_call(request()?)),
        "item/tool/requestUserInput" => {
            serde_json::from_str(params.get()).map(questions::from_user_input).map_err(invalid)
        }
        "mcpServer/elicitation/request" => {
            serde_json::from_str(params.get()).map(|request| elicitation(request, tools)).map_err(invalid)
        }
        _ => Err(RpcError { code: -32601, message: format!("{method} is not offered by Roost"), data: None }),
    }
}

fn command_approval(request: ToolRequestParams, tools: &ItemTracker) -> HostRequest {
    let extra = [
        // The request says what will run; the item may have been announced with something else.
        ("command", request.command.clone().map(Value::from)),
        ("cwd", request.cwd.clone().map(Value::from)),
        ("kind", request.kind.filter(|kind| kind != "command").map(Value::from)),
        ("reason", request.reason.map(Value::from)),
        ("additionalPermissions", request.additional_permissions),
        ("networkApprovalContext", request.network_approval_context),
    ];
    let extra: Map<_, _> = extra.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    let known = tools.item_for_request(&request.item_id, extra.clone());
    let item = known.unwrap_or_else(|| {
        let mut input = json!({ "command": request.command, "cwd": request.cwd });
        input.as_object_mut().into_iter().for_each(|input| input.extend(extra.clone()));
        let title = request
            .command
            .map(|command| command_title(&command, request.command_actions.as_deref().unwrap_or_default()));
        unannounced_item(request.item_id, "commandExecution", ToolKind::Execute, title, input)
    });
    HostRequest::Tool { turn: request.turn_id, item, approval: ApprovalKind::Decision }
}

fn file_change_approval(request: ToolRequestParams, tools: &ItemTracker) -> HostRequest {
    let extra = [("reason", request.reason), ("grantRoot", request.grant_root)];
    let extra: Map<_, _> =
        extra.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))).collect();
    let known = tools.item_for_request(&request.item_id, extra.clone());
    let item = known
        .unwrap_or_else(|| unannounced_item(request.item_id, "fileChange", ToolKind::Edit, None, Value::Object(extra)));
    HostRequest::Tool { turn: request.turn_id, item, approval: ApprovalKind::Decision }
}

fn permissions_approval(request: ToolRequestParams) -> HostRequest {
    let input = json!({ "permissions": request.permissions, "cwd": request.cwd, "reason": request.reason });
    let mut granted = request.permissions;
    granted.as_object_mut().into_iter().for_each(|granted| granted.retain(|_, right| !right.is_null()));
    let item = unannounced_item(request.item_id, "requestPermissions", ToolKind::Other, request.reason, input);
    HostRequest::Tool { turn: request.turn_id, item, approval: ApprovalKind::Rights(granted) }
}

fn host_tool_call(request: ToolRequestParams) -> HostRequest {
    let item = unannounced_item(request.call_id, &request.tool, ToolKind::Other, None, request.arguments);
    HostRequest::Tool { turn: request.turn_id, item, approval: ApprovalKind::HostTool }
}

/// An MCP server's elicitation: whether one of its tools may run, or a question of the server's own.
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

/// Maps an elicitation. One of kind `mcp_tool_call` is about an open call of that server, preferably with this input.
fn elicitation(request: Elicitation, tools: &ItemTracker) -> HostRequest {
    if request.meta.get("codex_approval_kind").is_none_or(|kind| kind != "mcp_tool_call") {
        return questions::from_elicitation(request);
    }
    let (turn, approval) = (request.turn_id.unwrap_or_default(), ApprovalKind::Elicitation);
    let input = request.meta.get("tool_params").cloned().unwrap_or_else(|| json!({}));
    let call = tools.find_mcp_call(&mcp_name(&request.server_name, ""), &input);
    let words = input.as_object().cloned().unwrap_or_default();
    let item = match call.and_then(|call| tools.item_for_request(call, words)) {
        Some(item) => item,
        // The request has no call id, so the server and the message stand in for it.
        None => {
            let id = format!("{}/{}", request.server_name, request.message);
            unannounced_item(id, &mcp_name(&request.server_name, ""), ToolKind::Other, Some(request.message), input)
        }
    };
    HostRequest::Tool { turn, item, approval }
}

/// An item for a request about a call that Codex has not announced.
fn unannounced_item(id: String, name: &str, kind: ToolKind, title: Option<String>, input: Value) -> ToolItem {
    let (name, state) = (name.to_owned(), ItemStatus::InProgress);
    ToolItem { id, name, title, kind, input, may_ask: true, runs: false, state, output: None, result: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_granted_as_they_were_asked_for_and_only_for_the_turn() {
        let permissions = json!({ "network": { "enabled": true }, "fileSystem": null });
        let request = json!({ "threadId": "t", "turnId": "u", "itemId": "i", "cwd": "/w", "startedAtMs": 1,
            "environmentId": null, "reason": "to fetch", "permissions": permissions });
        let params = serde_json::value::to_raw_value(&request).unwrap();
        let request = parse("item/permissions/requestApproval", &params, &ItemTracker::default()).unwrap();
        let HostRequest::Tool { turn, item, approval } = request else { panic!("{request:?}") };
        assert_eq!((turn.as_str(), item.id.as_str(), item.title.as_deref()), ("u", "i", Some("to fetch")));
        assert_eq!(item.input, json!({ "permissions": permissions, "cwd": "/w", "reason": "to fetch" }));
        let granted = json!({ "permissions": { "network": { "enabled": true } }, "scope": "turn" });
        assert_eq!(approval.allow(), granted, "no right comes along that was not asked for");
        assert_eq!(approval.deny("no"), json!({ "permissions": {}, "scope": "turn" }));
    }
}
