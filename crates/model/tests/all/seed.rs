//! The types of seed 001 have exactly the seed's fields in the seed's casing.
//!
//! Each case is JSON written by hand from the seed: once with every field, once with the required ones only. It must be
//! read, be written again as it was (a field that the type does not know would be lost), and satisfy the type's schema.

use std::fmt::Debug;

use roost_model::content::{ArtifactRef, AssistantContentBlock, TranscriptMessage, TranscriptRole};
use roost_model::event::{NormalizedEvent, NormalizedEventType};
use roost_model::mode::PermissionMode;
use roost_model::payload::*;
use roost_model::runtime::*;
use roost_model::tool::*;
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn is_the_seeds<T: Serialize + DeserializeOwned + JsonSchema + Debug>(cases: impl IntoIterator<Item = Value>) {
    let schema = serde_json::to_value(schema_for!(T)).unwrap();
    for case in cases {
        let value: T = serde_json::from_value(case.clone()).unwrap_or_else(|error| panic!("{error}: {case}"));
        assert_eq!(serde_json::to_value(&value).unwrap(), case, "{value:?}");
        jsonschema::validate(&schema, &case).unwrap_or_else(|error| panic!("{error}: {case}"));
    }
}

fn spells<T: Serialize + DeserializeOwned + JsonSchema + Debug>(words: &[&str]) {
    is_the_seeds::<T>(words.iter().map(|word| json!(word)));
}

/// The fields of both objects; tool payloads extend the identity of their call.
fn extended(base: &Value, more: Value) -> Value {
    let mut object = base.as_object().unwrap().clone();
    object.extend(more.as_object().unwrap().clone());
    object.into()
}

fn identity() -> Value {
    json!({ "tool_call_id": "tc_1", "attempt": 2, "input_hash": "sha256:00" })
}

fn full_identity() -> Value {
    extended(&identity(), json!({ "runtime_tool_call_id": "call_1" }))
}

fn policy() -> Value {
    json!({ "decision": "allow", "sources": [] })
}

#[test]
fn enums_have_the_seeds_words() {
    spells::<RuntimeName>(&["claude-agent-sdk", "codex-sdk", "gemini-cli-core", "opencode-server"]);
    spells::<AuthModel>(&["oauth_local", "api_key", "both", "unknown"]);
    spells::<ToolExecutionModel>(&["external_mcp", "runtime_internal", "hybrid"]);
    spells::<PermissionModel>(&["codesdk", "runtime", "hybrid"]);
    spells::<RuntimeStateModel>(&["in_process", "local_disk", "server_side", "hybrid", "unknown"]);
    spells::<ResumeModel>(&["native", "reconstruct", "none"]);
    spells::<ToolReplaySafety>(&["safe_replay", "requires_reapproval", "unknown"]);
    spells::<McpSupport>(&["none", "client_only", "server_only", "both"]);
    spells::<McpTransport>(&["stdio", "sse", "http"]);
    spells::<CancellationModel>(&["best_effort", "guaranteed", "unknown"]);
    spells::<RuntimeIsolationMode>(&["in_process", "subprocess", "server_side"]);
    spells::<PermissionMode>(&["ask", "auto", "yolo"]);
    spells::<InteractionMode>(&["interactive", "non_interactive"]);
    spells::<TranscriptRole>(&["system", "user", "assistant", "tool"]);
    spells::<ModelOutputDeltaKind>(&["text_delta", "json_delta", "code_delta", "unknown_delta"]);
    spells::<ToolExecutedBy>(&["codesdk", "runtime"]);
    spells::<ToolExecutionEnv>(&["codesdk_docker", "codesdk_host", "runtime_internal", "unknown"]);
    spells::<PolicySource>(&["runtime", "codesdk", "user"]);
    spells::<PolicyResult>(&["allow", "deny", "ask"]);
    spells::<PolicyDecision>(&["allow", "deny"]);
}

#[test]
fn the_first_nineteen_event_types_are_the_seeds() {
    let seed = [
        "session.created",
        "task.started",
        "model.input",
        "runtime.request.started",
        "runtime.request.completed",
        "model.output.delta",
        "model.output.completed",
        "tool.call.requested",
        "tool.call.policy_evaluated",
        "tool.call.approved",
        "tool.call.denied",
        "tool.call.started",
        "tool.output.delta",
        "tool.output.completed",
        "tool.call.completed",
        "usage.reported",
        "task.completed",
        "task.failed",
        "task.stopped",
    ];
    let names: Vec<_> = NormalizedEventType::ALL.iter().map(|known| known.as_str()).collect();
    assert_eq!(names[..seed.len()], seed);
}

#[test]
fn capabilities_are_camel_case() {
    let required = json!({
        "supportsStreaming": true, "supportsToolCalls": true, "supportsParallelToolCalls": false,
        "supportsStop": true, "supportsArtifacts": false, "supportsSessionCreate": true,
        "supportsSessionResume": true, "supportsUsageReporting": true, "supportsNonInteractive": true,
        "authModel": "both", "toolExecutionModel": "hybrid", "permissionModel": "hybrid",
        "stateModel": "local_disk", "resumeModel": "native", "toolReplaySafety": "unknown",
        "mcpSupport": "client_only", "cancellationModel": "best_effort",
        "supportedIsolationModes": ["subprocess"], "recommendedIsolationMode": "subprocess",
    });
    let optional = json!({ "maxOutstandingToolCalls": 4, "mcpTransports": ["stdio", "sse", "http"] });
    is_the_seeds::<RuntimeCapabilities>([extended(&required, optional), required]);
}

#[test]
fn the_adapters_own_types_are_camel_case() {
    is_the_seeds::<AuthStatus>([
        json!({ "ok": true, "loggedIn": true, "authModel": "api_key", "accountLabel": "ada", "details": { "plan": 1 } }),
        json!({ "ok": false, "loggedIn": false, "authModel": "unknown" }),
    ]);
    is_the_seeds::<RuntimeEnv>([
        json!({ "cwd": "/w", "env": { "PATH": "/bin" }, "credentialNamespace": "ada", "isolation": {
            "mode": "subprocess", "homeDir": "/h", "xdgConfigHome": "/c", "xdgStateHome": "/s", "xdgCacheHome": "/x" } }),
        json!({ "cwd": "/w", "env": {}, "credentialNamespace": "ada", "isolation": { "mode": "in_process" } }),
        json!({ "cwd": "/w", "env": {}, "credentialNamespace": "ada" }),
    ]);
    is_the_seeds::<CreateSessionInput>([
        json!({ "title": "t", "model": "m", "permissionMode": "auto", "runtimeConfig": { "any": ["thing"] } }),
        json!({}),
    ]);
    is_the_seeds::<RuntimeSessionHandle>([
        json!({ "sessionId": "s1", "runtimeSessionId": "thread-7" }),
        json!({ "sessionId": "s1" }),
    ]);
}

#[test]
fn transcripts_are_made_of_the_seeds_blocks() {
    is_the_seeds::<TranscriptMessage>([
        json!({ "role": "user", "content": [
            { "type": "text", "text": "hello" },
            { "type": "code", "code": "1", "language": "python" },
            { "type": "code", "code": "1" },
            { "type": "artifact_ref", "artifact_id": "a1", "name": "n", "content_type": "text/plain" },
            { "type": "artifact_ref", "artifact_id": "a1" },
            { "type": "tool_use", "tool_call_id": "tc_1", "name": "shell", "input": { "any": [1] } },
            { "type": "tool_result", "tool_call_id": "tc_1", "result": "ok", "is_error": false },
            { "type": "tool_result", "tool_call_id": "tc_1", "result": null },
        ] }),
        json!({ "role": "assistant", "content": [] }),
    ]);
    is_the_seeds::<AssistantContentBlock>([
        json!({ "type": "text", "text": "hello" }),
        json!({ "type": "code", "code": "1", "language": "python" }),
        json!({ "type": "artifact_ref", "artifact_id": "a1", "name": "n", "content_type": "text/plain" }),
    ]);
    is_the_seeds::<ArtifactRef>([
        json!({ "artifact_id": "a1", "content_type": "text/plain", "size_bytes": 3, "content_hash": "sha256:00",
            "name": "n" }),
        json!({ "artifact_id": "a1" }),
    ]);
}

#[test]
fn model_output_has_the_seeds_fields() {
    is_the_seeds::<ModelOutputDeltaPayload>([
        json!({ "kind": "json_delta", "block_id": "b", "delta": "{", "tool_call_id": "tc_1", "language": "json" }),
        json!({ "kind": "text_delta", "block_id": "b", "delta": "x" }),
    ]);
    is_the_seeds::<ModelOutputCompletedPayload>([json!({ "content": [{ "type": "text", "text": "hello" }] })]);
}

#[test]
fn tool_payloads_carry_the_identity_beside_their_own_fields() {
    is_the_seeds::<ToolCallIdentity>([full_identity(), identity()]);
    let denied = json!({ "name": "shell", "reason": "no", "policy_snapshot": policy() });
    is_the_seeds::<ToolCallDeniedPayload>([extended(&full_identity(), denied.clone()), extended(&identity(), denied)]);
    let completed = extended(
        &identity(),
        json!({ "name": "shell", "executed_by": "codesdk", "execution_env": "codesdk_host",
            "policy_snapshot": policy() }),
    );
    let optional = json!({ "runtime_tool_call_id": "call_1", "sandbox": {}, "result_ref": { "artifact_id": "a1" },
        "result_preview": { "any": [1] }, "is_error": true });
    is_the_seeds::<ToolCallCompletedPayload>([extended(&completed, optional), completed]);
}

#[test]
fn manifests_policies_and_sandboxes_have_the_seeds_fields() {
    is_the_seeds::<ToolManifest>([json!({ "tools": [
        { "name": "t", "description": "d", "input_schema": { "type": "object" }, "schema_hash": "sha256:00" },
        { "name": "t" },
    ] })]);
    is_the_seeds::<ToolPolicySnapshot>([
        json!({ "permission_mode": "yolo", "decision": "deny", "sources": [
            { "source": "user", "result": "deny", "rule": "user_denied" },
            { "source": "codesdk", "result": "ask" },
        ] }),
        policy(),
    ]);
    is_the_seeds::<ToolSandboxSummary>([
        json!({ "network": false, "timeout_ms": 120_000, "mounts": ["/workspace"] }),
        json!({}),
    ]);
}

#[test]
fn the_envelope_has_the_seeds_fields() {
    let event = |trace: Value, runtime: Value| {
        json!({ "schema_version": 1, "seq": 3, "time": "2025-11-15T09:10:48.005Z", "type": "task.stopped",
            "trace": trace, "runtime": runtime, "payload": { "reason": "user" } })
    };
    is_the_seeds::<NormalizedEvent>([
        event(
            json!({ "session_id": "s1", "task_id": "t", "request_id": "r", "client_id": "c", "user_id": "u" }),
            json!({ "name": "codex-sdk", "model": "m", "runtime_session_id": "thread-7", "raw": { "any": [1] } }),
        ),
        event(json!({ "session_id": "s1" }), json!({ "name": "opencode-server" })),
    ]);
}
