//! Events on the wire: the golden lines, and what happens to events of older and newer versions.

use roost_model::event::{EventBody, NormalizedEvent, NormalizedEventType};
use serde_json::{Value, json};
use testkit::events::examples;
use testkit::events::{body, event};

#[test]
fn every_type_has_one_example_in_the_tables_order() {
    let types: Vec<_> = examples().iter().filter_map(|event| event.body.event_type()).collect();
    assert_eq!(types, NormalizedEventType::ALL, "add an example of the new type to examples.rs");
}

#[test]
fn the_examples_are_written_as_the_golden_lines() {
    let lines: Vec<_> = examples().iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn every_example_is_read_back_as_it_was() {
    for event in examples() {
        let line = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<NormalizedEvent>(&line).unwrap(), event);
    }
}

#[test]
fn a_type_has_one_name_in_both_directions() {
    for &known in NormalizedEventType::ALL {
        assert_eq!(NormalizedEventType::from_name(known.as_str()), Some(known));
        assert_eq!(serde_json::to_value(known).unwrap(), json!(known.as_str()));
    }
    assert_eq!(NormalizedEventType::from_name("task.paused"), None);
}

#[test]
fn only_the_three_endings_end_a_task() {
    let examples = examples();
    let endings: Vec<_> =
        examples.iter().map(|event| &event.body).filter(|body| body.ends_task()).map(EventBody::name).collect();
    assert_eq!(endings, ["task.completed", "task.failed", "task.stopped"]);
}

#[test]
fn an_event_of_an_unknown_type_is_kept_and_passed_on_as_it_came() {
    let line = concat!(
        r#"{"schema_version":2,"seq":9,"time":"2025-11-15T09:10:48.000Z","type":"task.paused","#,
        r#""trace":{"session_id":"s1"},"runtime":{"name":"acp:goose"},"#,
        r#""payload":{"z":1,"a":[true,null,1.0,-5e-8],"text":"\u0000ü","deep":{"b":{},"a":[]}}}"#,
    );
    let event: NormalizedEvent = serde_json::from_str(line).unwrap();
    assert!(matches!(&event.body, EventBody::Other { name, .. } if name == "task.paused"), "{event:?}");
    assert_eq!(serde_json::to_string(&event).unwrap(), line);
}

#[test]
fn fields_that_a_newer_version_added_are_no_error() {
    let mut line = serde_json::to_value(&examples()[1]).unwrap();
    let known: NormalizedEvent = serde_json::from_value(line.clone()).unwrap();
    for pointer in ["", "/trace", "/runtime", "/payload", "/payload/messages/0/content/0"] {
        line.pointer_mut(pointer).unwrap()["added_later"] = json!({ "by": "version 2" });
    }
    assert_eq!(serde_json::from_value::<NormalizedEvent>(line).unwrap(), known);
}

#[test]
fn events_without_optional_fields_are_read_and_written_without_them() {
    let call = |mut payload: Value| {
        payload["tool_call_id"] = json!("tc_1");
        payload["attempt"] = json!(1);
        payload["input_hash"] = json!("sha256:00");
        payload
    };
    let policy = json!({ "decision": "deny", "sources": [] });
    let cases = [
        (
            "session.created",
            json!({ "contract_version": "1", "runtime": "demo", "cwd": "/", "credential_namespace": "default",
                "permission_mode": "ask", "mode": "plan" }),
        ),
        (
            "task.started",
            json!({ "messages": [], "permission_mode": "yolo", "mode": "yolo", "interaction_mode": "non_interactive" }),
        ),
        ("model.input", json!({ "input_hash": "sha256:00", "context_window": { "strategy": "none" } })),
        ("runtime.request.started", json!({ "request_id": "req_1", "method": "prompt" })),
        (
            "runtime.request.completed",
            json!({ "request_id": "req_1", "method": "prompt", "status": "error", "duration_ms": 0 }),
        ),
        ("model.output.delta", json!({ "kind": "text_delta", "block_id": "b", "delta": "" })),
        ("model.output.completed", json!({ "content": [] })),
        ("tool.call.requested", call(json!({ "name": "shell", "input": null }))),
        ("tool.call.policy_evaluated", call(json!({ "source": "runtime", "result": "allow" }))),
        ("tool.call.approved", call(json!({}))),
        ("tool.call.denied", call(json!({ "name": "shell", "reason": "", "policy_snapshot": policy }))),
        ("tool.call.started", call(json!({}))),
        ("tool.output.delta", call(json!({ "stream": "stdout", "delta": "" }))),
        ("tool.output.completed", call(json!({}))),
        (
            "tool.call.completed",
            call(json!({ "name": "shell", "executed_by": "codesdk", "execution_env": "unknown",
                "policy_snapshot": policy })),
        ),
        ("usage.reported", json!({})),
        ("task.completed", json!({ "reason": "end_turn" })),
        (
            "task.failed",
            json!({ "reason": "r", "error": { "code": "SPAWN_FAILED", "message": "m", "retryable": false } }),
        ),
        ("task.stopped", json!({ "reason": "user" })),
        ("session.updated", json!({})),
        ("session.closed", json!({ "reason": "stop" })),
        ("question.asked", json!({ "question_id": "q", "message": "?", "fields": [{ "id": "a", "label": "A" }] })),
        ("question.resolved", json!({ "question_id": "q", "outcome": "cancelled" })),
        ("plan.updated", json!({ "entries": [] })),
        ("runtime.notice", json!({ "level": "info", "source": "engine", "message": "" })),
        ("approval.requested", call(json!({ "name": "shell", "input": {} }))),
        ("approval.resolved", call(json!({ "decision": "deny", "end": "expired", "scope": "once" }))),
        ("workspace.added", json!({ "workspace_id": "w", "name": "n", "path": "/" })),
        ("workspace.updated", json!({ "workspace_id": "w" })),
        ("workspace.removed", json!({ "workspace_id": "w", "name": "n", "path": "/" })),
        ("device.paired", json!({ "device_id": "dev_1", "name": "n", "scope": "observe" })),
        ("device.revoked", json!({ "device_id": "dev_1", "reason": "r" })),
        ("git.operation.completed", json!({ "workspace_id": "w", "operation": "push", "success": true })),
        ("git.branch.changed", json!({ "workspace_id": "w", "from_branch": "a", "to_branch": "b" })),
        ("pairing.locked", json!({ "address": "192.0.2.7", "wrong_tries": 5, "code_withdrawn": true })),
        (
            "rule.removed",
            json!({
                "rule_id": "rule_1", "rule": { "scope": "always", "decision": "allow", "pattern": {} }, "removed_by": {},
            }),
        ),
        (
            "service.manifest_applied",
            json!({ "service_id": "svc_1", "version": 1, "namespace": "docs", "enabled": false }),
        ),
        (
            "service.state_changed",
            json!({
                "service_id": "svc_1", "before": "STARTING", "lifecycle": "RUNNING", "health": "HEALTHY",
                "restart_count": 0,
            }),
        ),
        (
            "service.interface_refreshed",
            json!({ "service_id": "svc_1", "revision": "iface_1", "tools": 0, "resources": 0, "prompts": 0 }),
        ),
        ("service.tools_approved", json!({ "service_id": "svc_1", "tools": [], "count": 0 })),
        ("service.removed", json!({ "service_id": "svc_1", "namespace": "docs" })),
        (
            "mcp.tool_called",
            json!({
                "principal": "local", "tool": "docs__search", "routed_tool": "search", "success": true,
                "policy": { "source": "codesdk", "result": "allow" },
                "duration_us": 80, "request_bytes": 2, "response_bytes": 14,
            }),
        ),
        ("mcp.budget_exceeded", json!({ "run_id": "r", "budget": "calls", "spent": 2.0, "limit": 2.0 })),
        ("task.steered", json!({ "message": { "role": "user", "content": [{ "type": "text", "text": "x" }] } })),
    ];
    let names: Vec<_> = cases.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, NormalizedEventType::ALL.iter().map(|known| known.as_str()).collect::<Vec<_>>());
    for (name, payload) in cases {
        let event = event(1, body(name, payload.clone()));
        assert_eq!(serde_json::to_value(&event).unwrap()["payload"], payload, "{name}");
    }
}

#[test]
fn a_known_type_with_a_payload_of_another_is_an_error() {
    let mut line = serde_json::to_value(&examples()[0]).unwrap();
    line["type"] = json!("task.failed");
    let error = serde_json::from_value::<NormalizedEvent>(line).unwrap_err().to_string();
    assert!(error.contains("missing field `reason`"), "{error}");
}

#[test]
fn a_tools_null_is_not_taken_for_no_result() {
    let payload = json!({ "tool_call_id": "tc_1", "attempt": 1, "input_hash": "sha256:00", "name": "t",
        "executed_by": "runtime", "execution_env": "unknown",
        "policy_snapshot": { "decision": "allow", "sources": [] }, "result_preview": null });
    let event = event(1, body("tool.call.completed", payload.clone()));
    assert_eq!(serde_json::to_value(&event).unwrap()["payload"], payload);
}
