//! An example of every method: what is sent and what comes back.
//!
//! They all tell of one evening: a phone, one workspace, one session of the demo agent that wants to write a file.

mod git;
mod objects;
mod repository;
mod service;

use objects::*;
use serde_json::{Value, json};

use super::table::Method;

/// An example of a method for the OpenRPC document.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Parameters that the method accepts.
    pub params: Value,
    /// The result that it then returns.
    pub result: Value,
}

impl Example {
    /// The example of this method; every method has one.
    pub fn for_method(method: Method) -> Self {
        let (params, result) = params_and_result(method);
        Self { params, result }
    }
}

fn params_and_result(method: Method) -> (Value, Value) {
    match method {
        Method::Initialize => (
            json!({
                "protocol_version": "1.0", "client_info": { "name": "pocket", "version": "2.3.0" },
                "capabilities": { "notifications": ["claude_message", "pty_permission"] },
            }),
            initialize_result(),
        ),
        Method::Initialized => (json!({}), json!({})),
        Method::Shutdown => (json!({}), success()),
        Method::StatusGet => (
            json!({}),
            service::with_gateway_status(json!({
                "session_id": SESSION, "agent_session_id": DAEMON, "claude_state": "waiting", "agent_state": "waiting",
                "agent_type": "demo", "version": "0.1.0", "agent_version": "0.1.0", "connected_clients": 2,
                "repo_path": FOLDER, "repo_name": "engine", "uptime_seconds": 3600, "watcher_enabled": true,
                "git_enabled": true, "is_git_repo": true, "running_tasks": 1, "pending": 1,
            })),
        ),
        Method::StatusHealth => (json!({}), json!({ "status": "ok", "healthy": true, "uptime_seconds": 3600 })),

        Method::AgentRun => (
            json!({ "prompt": PROMPT, "mode": "new", "permission_mode": "ask", "agent_type": "demo" }),
            json!({ "status": "started", "session_id": SESSION, "task_id": TASK, "mode": "new", "agent_type": "demo" }),
        ),
        Method::AgentStop => (json!({ "session_id": SESSION }), json!({ "status": "stopped", "agent_type": "demo" })),
        Method::AgentRespond => (
            json!({ "tool_use_id": QUESTION, "response": "postgres", "session_id": SESSION }),
            json!({ "status": "sent", "tool_use_id": QUESTION }),
        ),
        Method::AgentStatus => (
            json!({}),
            json!({ "state": "waiting", "session_id": SESSION, "agent_type": "demo", "waiting_for": "permission" }),
        ),
        Method::AgentCommands => (
            json!({ "workspace_id": WORKSPACE, "agent_type": "gemini" }),
            json!({
                "agent_type": "gemini",
                "commands": [{ "name": "/review", "description": "Reviews what changed", "origin": "project" }],
            }),
        ),
        Method::AgentInput => {
            (json!({ "input": "enter", "session_id": SESSION }), json!({ "status": "sent", "agent_type": "demo" }))
        }

        Method::SessionStart => (
            json!({ "workspace_id": WORKSPACE, "mode": "new", "permission_mode": "ask", "agent_type": "demo" }),
            json!({
                "session_id": SESSION, "id": SESSION, "workspace_id": WORKSPACE, "status": "starting",
                "outcome": "started", "source": "managed", "agent_type": "demo", "message": "the session is ready",
                "has_pending_permission": true, "pending_permission_type": "write_file",
                "pending_permission_target": "notes.md", "project_path": FOLDER, "started_at": STARTED,
                "last_active": CHANGED,
            }),
        ),
        Method::SessionFork => (
            json!({ "session_id": SESSION, "title": "the other way" }),
            json!({
                "session_id": OTHER_SESSION, "id": OTHER_SESSION, "workspace_id": WORKSPACE, "status": "starting",
                "outcome": "forked", "source": "managed", "agent_type": "demo", "message": "Session forked",
                "has_pending_permission": false, "project_path": FOLDER, "started_at": CHANGED, "last_active": CHANGED,
            }),
        ),
        Method::SessionSend => (
            json!({ "prompt": PROMPT, "session_id": SESSION, "agent_type": "demo", "approver": "present", "files": ["src/main.rs"] }),
            json!({
                "status": "sent", "session_id": SESSION, "agent_type": "demo", "workspace_id": WORKSPACE,
                "auto_created": false, "delivery": "started", "task_id": TASK,
            }),
        ),
        Method::SessionStop => (
            json!({ "session_id": SESSION, "what": "task", "reason": "enough for today", "agent_type": "demo" }),
            json!({ "success": true, "message": "the task is stopped", "agent_type": "demo", "outcome": "stopped" }),
        ),
        Method::SessionInput => (
            json!({ "session_id": SESSION, "key": "escape", "agent_type": "demo" }),
            json!({ "status": "sent", "key": "escape", "agent_type": "demo" }),
        ),
        Method::SessionRespond => (
            json!({ "session_id": SESSION, "type": "question", "response": { "database": "postgres" }, "id": QUESTION }),
            json!({ "status": "responded", "agent_type": "demo" }),
        ),
        Method::SessionStateGet | Method::SessionInfoGet => (session_params(), session_state()),
        Method::SessionActive => (json!({ "workspace_id": WORKSPACE }), json!({ "sessions": [session_state()] })),
        Method::SessionList => (
            json!({ "agent_type": "demo", "workspace_id": WORKSPACE, "limit": 20, "offset": 0 }),
            json!({ "sessions": [session_info()], "total": 1 }),
        ),
        Method::SessionGet => (session_params(), session_info()),
        Method::SessionHistory | Method::WorkspaceSessionHistory => (
            json!({ "workspace_id": WORKSPACE, "limit": 50, "offset": 0, "agent_type": "demo" }),
            json!({ "sessions": [history_item()], "total": 1 }),
        ),
        Method::SessionMessages => (json!({ "session_id": SESSION, "limit": 50, "order": "desc" }), messages_result()),
        Method::WorkspaceSessionMessages => (
            json!({ "session_id": SESSION, "workspace_id": WORKSPACE, "limit": 50, "offset": 0, "order": "desc" }),
            messages_result(),
        ),
        Method::SessionElements => (json!({ "session_id": SESSION, "limit": 50 }), elements_result()),
        Method::SessionSearch => (
            json!({ "query": "parser test", "limit": 20 }),
            json!({
                "hits": [{
                    "session_id": SESSION, "seq": 17, "time": STARTED, "kind": "answer",
                    "excerpt": "…the parser has a test for it now…",
                }],
                "searched": 12,
            }),
        ),
        Method::SessionWatch => (
            json!({ "session_id": SESSION, "agent_type": "demo", "after": CURSOR }),
            json!({ "status": "watching", "watching": true, "workspace_id": WORKSPACE, "session_id": SESSION }),
        ),
        Method::WorkspaceSessionWatch => (
            json!({ "session_id": SESSION, "workspace_id": WORKSPACE, "agent_type": "demo" }),
            json!({ "status": "watching", "watching": true, "workspace_id": WORKSPACE, "session_id": SESSION }),
        ),
        Method::SessionUnwatch | Method::WorkspaceSessionUnwatch => (
            json!({ "session_id": SESSION, "workspace_id": WORKSPACE }),
            json!({ "status": "unwatched", "watching": false, "workspace_id": WORKSPACE, "session_id": SESSION }),
        ),
        Method::SessionDelete | Method::WorkspaceSessionDelete => (
            json!({ "session_id": SESSION, "workspace_id": WORKSPACE }),
            json!({ "status": "deleted", "deleted": 1, "session_id": SESSION, "workspace_id": WORKSPACE }),
        ),
        Method::WorkspaceSessionActivate => (
            json!({ "workspace_id": WORKSPACE, "session_id": SESSION }),
            json!({
                "success": true, "workspace_id": WORKSPACE, "session_id": SESSION,
                "message": "the session is the workspace's current one",
            }),
        ),
        Method::ClientOffer => {
            (json!({ "session_id": SESSION, "read_files": true, "write_files": true }), json!({ "success": true }))
        }
        Method::ClientNext => (
            json!({}),
            json!({
                "request_id": 1, "session_id": SESSION, "method": "fs/read_text_file",
                "params": { "sessionId": SESSION, "path": "/home/me/project/README.md" },
            }),
        ),
        Method::ClientAnswer => {
            (json!({ "request_id": 1, "result": { "content": "# Project\n" } }), json!({ "success": true }))
        }
        Method::ClientSessionFocus => (
            json!({ "workspace_id": WORKSPACE, "session_id": SESSION }),
            json!({
                "workspace_id": WORKSPACE, "session_id": SESSION, "other_viewers": [OTHER_CLIENT], "viewer_count": 2,
                "success": true,
            }),
        ),

        Method::WorkspaceList => {
            (json!({ "include_git": true, "git_limit": 10 }), json!({ "workspaces": [workspace()] }))
        }
        Method::WorkspaceGet => (json!({ "workspace_id": WORKSPACE }), workspace()),
        Method::WorkspaceAdd => {
            (json!({ "path": FOLDER, "name": "engine", "auto_start": false, "create_if_missing": true }), workspace())
        }
        Method::WorkspaceRemove => (
            json!({ "workspace_id": WORKSPACE }),
            json!({ "success": true, "message": "the workspace is removed; its folder and sessions stay" }),
        ),
        Method::WorkspaceUpdate => {
            (json!({ "workspace_id": WORKSPACE, "name": "engine", "auto_start": false }), workspace())
        }
        Method::WorkspaceStatus => (
            json!({ "workspace_id": WORKSPACE }),
            json!({
                "workspace_id": WORKSPACE, "workspace_name": "engine", "path": FOLDER, "auto_start": false,
                "created_at": ADDED, "sessions": [history_item()], "active_session_count": 1,
                "has_active_session": true, "git_tracker_state": "healthy", "git_repo_name": "engine",
                "is_git_repo": true, "git_last_error": "", "is_being_watched": true, "watched_session_id": SESSION,
            }),
        ),
        Method::WorkspaceDiscover => (
            json!({ "fresh": true }),
            json!({
                "repositories": [{
                    "path": FOLDER, "name": "engine", "remote_url": "https://example.org/ada/engine.git",
                    "last_modified": CHANGED, "is_configured": true,
                }],
                "count": 1, "cached": false, "cache_age_seconds": 0, "refresh_in_progress": false, "elapsed_ms": 42,
                "scanned_paths": 310, "skipped_paths": 2, "cancelled": false,
            }),
        ),
        Method::WorkspaceDiscoverCancel => (json!({ "discover_id": SEARCH }), success()),
        Method::WorkspaceCacheInvalidate => {
            (json!({}), json!({ "success": true, "message": "What was known of the repositories is forgotten." }))
        }
        Method::WorkspaceSubscribe => (
            json!({ "workspace_id": WORKSPACE }),
            json!({ "success": true, "workspace_id": WORKSPACE, "subscribed": [WORKSPACE] }),
        ),
        Method::WorkspaceUnsubscribe => (
            json!({ "workspace_id": WORKSPACE }),
            json!({ "success": true, "workspace_id": WORKSPACE, "subscribed": [] }),
        ),
        Method::WorkspaceSubscriptions => {
            (json!({}), json!({ "workspaces": [WORKSPACE], "is_filtering": true, "count": 1 }))
        }
        Method::WorkspaceSubscribeAll => (json!({}), json!({ "success": true, "is_filtering": false })),

        Method::WorkspaceFileGet | Method::FileGet => (
            json!({ "workspace_id": WORKSPACE, "path": "notes.md", "max_size_kb": 200 }),
            json!({
                "path": "notes.md", "content": "# Decided\n", "encoding": "utf-8", "truncated": false, "size": 10,
                "offset": 0, "media_type": "text/markdown", "is_sensitive": false,
            }),
        ),
        Method::WorkspaceFilesList => (
            json!({ "workspace_id": WORKSPACE, "directory": "", "limit": 500, "include_hidden": false }),
            json!({
                "directory": "",
                "files": [{
                    "path": "notes.md", "name": "notes.md", "directory": "", "extension": "md", "size_bytes": 10,
                    "modified_at": CHANGED, "indexed_at": CHANGED, "is_binary": false, "is_symlink": false,
                    "is_sensitive": false, "git_tracked": true, "git_ignored": false,
                }],
                "directories": [{
                    "path": "src", "name": "src", "folder_count": 1, "file_count": 7, "total_size_bytes": 20480,
                    "total_size_display": "20.0 KB", "last_modified": CHANGED, "modified_display": "2 hours ago",
                }],
                "total_files": 1, "total_directories": 1,
                "pagination": { "limit": 500, "offset": 0, "has_more": false },
            }),
        ),
        Method::FileList => (
            json!({ "path": "" }),
            json!({
                "path": "",
                "entries": [
                    { "name": "src", "type": "directory", "modified": CHANGED, "children_count": 7 },
                    { "name": "notes.md", "type": "file", "size": 10, "modified": CHANGED },
                ],
                "total_count": 2,
            }),
        ),

        Method::GitStatus
        | Method::GitState
        | Method::GitDiff
        | Method::GitStage
        | Method::GitUnstage
        | Method::GitDiscard
        | Method::GitCommit
        | Method::GitPush
        | Method::GitPull
        | Method::GitFetch
        | Method::GitCancel
        | Method::GitBranches
        | Method::GitCheckout
        | Method::GitBranchDelete
        | Method::GitUpstreamSet
        | Method::GitLog
        | Method::GitStash
        | Method::GitStashList
        | Method::GitStashApply
        | Method::GitStashPop
        | Method::GitStashDrop
        | Method::GitMerge
        | Method::GitMergeAbort
        | Method::GitInit
        | Method::GitRemoteAdd
        | Method::GitRemoteList
        | Method::GitRemoteRemove
        | Method::WorktreeList
        | Method::WorktreeAdd
        | Method::WorktreeRemove
        | Method::WorktreeDiff
        | Method::WorktreeMerge
        | Method::WorktreeDiscard => git::params_and_result(method),

        Method::RepositoryIndexStatus
        | Method::RepositoryIndexRebuild
        | Method::RepositorySearch
        | Method::RepositorySearchStart
        | Method::RepositorySearchUpdate
        | Method::RepositorySearchCancel
        | Method::RepositoryFilesList
        | Method::RepositoryFilesTree
        | Method::RepositoryStats
        | Method::RepositoryGrep
        | Method::RepositoryGrepCancel => repository::params_and_result(method),

        Method::PermissionRespond => (
            json!({
                "tool_use_id": TOOL_CALL, "decision": "allow", "scope": "session", "session_id": SESSION, "attempt": 1,
                "input_hash": INPUT_HASH, "key": "answer-1",
            }),
            success(),
        ),
        Method::PermissionRequest => (
            json!({ "session_id": SESSION, "tool_name": "write", "tool_use_id": TOOL_CALL }),
            json!({ "decision": "ask", "message": "the runtime asks for leave itself" }),
        ),
        Method::PermissionPending => (json!({ "session_id": SESSION }), pending_result()),
        Method::PermissionStatsGet => {
            (json!({}), json!({ "active_sessions": 1, "total_patterns": 2, "pending_requests": 1 }))
        }
        Method::RuleList => (
            json!({}),
            json!({ "rules": [{
                "rule_id": RULE, "covers": "`npm test …`", "made_at": STARTED,
                "rule": {
                    "scope": "workspace", "decision": "allow", "workspace": FOLDER,
                    "pattern": { "touches": { "command": ["npm", "test", "*"] } }, "by": { "from": "local" },
                },
            }] }),
        ),
        Method::RuleRemove => (json!({ "rule_id": RULE }), success()),

        Method::EventsSubscribe => (
            json!({ "format": "normalized", "after": CURSOR, "sessions": [SESSION] }),
            json!({ "format": "normalized", "cursor": CURSOR }),
        ),
        Method::EventsUnsubscribe => (json!({ "format": "normalized" }), success()),
        Method::EventsAck => {
            (json!({ "name": "archive", "cursor": CURSOR }), json!({ "name": "archive", "cursor": CURSOR }))
        }
        Method::LogRead => (
            json!({ "session_id": SESSION, "after_seq": 6, "limit": 1 }),
            json!({ "events": [log_event()], "last_seq": 7, "has_more": true }),
        ),
        Method::ArtifactRead => (
            json!({ "artifact_id": INPUT_HASH, "offset": 0, "length": 65536 }),
            json!({
                "artifact_id": INPUT_HASH, "encoding": "utf-8", "content": "# Notes\n", "offset": 0, "size": 8,
            }),
        ),

        Method::ServiceList
        | Method::ServiceGet
        | Method::ServiceInterfaceGet
        | Method::ServiceLogs
        | Method::ServiceEvents
        | Method::ServiceDetailsGet
        | Method::ServiceApply
        | Method::ServiceStart
        | Method::ServiceStop
        | Method::ServiceRestart
        | Method::ServiceIntrospect
        | Method::ServiceUnquarantine
        | Method::ServiceApprove
        | Method::ServiceLoginBegin
        | Method::ServiceLoginFinish
        | Method::ServiceRemove
        | Method::AuditList => service::params_and_result(method),
        Method::RunList => (json!({ "limit": 1 }), json!({ "items": [run()] })),
        Method::RunEvents => (json!({ "run_id": RUN, "limit": 1 }), json!({ "runId": RUN, "items": [run_event()] })),
        Method::RunMessage => (
            json!({ "run_id": "nightly-42", "message": "Skip the slow tests." }),
            json!({ "ok": true, "runId": "nightly-42", "reply": "I leave them out." }),
        ),
        Method::RunReport => (
            json!({
                "events": [{ "kind": "agent.tool_called", "run_id": RUN, "agent": "writer", "data": { "tool": "search" } }],
                "idempotency_key": "nightly-42",
            }),
            json!({ "ok": true, "accepted": 1 }),
        ),

        Method::SecretList => {
            (json!({}), json!({ "count": 1, "items": [{ "authRef": SECRET, "relativePath": "team/token" }] }))
        }
        Method::SecretProviders => (
            json!({}),
            json!({
                "providers": [{ "name": "file", "supported": true }],
                "fileRoot": "/home/ada/.local/state/roost/secrets", "fileRootExists": true,
            }),
        ),
        Method::SecretValidate => (
            json!({ "auth_ref": SECRET }),
            json!({
                "authRef": SECRET, "provider": "file", "target": ".../token", "redactedTarget": ".../token",
                "valid": true, "issues": [], "headerKeys": ["authorization"], "source": "file",
            }),
        ),
        Method::SecretSet => (
            json!({ "auth_ref": SECRET, "secret": "one line of text" }),
            json!({ "authRef": SECRET, "provider": "file", "path": "team/token", "written": true }),
        ),
        Method::SecretDelete => (
            json!({ "auth_ref": SECRET }),
            json!({ "authRef": SECRET, "provider": "file", "path": "team/token", "deleted": true }),
        ),

        Method::BootstrapApply => (
            json!({ "clients": ["claude"], "transport": "stdio" }),
            json!({ "transport": "stdio", "results": [{ "client": "claude", "updated": true, "path": CLAUDE_FILE }] }),
        ),
        Method::BootstrapRemove => (
            json!({ "clients": ["claude"] }),
            json!({ "removed": true, "results": [{ "client": "claude", "updated": true, "path": CLAUDE_FILE }] }),
        ),
        Method::BootstrapStatusGet => (
            json!({}),
            json!({
                "clients": [{
                    "client": "claude", "path": CLAUDE_FILE, "present": true, "configured": true, "transport": "stdio",
                    "command": "roost", "args": ["gateway", "serve", "--stdio"],
                }],
            }),
        ),

        Method::DeviceList => (json!({}), json!({ "devices": [device()] })),
        Method::DeviceRevoke => (json!({ "device_id": DEVICE }), success()),
        Method::DeviceToken => (
            json!({ "name": "build scripts", "scope": "operate" }),
            json!({
                "device_id": DEVICE, "token": "cdev_s_EXAMPLE-NOT-A-TOKEN", "scope": "operate", "expires_at": EXPIRES,
            }),
        ),
        Method::DevicePending => (
            json!({}),
            json!({
                "count": 1,
                "pending": [{
                    "request_id": REQUEST, "remote_addr": "192.0.2.7", "user_agent": "pocket/2.3.0",
                    "name": "Ada's phone", "created_at": STARTED, "expires_at": EXPIRES,
                }],
            }),
        ),
        Method::DeviceApprove => (json!({ "request_id": REQUEST, "reject": false }), success()),
        Method::PairCreate => (
            json!({ "scope": "operate" }),
            json!({
                "ws": "ws://127.0.0.1:8766/ws", "http": "http://127.0.0.1:8766", "session": DAEMON, "repo": "engine",
                "token": "cdev_p_EXAMPLE-NOT-A-TOKEN", "token_expires_at": EXPIRES, "code": "000000",
                "code_expires_at": EXPIRES, "page": "http://127.0.0.1:8766/pair#EXAMPLE-NOT-A-SECRET",
            }),
        ),
        Method::DaemonStatusGet => (
            json!({}),
            json!({
                "pid": 4242, "version": "0.1.0", "address": "127.0.0.1:8766", "uptime_seconds": 3600, "clients": 2,
                "running_tasks": 1, "pending": 1, "devices": 1, "code_withdrawn": false,
                "auto_started": false, "log": "ok", "log_bytes": 52_428_800, "free_bytes": 214_748_364_800_u64,
            }),
        ),
        Method::DaemonStop => (json!({}), success()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Typed;

    impl Example {
        /// The example after a round trip through the method's types; equal unless it has unknown or missing fields.
        pub(crate) fn reread<M: Typed>(&self) -> serde_json::Result<Self> {
            let params: M::Params = serde_json::from_value(self.params.clone())?;
            let result: M::Result = serde_json::from_value(self.result.clone())?;
            Ok(Self { params: serde_json::to_value(params)?, result: serde_json::to_value(result)? })
        }
    }

    #[test]
    fn every_example_is_read_and_written_again_as_it_was() {
        for &method in Method::ALL {
            let example = Example::for_method(method);
            let again = method.reread(&example).unwrap_or_else(|error| panic!("{}: {error}", method.name()));
            assert_eq!(again, example, "{}", method.name());
        }
    }
}
