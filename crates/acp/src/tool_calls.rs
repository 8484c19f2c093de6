//! Tool calls as an editor shows them: what they really do as the title, diffs, files and output.

use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1 as acp;
use roost_model::payload::{ApprovalRequestedPayload, ToolCallCompletedPayload, ToolCallRequestedPayload, ToolKind};
use roost_rpc::call::ToolCallView;
use roost_rpc::file_change;
use serde_json::Value;

/// Output that is shown while a tool runs: at most so many bytes, the last ones.
const PREVIEW: usize = 64 << 10;

/// A new call, before anything runs.
pub(crate) fn requested(call: &ToolCallRequestedPayload) -> acp::ToolCall {
    let view = ToolCallView { name: &call.name, kind: call.kind, input: &call.input };
    acp::ToolCall::new(call.identity.tool_call_id.to_string(), view.display())
        .name(call.name.clone())
        .kind(kind(call.kind))
        .status(acp::ToolCallStatus::Pending)
        .content(diffs(&view, &call.input))
        .locations(locations(&call.input))
        .raw_input(call.input.clone())
}

/// The call that an approval is about. Its title says what the call would do, not what the agent calls it.
pub(crate) fn asked(call: &ApprovalRequestedPayload) -> acp::ToolCallUpdate {
    let view = ToolCallView::from_approval(call);
    let fields = acp::ToolCallUpdateFields::new()
        .title(view.display())
        .name(call.name.clone())
        .kind(kind(call.kind))
        .status(acp::ToolCallStatus::Pending)
        .content(Some(diffs(&view, &call.input)).filter(|diffs| !diffs.is_empty()))
        .locations(Some(locations(&call.input)).filter(|locations| !locations.is_empty()))
        .raw_input(call.input.clone());
    acp::ToolCallUpdate::new(call.identity.tool_call_id.to_string(), fields)
}

/// The end of a call, with its result.
pub(crate) fn completed(call: &ToolCallCompletedPayload, output: Option<&str>) -> acp::ToolCallUpdate {
    let status = match call.is_error {
        Some(true) => acp::ToolCallStatus::Failed,
        _ => acp::ToolCallStatus::Completed,
    };
    let result = call.result_preview.as_ref();
    let changes = result.map(file_change::changes).unwrap_or_default();
    let text = output.map(ToOwned::to_owned).or_else(|| result.and_then(result_text));
    let content = match changes.is_empty() {
        false => Some(changes.iter().filter_map(|change| diff(change.path, change.old, change.new)).collect()),
        true => text.filter(|text| !text.is_empty()).map(|text| vec![text.into()]),
    };
    let fields = acp::ToolCallUpdateFields::new()
        .status(status)
        .content(content.filter(|content: &Vec<_>| !content.is_empty()))
        .raw_output(result.cloned());
    acp::ToolCallUpdate::new(call.identity.tool_call_id.to_string(), fields)
}

/// What the output of a running tool looks like: its end, if it is long.
pub(crate) fn preview(output: &str) -> Vec<acp::ToolCallContent> {
    let mut start = output.len().saturating_sub(PREVIEW);
    while !output.is_char_boundary(start) {
        start += 1;
    }
    vec![output[start..].to_owned().into()]
}

fn kind(kind: Option<ToolKind>) -> acp::ToolKind {
    match kind {
        Some(ToolKind::Read) => acp::ToolKind::Read,
        Some(ToolKind::Edit) => acp::ToolKind::Edit,
        Some(ToolKind::Delete) => acp::ToolKind::Delete,
        Some(ToolKind::Move) => acp::ToolKind::Move,
        Some(ToolKind::Search) => acp::ToolKind::Search,
        Some(ToolKind::Execute) => acp::ToolKind::Execute,
        Some(ToolKind::Think) => acp::ToolKind::Think,
        Some(ToolKind::Fetch) => acp::ToolKind::Fetch,
        Some(ToolKind::SwitchMode) => acp::ToolKind::SwitchMode,
        Some(ToolKind::Other) | None => acp::ToolKind::Other,
    }
}

/// The changes to files that an input describes; none if it is no edit.
fn diffs(view: &ToolCallView<'_>, input: &Value) -> Vec<acp::ToolCallContent> {
    let changes = if view.edits() { file_change::changes(input) } else { Vec::new() };
    changes.iter().filter_map(|change| diff(change.path, change.old, change.new)).collect()
}

/// A diff for the editor, which takes only absolute paths.
fn diff(path: &str, old: &str, new: &str) -> Option<acp::ToolCallContent> {
    let old = (!old.is_empty()).then(|| old.to_owned());
    Path::new(path).is_absolute().then(|| acp::Diff::new(path, new).old_text(old).into())
}

fn locations(input: &Value) -> Vec<acp::ToolCallLocation> {
    let path = file_change::path(input).map(PathBuf::from).filter(|path| path.is_absolute());
    path.map(acp::ToolCallLocation::new).into_iter().collect()
}

/// A result as text, where it is one or contains one.
fn result_text(result: &Value) -> Option<String> {
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    text(result).or_else(|| ["stdout", "output", "content", "text"].iter().find_map(|field| text(result.get(field)?)))
}
