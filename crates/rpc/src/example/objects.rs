//! Ids and objects that several examples share.

use serde_json::{Value, json};

pub(super) const SESSION: &str = "019a8720-7a4b-7c3d-9e5f-1a2b3c4d5e6f";
pub(super) const OTHER_SESSION: &str = "019a8721-0b5c-7d4e-8f60-2b3c4d5e6f70";
pub(super) const WORKSPACE: &str = "5b0c7d1e-2f3a-4b4c-8d5e-6f7a8b9c0d1e";
pub(super) const DAEMON: &str = "019a871f-0001-7a2b-8c3d-4e5f60718293";
pub(super) const OTHER_CLIENT: &str = "019a8721-5c6d-7e8f-a0b1-c2d3e4f50617";
pub(super) const DEVICE: &str = "019a8600-1b2c-7d3e-8f4a-5b6c7d8e9f0a";
pub(super) const TASK: &str = "task_019a87207a4c7d1e8f2a3b4c5d6e7f80";
pub(super) const TOOL_CALL: &str = "tc_019a87207b5d7e2f903b4c5d6e7f8091";
pub(super) const QUESTION: &str = "q_019a87207c6e7f30a14c5d6e7f8091a2";
pub(super) const REQUEST: &str = "pairreq_0a1b2c3d4e5f60718293a4b5";
pub(super) const SEARCH: &str = "0b9f2f0c-6f0e-4c3a-9a55-d7f4a6f3c001";
pub(super) const FOLDER: &str = "/home/ada/engine";
pub(super) const PROMPT: &str = "Write down what we decided.";
pub(super) const CURSOR: &str = "b42.7";
pub(super) const INPUT_HASH: &str = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
pub(super) const RULE: &str = "rule_12ab34cd56ef";
pub(super) const ADDED: &str = "2026-11-01T08:00:00.000Z";
pub(super) const STARTED: &str = "2026-11-15T19:10:48.005Z";
pub(super) const CHANGED: &str = "2026-11-15T19:10:52.310Z";
pub(super) const EXPIRES: &str = "2026-11-15T20:10:48.005Z";

const CLIENT: &str = "019a8720-4b5c-7d6e-9fa0-b1c2d3e4f506";

/// Parameters that select the session.
pub(super) fn session_params() -> Value {
    json!({ "session_id": SESSION, "agent_type": "demo" })
}

/// The result of methods that have nothing to return.
pub(super) fn success() -> Value {
    json!({ "success": true })
}

/// The result of `initialize`.
pub(super) fn initialize_result() -> Value {
    let server = json!({ "name": "cdev", "version": "0.1.0" });
    json!({
        "protocolVersion": "1.0", "serverInfo": server, "server_info": server, "clientId": CLIENT,
        "capabilities": {
            "agent": { "run": true, "stop": true, "respond": true, "sessions": true, "sessionWatch": true },
            "git": { "status": true }, "file": { "get": true }, "repository": { "index": true },
            "notifications": ["claude_message", "claude_status", "pty_permission", "heartbeat"],
            "supportedAgents": ["demo"], "runtimeRegistry": registry(),
        },
    })
}

fn registry() -> Value {
    json!({
        "schemaVersion": "1.0", "generatedAt": STARTED, "defaultRuntime": "demo",
        "routing": {
            "agentTypeField": "agent_type", "defaultAgentType": "demo",
            "requiredOnMethods": [
                "session/start", "session/send", "session/stop", "session/input", "session/respond",
            ],
        },
        "runtimes": [{
            "id": "demo", "displayName": "Demo", "status": "active", "sessionListSource": "workspaceHistory",
            "sessionMessagesSource": "workspaceScoped", "sessionWatchSource": "workspaceScoped",
            "requiresWorkspaceActivationOnResume": false, "requiresSessionResolutionOnNewSession": false,
            "supportsResume": true, "supportsInteractiveQuestions": true, "supportsPermissions": true,
            "methods": {
                "history": "workspace/session/history", "messages": "workspace/session/messages",
                "watch": "workspace/session/watch", "unwatch": "workspace/session/unwatch", "start": "session/start",
                "send": "session/send", "stop": "session/stop", "input": "session/input",
                "respond": "session/respond", "state": "session/state",
            },
            "capabilities": {
                "supportsStreaming": true, "supportsToolCalls": true, "supportsParallelToolCalls": false,
                "supportsStop": true, "supportsArtifacts": false, "supportsSessionCreate": true,
                "supportsSessionResume": false, "supportsUsageReporting": true, "supportsNonInteractive": true,
                "maxOutstandingToolCalls": 1, "authModel": "unknown", "toolExecutionModel": "runtime_internal",
                "permissionModel": "hybrid", "stateModel": "in_process", "resumeModel": "reconstruct",
                "toolReplaySafety": "requires_reapproval", "mcpSupport": "none", "cancellationModel": "best_effort",
                "supportedIsolationModes": ["subprocess"], "recommendedIsolationMode": "subprocess",
            },
        }],
    })
}

/// The session as a `SessionState`.
pub(super) fn session_state() -> Value {
    json!({
        "id": SESSION, "session_id": SESSION, "workspace_id": WORKSPACE, "status": "running", "project_path": FOLDER,
        "agent_type": "demo", "started_at": STARTED, "last_active": CHANGED, "last_updated": CHANGED,
        "claude_state": "waiting", "claude_session_id": SESSION, "is_running": true, "waiting_for_input": true,
        "pending_tool_use_id": TOOL_CALL, "pending_tool_name": "write", "summary": PROMPT, "message_count": 2,
        "mode": "ask", "model": "demo-1", "viewers": [CLIENT],
        "queue": [{
            "prompt_id": "prompt_019a87207d7f7041b25d6e7f8091a2b3",
            "message": { "role": "user", "content": [{ "type": "text", "text": "Then read it to me." }] },
        }],
    })
}

/// The session as a `SessionInfo`.
pub(super) fn session_info() -> Value {
    json!({
        "session_id": SESSION, "agent_type": "demo", "summary": PROMPT, "first_prompt": PROMPT, "task_count": 1,
        "message_count": 2, "start_time": STARTED, "last_updated": CHANGED, "status": "running", "source": "managed",
        "workspace_id": WORKSPACE, "project_path": FOLDER, "model": "demo-1", "steers": false, "viewers": [CLIENT],
        "record": {
            "session_id": SESSION, "runtime": "demo", "status": "active", "cwd": FOLDER, "workspace_id": WORKSPACE,
            "credential_namespace": "default", "mode": "ask", "title": PROMPT, "model": "demo-1",
            "created_at": STARTED, "updated_at": CHANGED, "last_outcome": "completed", "tasks": 1, "messages": 2,
        },
    })
}

/// The session as a `HistoryItem`.
pub(super) fn history_item() -> Value {
    json!({
        "id": SESSION, "session_id": SESSION, "workspace_id": WORKSPACE, "agent_type": "demo", "summary": PROMPT,
        "message_count": 2, "last_updated": CHANGED, "project_path": FOLDER, "status": "running", "source": "managed", "started_at": STARTED,
        "last_active": CHANGED, "viewers": [CLIENT],
    })
}

/// The session's messages as a `MessagesResult`.
pub(super) fn messages_result() -> Value {
    json!({
        "session_id": SESSION, "total": 1, "limit": 50, "offset": 0, "has_more": false, "query_time_ms": 0.4,
        "messages": [{
            "id": 2, "session_id": SESSION, "type": "user", "uuid": "4a1f0c9d-6b2e-5d38-9f47-0c1d2e3f4a5b",
            "timestamp": STARTED, "message": { "role": "user", "content": [{ "type": "text", "text": PROMPT }] },
            "is_context_compaction": false, "is_meta": false,
        }],
    })
}

/// The session's elements as an `ElementsResult`.
pub(super) fn elements_result() -> Value {
    json!({
        "session_id": SESSION,
        "elements": [
            { "id": "elem_2", "timestamp": STARTED, "type": "user_input", "content": { "text": PROMPT } },
            {
                "id": "elem_5", "timestamp": CHANGED, "type": "tool_call",
                "content": {
                    "tool": "write", "tool_id": TOOL_CALL, "display": "Write(notes.md)",
                    "params": { "path": "notes.md", "content": "# Notes\n" }, "status": "running",
                },
            },
        ],
        "pagination": {
            "total": 2, "returned": 2, "has_more_before": false, "has_more_after": false, "oldest_id": "elem_2",
            "newest_id": "elem_5",
        },
    })
}

/// The workspace as a `Workspace`.
pub(super) fn workspace() -> Value {
    json!({
        "id": WORKSPACE, "name": "engine", "path": FOLDER, "exists": true, "auto_start": false, "created_at": ADDED,
        "sessions": [history_item()], "session_count": 1, "active_session_count": 1, "has_active_session": true,
        "active_session_id": SESSION, "active_agent_type": "demo", "is_git_repo": true, "git_state": "diverged",
        "git": {
            "initialized": true, "has_remotes": true, "branch": "main", "ahead": 1, "behind": 0, "staged_count": 1,
            "unstaged_count": 0, "untracked_count": 0, "has_conflicts": false, "state": "diverged",
        },
    })
}

/// The approval that waits, as a `PendingResult`.
pub(super) fn pending_result() -> Value {
    let input = json!({ "path": "notes.md", "content": "# Notes\n" });
    json!({
        "count": 1,
        "requests": [{
            "tool_use_id": TOOL_CALL, "session_id": SESSION, "workspace_id": WORKSPACE, "tool_name": "write",
            "tool_input": input, "created_at": CHANGED, "agent_type": "demo",
            "pending": {
                "session_id": SESSION, "task_id": TASK, "asked_at": CHANGED,
                "ask": { "approval": {
                    "tool_call_id": TOOL_CALL, "attempt": 1, "input_hash": INPUT_HASH, "name": "write",
                    "title": "Write notes.md", "kind": "edit", "input": input, "rule": "default",
                    "offer": { "tool": "write", "touches": { "file": "*.md" } }, "expires_at": EXPIRES,
                } },
            },
        }],
    })
}

/// One event of the session's log.
pub(super) fn log_event() -> Value {
    json!({
        "schema_version": 1, "seq": 7, "time": CHANGED, "type": "task.completed",
        "trace": { "session_id": SESSION, "task_id": TASK }, "runtime": { "name": "demo" },
        "payload": { "reason": "end_turn" },
    })
}

/// The phone as a `Device`.
pub(super) fn device() -> Value {
    json!({
        "device_id": DEVICE, "name": "Ada's phone", "scope": "operate", "paired_at": ADDED, "last_seen": CHANGED,
        "remote_addr": "192.0.2.7", "expires_at": "2026-11-22T19:10:52.310Z", "connections": 1,
    })
}

pub(super) const CLAUDE_FILE: &str = "/home/ada/.claude.json";
pub(super) const RUN: &str = "nightly";
pub(super) const SECRET: &str = "file:team/token";

pub(super) fn run() -> Value {
    json!({
        "runId": RUN, "agent": "writer", "trigger": "timer",
        "triggerContext": { "scheduleId": "nightly", "scheduleExpr": "every 24 h", "firedAt": STARTED },
        "status": "running",
        "startedAt": STARTED, "updatedAt": CHANGED,
        "stepCount": 1, "handoffCount": 0, "toolCallCount": 1, "llmCallCount": 0, "eventCount": 3, "inputTokens": 0,
        "outputTokens": 0, "costUsd": 0.0, "currentStepId": "draft", "lastEventKind": "agent.tool_called",
        "lastEventMessage": "agent.tool_called (nightly)",
    })
}

pub(super) fn run_event() -> Value {
    json!({
        "seq": 7, "at": CHANGED, "kind": "agent.tool_called", "level": "info",
        "message": "agent.tool_called (nightly)", "data": { "runId": RUN, "agent": "writer", "tool": "search" },
    })
}
