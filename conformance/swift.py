"""What cdev's app can decode: the names, types and required keys of its Swift structs (brianly1003/cdev-ios), as a table.

An answer with a wrong type in any field that the app names fails as a whole, so every one is held against this table; so
is every event, which the app tells apart by its fields and not by its name.
"""

import re

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")


class Undecodable(AssertionError):
    """The app could not read it."""


class Optional:
    """A field that may be absent or null."""

    def __init__(self, kind):
        self.kind = kind


class Enum:
    """One of these words."""

    def __init__(self, *words):
        self.words = words


class Time:
    """A text that the app reads as a time."""


class Any:
    """Whatever JSON has."""


def opt(kind):
    return Optional(kind)


def optional(**fields):
    return {name: opt(kind) for name, kind in fields.items()}


def decode(kind, value, at):
    """Fails where the app would."""
    if isinstance(kind, Optional):
        if value is not None:
            decode(kind.kind, value, at)
    elif isinstance(kind, dict):
        if not isinstance(value, dict):
            raise Undecodable(f"{at} is no object: {value!r}")
        for name, inner in kind.items():
            if name not in value and not isinstance(inner, Optional):
                raise Undecodable(f"{at}.{name} is missing")
            decode(inner, value.get(name), f"{at}.{name}")
    elif isinstance(kind, list):
        if not isinstance(value, list):
            raise Undecodable(f"{at} is no array: {value!r}")
        for place, item in enumerate(value):
            decode(kind[0], item, f"{at}[{place}]")
    elif isinstance(kind, Enum):
        if value not in kind.words:
            raise Undecodable(f"{at} is {value!r}, which is none of {kind.words}")
    elif isinstance(kind, Time):
        if not (isinstance(value, str) and TIME.match(value)):
            raise Undecodable(f"{at} is no time: {value!r}")
    elif isinstance(kind, Any):
        pass
    elif kind is bool:
        if not isinstance(value, bool):
            raise Undecodable(f"{at} is no Bool: {value!r}")
    elif kind is int:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value):
            raise Undecodable(f"{at} is no Int: {value!r}")
    elif kind is float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Undecodable(f"{at} is no Double: {value!r}")
    elif not isinstance(value, kind):
        raise Undecodable(f"{at} is no {kind.__name__}: {value!r}")


SESSION_STATUS = Enum("running", "historical", "stopped", "starting", "stopping", "error", "attached")
SESSION = {
    "id": str, "workspace_id": str, "status": SESSION_STATUS,
    **optional(
        started_at=Time(), last_active=Time(), last_updated=Time(), summary=str, message_count=int, claude_state=str,
        claude_session_id=str, is_running=bool, waiting_for_input=bool, pending_tool_use_id=str,
        pending_tool_name=str, viewers=[str],
    ),
}
WORKSPACE = {
    "id": str, "name": str, "path": str,
    **optional(
        auto_start=bool, created_at=Time(), sessions=[SESSION], active_session_id=str, is_git_repo=bool, git_state=str,
        git={
            "initialized": bool, "has_remotes": bool,
            **optional(
                branch=str, ahead=int, behind=int, staged_count=int, unstaged_count=int, untracked_count=int, state=str
            ),
        },
    ),
}
# The same names as in `SESSION`, and the id under another.
STARTED = {
    "session_id": str, "workspace_id": str, "status": SESSION_STATUS, "id": str,
    **optional(started_at=Time(), last_active=Time()),
}
STATE = {**{name: kind for name, kind in SESSION.items() if name != "id"}, "session_id": str, "id": opt(str)}
BLOCK = {
    "type": str,
    **optional(text=str, tool_use_id=str, id=str, name=str, content=str, input=dict, is_error=bool),
}
MESSAGE = {
    "type": str,
    "message": optional(role=str, content=[BLOCK], model=str),
    **optional(
        id=int, uuid=str, session_id=str, timestamp=Time(), git_branch=str, is_context_compaction=bool, is_meta=bool
    ),
}
MESSAGES = {
    "session_id": str, "messages": [MESSAGE], "total": int, "limit": int, "offset": int, "has_more": bool,
    **optional(query_time_ms=float),
}
HISTORY = optional(
    total=int,
    sessions=[{
        "session_id": str,
        **optional(
            summary=str, message_count=int, last_updated=str, branch=str, status=str, workspace_id=str, started_at=str,
            last_active=str, viewers=[str],
        ),
    }],
)
WATCH = optional(status=str, watching=bool, workspace_id=str, session_id=str)
GIT_FILE = {"path": str, **optional(status=str, additions=int, deletions=int)}
OPERATION = {"success": bool, **optional(message=str, error=str)}
FILE = {
    "path": str, "name": str,
    **optional(
        directory=str, extension=str, size_bytes=int, modified_at=str, is_binary=bool, is_sensitive=bool,
        git_tracked=bool, git_ignored=bool, is_symlink=bool, line_count=int, indexed_at=str, match_score=float,
    ),
}
FILES = optional(
    directory=str, files=[FILE], total_files=int, total_directories=int,
    directories=[{
        "path": str, "name": str,
        **optional(
            folder_count=int, file_count=int, total_size_bytes=int, total_size_display=str, last_modified=str,
            modified_display=str,
        ),
    }],
    pagination=optional(limit=int, offset=int, has_more=bool),
)
NODE = {"path": str, "name": str, "type": str, **optional(size_bytes=int, modified_at=str)}
# A tree within a tree.
NODE["children"] = opt([NODE])
FILE_CONTENT = optional(path=str, content=str, encoding=str, size=int, truncated=bool)
REMOTE = {"name": str, **optional(fetch_url=str, push_url=str, provider=str, tracking_branches=[str])}
METHODS = optional(
    history=str, messages=str, watch=str, unwatch=str, start=str, send=str, stop=str, input=str, respond=str, state=str
)

# The answer of each method that the app calls.
ANSWERS = {
    "initialize": optional(
        server_info={"name": str, "version": str}, clientId=str,
        capabilities=optional(
            agents=[str], supportedAgents=[str], features=[str],
            runtimeRegistry={
                **optional(
                    schemaVersion=str, generatedAt=str, defaultRuntime=str,
                    routing=optional(agentTypeField=str, defaultAgentType=str, requiredOnMethods=[str]),
                ),
                "runtimes": [{
                    "id": str,
                    **optional(
                        displayName=str, status=Enum("active", "preview", "deprecated", "disabled"),
                        sessionListSource=Enum("workspaceHistory", "runtimeScoped"),
                        sessionMessagesSource=Enum("workspaceScoped", "runtimeScoped"),
                        sessionWatchSource=Enum("workspaceScoped", "runtimeScoped"),
                        requiresWorkspaceActivationOnResume=bool, requiresSessionResolutionOnNewSession=bool,
                        supportsResume=bool, supportsInteractiveQuestions=bool, supportsPermissions=bool,
                        methods=METHODS,
                    ),
                }],
            },
        ),
    ),
    "shutdown": optional(status=str),
    "status/get": optional(
        session_id=str, agent_session_id=str, agent_state=str, agent_type=str, connected_clients=int, repo_path=str,
        repo_name=str, uptime_seconds=int, version=str, watcher_enabled=bool, git_enabled=bool,
    ),
    "status/health": optional(status=str, healthy=bool),
    "session/start": STARTED,
    "session/send": {"status": str},
    "session/stop": optional(status=str, session_id=str),
    "session/respond": optional(status=str),
    "session/input": optional(status=Enum("sent"), key=str),
    "session/state": STATE,
    "session/active": {"sessions": [SESSION]},
    "session/list": optional(
        total=int,
        sessions=[{
            "session_id": str,
            **optional(
                agent_type=str, summary=str, first_prompt=str, message_count=int, start_time=str, last_updated=str,
                branch=str, git_commit=str, git_repo=str, project_path=str, model_provider=str, model=str,
                cli_version=str, file_size=int, file_path=str,
            ),
        }],
    ),
    "session/messages": MESSAGES,
    "session/watch": optional(status=str, watching=bool),
    "session/unwatch": optional(status=str, watching=bool),
    "session/delete": optional(status=str, deleted=int),
    "permission/respond": optional(success=bool, message=str, error=str),
    "client/session/focus": optional(
        workspace_id=str, session_id=str, other_viewers=[str], viewer_count=int, success=bool
    ),
    "workspace/list": {"workspaces": [WORKSPACE]},
    "workspace/get": WORKSPACE,
    "workspace/add": WORKSPACE,
    "workspace/status": optional(
        workspace_id=str, workspace_name=str, path=str, auto_start=bool, created_at=str, active_session_count=int,
        has_active_session=bool, git_tracker_state=Enum("healthy", "unhealthy", "unavailable", "not_git"),
        git_repo_name=str, is_git_repo=bool, git_last_error=str, is_being_watched=bool, watched_session_id=str,
        sessions=[{"id": str, "workspace_id": str, "status": str, **optional(started_at=str, last_active=str)}],
    ),
    "workspace/subscribe": {"success": bool, "workspace_id": str, "subscribed": [str]},
    "workspace/unsubscribe": {"success": bool, "workspace_id": str, "subscribed": [str]},
    "workspace/subscriptions": {"workspaces": [str], "is_filtering": bool, "count": int},
    "workspace/discover": {
        "repositories": [{
            "name": str, "path": str, "is_configured": bool, **optional(remote_url=str, last_modified=Time())
        }],
        "count": int,
        **optional(
            cached=bool, cache_age_seconds=int, refresh_in_progress=bool, elapsed_ms=int, scanned_paths=int,
            skipped_paths=int,
        ),
    },
    "workspace/session/history": HISTORY,
    "workspace/session/messages": MESSAGES,
    "workspace/session/watch": WATCH,
    "workspace/session/unwatch": WATCH,
    "workspace/session/activate": optional(success=bool, workspace_id=str, session_id=str, message=str),
    "workspace/session/delete": optional(status=Enum("deleted"), workspace_id=str, session_id=str),
    "workspace/file/get": FILE_CONTENT,
    "workspace/files/list": FILES,
    "file/get": FILE_CONTENT,
    "file/list": optional(path=str, total_count=int, entries=[optional(name=str, path=str, type=str, size=int)]),
    "git/status": optional(
        branch=str, upstream=str, ahead=int, behind=int, staged=[GIT_FILE], unstaged=[GIT_FILE], untracked=[GIT_FILE],
        conflicted=[GIT_FILE], repo_name=str, repo_root=str, is_clean=bool,
    ),
    "git/state": optional(
        state=Enum("no_git", "git_initialized", "no_remote", "no_push", "synced", "diverged", "conflict"),
        is_git_repo=bool, has_remote=bool, has_upstream=bool, branch=str, remote=str, upstream=str, ahead=int,
        behind=int, has_conflicts=bool, message=str, error=str,
    ),
    "git/diff": optional(path=str, diff=str, is_staged=bool, is_new=bool, is_truncated=bool),
    "git/stage": {**OPERATION, **optional(staged=[str])},
    "git/unstage": {**OPERATION, **optional(unstaged=[str])},
    "git/discard": {**OPERATION, **optional(discarded=[str])},
    "git/commit": {**OPERATION, **optional(sha=str, files_committed=int, pushed=bool)},
    "git/push": {**OPERATION, **optional(commits_pushed=int)},
    "git/pull": {**OPERATION, **optional(commits_pulled=int, files_changed=int, conflicted_files=[str])},
    "git/fetch": {**OPERATION, **optional(new_commits=int, new_branches=[str], pruned_branches=[str])},
    "git/upstream/set": OPERATION,
    "git/branches": {
        "current": str,
        **optional(
            upstream=str, ahead=int, behind=int,
            branches=[{"name": str, **optional(is_current=bool, is_remote=bool, upstream=str)}],
        ),
    },
    "git/checkout": {**OPERATION, **optional(branch=str)},
    "git/branch/delete": {**OPERATION, **optional(branch=str, deleted_remote=bool)},
    "git/init": {**OPERATION, **optional(branch=str, commit_sha=str, files_committed=int)},
    "git/remote/add": {**OPERATION, **optional(remote=REMOTE, fetched_branches=[str])},
    "git/remote/remove": OPERATION,
    "git/remote/list": optional(remotes=[REMOTE], message=str, error=str),
    "git/log": optional(
        total_count=int, has_more=bool, max_columns=int,
        commits=[{
            "sha": str, "subject": str, "author": str, "author_email": str, "date": str,
            **optional(
                short_sha=str, relative_date=str, parent_shas=[str], is_merge=bool, refs=[{"name": str, "type": str}],
                graph_position={
                    "column": int, "lines": opt([{"from_column": int, "to_column": int, "type": str}])
                },
            ),
        }],
    ),
    "repository/index/status": optional(
        status=str, progress=float, total_files=int, indexed_files=int, last_indexed_at=str, index_size_bytes=int,
        error_message=str,
    ),
    "repository/index/rebuild": optional(status=str, message=str),
    "repository/search": optional(query=str, mode=str, results=[FILE], total=int, elapsed_ms=int, has_more=bool),
    "repository/files/tree": optional(root=NODE, total_nodes=int, max_depth_reached=bool),
    "repository/stats": optional(
        total_files=int, total_directories=int, total_size_bytes=int, total_lines=int, largest_files=[FILE],
        recently_modified=[FILE],
        languages=[{"language": str, **optional(files=int, lines=int, bytes=int, percentage=float)}],
    ),
}

IMAGE = {
    "id": str, "local_path": str, "mime_type": str, "size": int, "created_at": int, "expires_at": int,
}
# The answer of each route that the app calls.
ROUTES = {
    "POST /api/auth/exchange": {
        "access_token": str, "access_token_expires_at": Time(), "refresh_token": str, "refresh_token_expires_at": Time(),
    },
    "POST /api/images": {
        "success": bool, "id": str, "local_path": str, "mime_type": str, "size": int, "expires_at": int,
    },
    "GET /api/images": {
        "images": [IMAGE], "count": int, "total_size_bytes": int, "max_images": int, "max_total_size_mb": int,
    },
    "GET /api/images/stats": {
        "image_count": int, "total_size_bytes": int, "max_images": int, "max_total_size_mb": int,
        "max_single_size_mb": int, "can_accept_upload": bool, "reason": opt(str),
    },
    "DELETE /api/images": {"success": bool, "id": str, "message": opt(str)},
    "DELETE /api/images/all": {"success": bool, "deleted": int, "message": opt(str)},
    "GET /api/status": optional(
        session_id=str, agent_session_id=str, version=str, repo_path=str, repo_name=str, uptime_seconds=int,
        claude_state=str, connected_clients=int, watcher_enabled=bool, git_enabled=bool, is_git_repo=bool,
    ),
}

PTY_STATES = ("idle", "thinking", "permission", "question", "error")
EVENT_BLOCK = {
    "type": str,
    **optional(
        text=str, id=str, name=str, input=dict, tool_id=str, tool_name=str, tool_input=dict, tool_use_id=str,
        content=str, is_error=bool,
    ),
}
# The payload of each event, in the order in which the app tries them: the first one that decodes and has its mark counts.
PAYLOADS = [
    ("pty_permission", lambda p: "type" in p and "options" in p, optional(
        type=str, target=str, description=str, preview=str, session_id=str, tool_name=str, file_path=str, command=str,
        options=[{"key": str, "label": str, **optional(description=str, selected=bool)}],
    )),
    ("pty_output", lambda p: "clean_text" in p, optional(clean_text=str, raw_text=str, state=str)),
    ("pty_state", lambda p: p.get("state") in PTY_STATES, optional(
        state=Enum(*PTY_STATES), previous_state=Enum(*PTY_STATES)
    )),
    ("pty_spinner", lambda p: "symbol" in p, optional(text=str, symbol=str, message=str, session_id=str)),
    ("pty_permission_resolved", lambda p: "resolved_by" in p, optional(
        session_id=str, workspace_id=str, resolved_by=str, input=str
    )),
    ("claude_message", lambda p: isinstance(p.get("message"), dict) or "content" in p, optional(
        type=str, uuid=str, session_id=str, timestamp=str, role=str, content=[EVENT_BLOCK], stop_reason=str,
        is_context_compaction=bool,
    )),
    ("claude_log", lambda p: "line" in p, optional(
        line=str, stream=str, session_id=str, parsed=optional(type=str, subtype=str, session_id=str)
    )),
    ("claude_status", lambda p: "state" in p, optional(
        state=Enum("running", "idle", "waiting", "error", "stopped"), session_id=str, error=str
    )),
    ("claude_waiting", lambda p: "question" in p, optional(
        question=str, request_id=str, description=str, options=[{"label": str, "description": opt(str)}]
    )),
    ("claude_permission", lambda p: "tool" in p, optional(tool=str, description=str, request_id=str)),
    ("stream_read_complete", lambda p: "messages_emitted" in p, optional(
        session_id=str, messages_emitted=int, file_offset=int, file_size=int
    )),
    ("session_id_resolved", lambda p: "temporary_id" in p and "real_id" in p, optional(
        temporary_id=str, real_id=str, workspace_id=str, session_file=str
    )),
    ("session_id_failed", lambda p: "temporary_id" in p, optional(
        temporary_id=str, workspace_id=str, reason=str, message=str
    )),
    ("claude_session_info", lambda p: "session_id" in p, optional(session_id=str)),
    ("file_changed", lambda p: "path" in p, optional(
        path=str, change=Enum("created", "modified", "deleted", "renamed"), size=int, old_path=str
    )),
    ("git_diff", lambda p: "diff" in p, optional(path=str, diff=str, additions=int, deletions=int, is_new=bool)),
    ("git_status_changed", lambda p: "branch" in p, optional(
        branch=str, ahead=int, behind=int, staged_count=int, unstaged_count=int, untracked_count=int,
        has_conflicts=bool, changed_files=[str],
    )),
    ("git_operation_completed", lambda p: "operation" in p, optional(
        operation=str, success=bool, sha=str, message=str, error=str
    )),
    ("session_joined", lambda p: "joining_client_id" in p, optional(
        joining_client_id=str, other_viewers=[str], viewer_count=int
    )),
    ("session_left", lambda p: "leaving_client_id" in p, optional(
        leaving_client_id=str, remaining_viewers=[str], viewer_count=int
    )),
    ("heartbeat", lambda p: "server_time" in p, optional(
        server_time=str, sequence=int, claude_status=str, uptime_seconds=int
    )),
]
# What the app takes for something else and passes over, each with what tells it the same.
MISREAD = {
    # Each has a `pty_state` beside it.
    "claude_status": {"pty_state"},
    # Read as the session's own data and passed over for its name; `pty_state` says what counts.
    "session_start": {"claude_session_info"},
    "session_end": {"claude_session_info"},
    "session_stopped": {"claude_session_info"},
    "session_watch_started": {"claude_session_info"},
    "session_watch_stopped": {"claude_session_info"},
    "error": {"claude_session_info"},
    # With a branch it is taken for the repository's state, which follows.
    "git_operation_completed": {"git_status_changed"},
    # It must name its file; `git_status_changed` follows, which makes the app ask for the diff.
    "git_diff": {"file_changed"},
    # It names a folder, which is all that the app looks at.
    "workspace_removed": {"file_changed"},
}
# The names that the app knows; others are passed over before anything is decoded.
NAMES = {name for name, _, _ in PAYLOADS} | set(MISREAD)
# Events of a session without the runtime's id are dropped, except these.
WITHOUT_RUNTIME = {
    "session_id_resolved", "session_id_failed", "pty_permission_resolved", "session_watch_started",
    "session_watch_stopped", "session_end",
}


def decode_answer(method, result):
    """Holds an answer against the app's struct; methods that the app does not call are not looked at."""
    if method in ANSWERS:
        decode(ANSWERS[method], result, method)


def decode_event(name, params):
    """Holds an event against what the app takes it for."""
    if name not in NAMES:
        return
    payload = params["payload"] if isinstance(params.get("payload"), dict) else params
    for taken_for, is_it, kind in PAYLOADS:
        if is_it(payload):
            if taken_for != name and taken_for not in MISREAD.get(name, ()):
                raise Undecodable(f"the app takes {name} for {taken_for}: {params}")
            decode(kind, payload, name)
            break
    else:
        raise Undecodable(f"the app does not know what {name} is: {params}")
    if name != "heartbeat":
        decode(Time(), params.get("timestamp"), f"{name}.timestamp")
    if "session_id" in params and name not in WITHOUT_RUNTIME and not params.get("agent_type"):
        raise Undecodable(f"the app drops {name} without agent_type: {params}")
