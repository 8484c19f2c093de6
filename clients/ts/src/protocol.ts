// Generated from the method table in crates/rpc/src. Do not edit: change the table, then run
// ROOST_BLESS=1 cargo test -p roost-rpc

/** The version of the protocol that this module speaks. */
export const PROTOCOL_VERSION = "1.0";

/** Every error by its word in `error.data.code`, with its number in `error.code`. */
export const ERRORS = {
  /** It is not JSON. */
  PARSE_ERROR: -32700,
  /** It is not a request. */
  INVALID_COMMAND: -32600,
  /** There is no such method. */
  METHOD_NOT_FOUND: -32601,
  /** The parameters are wrong. */
  INVALID_PAYLOAD: -32602,
  /** Something failed on our side. */
  INTERNAL_ERROR: -32603,
  /** The agent is busy. */
  CLAUDE_ALREADY_RUNNING: -32001,
  /** Nothing runs that could be stopped. */
  CLAUDE_NOT_RUNNING: -32002,
  /** The agent refused or failed. */
  AGENT_ERROR: -32003,
  /** There is nothing that an agent could work on. */
  AGENT_NOT_CONFIGURED: -32004,
  /** No session has this id. */
  SESSION_NOT_FOUND: -32010,
  /** The session cannot do that now. */
  SESSION_INVALID: -32011,
  /** There is no such file. */
  FILE_NOT_FOUND: -32020,
  /** The file is bigger than may be read at once. */
  FILE_TOO_LARGE: -32021,
  /** The path leads out of the workspace. */
  PATH_TRAVERSAL: -32022,
  /** The file cannot be read. */
  FILE_READ_ERROR: -32023,
  /** There is no such folder. */
  DIRECTORY_NOT_FOUND: -32024,
  /** The workspace's folder is not the top of a repository with files. */
  NOT_A_GIT_REPO: -32030,
  /** git could not do it; `operation` and `kind` say what and why. */
  GIT_ERROR: -32031,
  /** Conflicts wait to be resolved first. */
  GIT_CONFLICT: -32032,
  /** Too many calls; wait for `retry_after` seconds. */
  RATE_LIMITED: -32050,
  /** The token does not allow it. */
  FORBIDDEN: -32051,
  /** `initialize` comes first. */
  NOT_INITIALIZED: -32052,
  /** Events after this position were removed; go on at `resume_at`. */
  CURSOR_TRUNCATED: -32053,
  /** No workspace has this id. */
  WORKSPACE_NOT_FOUND: -32054,
  /** The answer would be too big for a frame. */
  TOO_LARGE: -32055,
  /** As much runs as may. */
  BUSY: -32056,
  /** Roost is going down. */
  SHUTTING_DOWN: -32057,
  /** Nothing can be recorded. */
  DISK_FULL: -32058,
  /** The protocol's version is not served here. */
  UNSUPPORTED_VERSION: -32059,
} as const;

/** Every method: what is sent and what comes back. */
export interface Methods {
  /** Says hello: versions, capabilities and the runtime registry. The first call of a connection. */
  "initialize": { params: InitializeParams; result: InitializeResult };
  /** Confirms that the client is ready. */
  "initialized": { params: NoParams; result: Empty };
  /** Says goodbye: watches and subscriptions of this connection end, then the connection. The daemon goes on. */
  "shutdown": { params: NoParams; result: Success };
  /** How the daemon and its default agent are. */
  "status/get": { params: NoParams; result: StatusResult };
  /** Whether the daemon is well. */
  "status/health": { params: NoParams; result: HealthResult };
  /** Starts an agent with a prompt; an error if the workspace's agent is busy. */
  "agent/run": { params: AgentRunParams; result: AgentRunResult };
  /** Stops the agent's task. */
  "agent/stop": { params: AgentParams; result: StatusWord };
  /** Answers what the agent asked. */
  "agent/respond": { params: AgentRespondParams; result: AgentRespondResult };
  /** How the agent is. */
  "agent/status": { params: AgentParams; result: AgentStatusResult };
  /** Types something to the agent. */
  "agent/input": { params: AgentInputParams; result: StatusWord };
  /** Attaches to a session, or makes one. Nothing runs until it is prompted. */
  "session/start": { params: SessionStartParams; result: SessionStartResult };
  /** Makes a session that knows all that was said in another one, which stays as it is. */
  "session/fork": { params: SessionForkParams; result: SessionStartResult };
  /** Sends a prompt; a busy session queues it. */
  "session/send": { params: SessionSendParams; result: SessionSendResult };
  /** Stops a session or its task. */
  "session/stop": { params: SessionStopParams; result: SessionStopResult };
  /** Types text or a key to a session. */
  "session/input": { params: SessionInputParams; result: SessionInputResult };
  /** Answers what a session asked. */
  "session/respond": { params: SessionRespondParams; result: StatusWord };
  /** How a session is. */
  "session/state": { params: SessionParams; result: SessionState };
  /** The sessions with a process or a task. */
  "session/active": { params: ActiveParams; result: ActiveResult };
  /** How a session is; the name of older clients. */
  "session/info": { params: SessionParams; result: SessionState };
  /** Lists sessions, the latest first. */
  "session/list": { params: SessionListParams; result: SessionListResult };
  /** One session of the list. */
  "session/get": { params: SessionParams; result: SessionInfo };
  /** Lists a workspace's sessions; the name of older clients. */
  "session/history": { params: HistoryParams; result: HistoryResult };
  /** Reads a session's messages, page by page. */
  "session/messages": { params: MessagesParams; result: MessagesResult };
  /** Reads a session as elements to draw, page by page. */
  "session/elements": { params: ElementsParams; result: ElementsResult };
  /** Watches a session: its messages come as events, and what waits is sent again. */
  "session/watch": { params: WatchParams; result: WatchResult };
  /** Watches a session no more. */
  "session/unwatch": { params: UnwatchParams; result: WatchResult };
  /** Takes sessions off the lists; what happened stays in the log until retention removes it. */
  "session/delete": { params: DeleteParams; result: DeleteResult };
  /** Lists a workspace's sessions, the latest first. */
  "workspace/session/history": { params: HistoryParams; result: HistoryResult };
  /** Reads the messages of a workspace's session. */
  "workspace/session/messages": { params: MessagesParams; result: MessagesResult };
  /** Watches a workspace's session. */
  "workspace/session/watch": { params: WatchParams; result: WatchResult };
  /** Watches a workspace's session no more. */
  "workspace/session/unwatch": { params: UnwatchParams; result: WatchResult };
  /** Makes a session the workspace's current one. */
  "workspace/session/activate": { params: WorkspaceSessionParams; result: ActivateResult };
  /** Takes a workspace's session off the lists. */
  "workspace/session/delete": { params: DeleteParams; result: DeleteResult };
  /** Says which session this client looks at. */
  "client/session/focus": { params: WorkspaceSessionParams; result: FocusResult };
  /** Lists the workspaces. */
  "workspace/list": { params: WorkspaceListParams; result: WorkspaceListResult };
  /** One workspace. */
  "workspace/get": { params: WorkspaceParams; result: Workspace };
  /** Adds a folder as a workspace. */
  "workspace/add": { params: WorkspaceAddParams; result: Workspace };
  /** Removes a workspace; its folder and sessions stay. */
  "workspace/remove": { params: WorkspaceParams; result: Done };
  /** Changes a workspace's name or whether it starts by itself. */
  "workspace/update": { params: WorkspaceUpdateParams; result: Workspace };
  /** How a workspace is. */
  "workspace/status": { params: WorkspaceParams; result: WorkspaceStatusResult };
  /** Finds repositories on the machine that could become workspaces. */
  "workspace/discover": { params: WorkspaceDiscoverParams; result: WorkspaceDiscoverResult };
  /** Ends a search for repositories; it answers with what it found until then. */
  "workspace/discover/cancel": { params: WorkspaceDiscoverCancelParams; result: Success };
  /** Forgets which repositories were found. */
  "workspace/cache/invalidate": { params: WorkspaceCacheParams; result: Done };
  /** Follows a workspace's events; the first one makes others silent. */
  "workspace/subscribe": { params: WorkspaceParams; result: SubscribeResult };
  /** Follows a workspace's events no more. */
  "workspace/unsubscribe": { params: WorkspaceParams; result: SubscribeResult };
  /** The workspaces whose events this client follows. */
  "workspace/subscriptions": { params: NoParams; result: SubscriptionsResult };
  /** Follows the events of every workspace. */
  "workspace/subscribeAll": { params: NoParams; result: SubscribeAllResult };
  /** Reads a file of a workspace, or a part of it. */
  "workspace/file/get": { params: FileGetParams; result: FileContent };
  /** Lists a folder of a workspace, page by page. */
  "workspace/files/list": { params: FilesListParams; result: FilesListResult };
  /** Reads a file; of the first workspace, unless one is named. */
  "file/get": { params: FileGetParams; result: FileContent };
  /** Lists a folder; of the first workspace, unless one is named. */
  "file/list": { params: FileListParams; result: FileListResult };
  /** How a repository is, with every file that changed. */
  "git/status": { params: GitParams; result: GitStatusResult };
  /** How a repository is, at a glance; also called `git/get_status`. */
  "git/state": { params: GitParams; result: GitStateResult };
  /** What changed in a file or in all of them, line by line. */
  "git/diff": { params: GitDiffParams; result: GitDiffResult };
  /** Puts files into the next commit. */
  "git/stage": { params: GitPathsParams; result: GitStageResult };
  /** Takes files out of the next commit. */
  "git/unstage": { params: GitPathsParams; result: GitUnstageResult };
  /** Brings files back; deletes files that git does not know if they are named one by one. */
  "git/discard": { params: GitPathsParams; result: GitDiscardResult };
  /** Commits what is staged. */
  "git/commit": { params: GitCommitParams; result: GitCommitResult };
  /** Pushes a branch. */
  "git/push": { params: GitPushParams; result: GitPushResult };
  /** Fetches the followed branch and merges it; conflicts are told with their files. */
  "git/pull": { params: GitPullParams; result: GitPullResult };
  /** Looks what a remote has. */
  "git/fetch": { params: GitFetchParams; result: GitFetchResult };
  /** Ends whatever git does in a workspace now. */
  "git/cancel": { params: GitParams; result: Done };
  /** Lists branches, here and as last seen elsewhere. */
  "git/branches": { params: GitParams; result: GitBranchesResult };
  /** Goes to another branch. */
  "git/checkout": { params: GitCheckoutParams; result: GitCheckoutResult };
  /** Deletes a branch. */
  "git/branch/delete": { params: GitBranchDeleteParams; result: GitBranchDeleteResult };
  /** Makes a branch follow another. */
  "git/upstream/set": { params: GitUpstreamParams; result: Done };
  /** Lists commits with their refs and the lines between them, page by page. */
  "git/log": { params: GitLogParams; result: GitLogResult };
  /** Puts changes aside. */
  "git/stash": { params: GitStashParams; result: GitStashResult };
  /** Lists what was put aside. */
  "git/stash/list": { params: GitParams; result: GitStashListResult };
  /** Brings back what was put aside, and keeps it. */
  "git/stash/apply": { params: GitStashIndexParams; result: GitMergeResult };
  /** Brings back what was put aside. */
  "git/stash/pop": { params: GitStashIndexParams; result: GitMergeResult };
  /** Forgets what was put aside. */
  "git/stash/drop": { params: GitStashIndexParams; result: GitMergeResult };
  /** Merges a branch; conflicts are told with their files. */
  "git/merge": { params: GitMergeParams; result: GitMergeResult };
  /** Goes back to before the merge that waits for its conflicts. */
  "git/merge/abort": { params: GitParams; result: Done };
  /** Makes a workspace's folder a repository. */
  "git/init": { params: GitInitParams; result: GitInitResult };
  /** Adds a repository elsewhere. */
  "git/remote/add": { params: GitRemoteAddParams; result: GitRemoteAddResult };
  /** Lists the repositories elsewhere. */
  "git/remote/list": { params: GitParams; result: GitRemoteListResult };
  /** Forgets a repository elsewhere. */
  "git/remote/remove": { params: GitRemoteParams; result: Done };
  /** Lists the working copies of a workspace's repository; also called `git/worktree/list`, and so with the others. */
  "workspace/worktree/list": { params: GitParams; result: WorktreeListResult };
  /** Makes a working copy beside the workspace's own. */
  "workspace/worktree/add": { params: WorktreeAddParams; result: WorktreeAddResult };
  /** Removes a working copy; its branch stays. */
  "workspace/worktree/remove": { params: WorktreeParams; result: Done };
  /** What a session changed in its working copy since its branch began. */
  "workspace/worktree/diff": { params: WorktreeParams; result: GitDiffResult };
  /** Merges a session's branch into what the workspace has checked out. */
  "workspace/worktree/merge": { params: WorktreeMergeParams; result: GitMergeResult };
  /** Removes a session's working copy and branch with everything that was not merged. */
  "workspace/worktree/discard": { params: WorktreeParams; result: Done };
  /** How the index of a workspace's files is. */
  "repository/index/status": { params: RepositoryParams; result: IndexStatusResult };
  /** Looks at all files of a workspace again. */
  "repository/index/rebuild": { params: IndexRebuildParams; result: IndexRebuildResult };
  /** Finds files by name. */
  "repository/search": { params: SearchParams; result: SearchResult };
  /** Finds files by name while it is typed: what fits is sent as it changes. */
  "repository/search/start": { params: SearchParams; result: SearchStarted };
  /** Goes on with another text. */
  "repository/search/update": { params: SearchUpdateParams; result: Success };
  /** Ends a search that goes on. */
  "repository/search/cancel": { params: SearchCancelParams; result: Success };
  /** Lists a folder out of the index. */
  "repository/files/list": { params: RepositoryListParams; result: RepositoryListResult };
  /** Folders within folders. */
  "repository/files/tree": { params: TreeParams; result: TreeResult };
  /** What a workspace is made of: languages, lines, sizes. */
  "repository/stats": { params: RepositoryParams; result: RepositoryStats };
  /** Finds lines of files by their content. */
  "repository/grep": { params: GrepParams; result: GrepResult };
  /** Ends a search in files. */
  "repository/grep/cancel": { params: GrepCancelParams; result: Success };
  /** Allows or denies a tool call that waits. */
  "permission/respond": { params: PermissionRespondParams; result: Success };
  /** What waits for an answer, the oldest first. */
  "permission/pending": { params: PendingParams; result: PendingResult };
  /** How much is remembered and how much waits. */
  "permission/stats": { params: NoParams; result: PermissionStats };
  /** Lists the answers that are remembered, the oldest first. */
  "rule/list": { params: NoParams; result: RuleListResult };
  /** Removes a remembered answer, so that calls like it are asked about again; one that denies needs the scope admin. */
  "rule/remove": { params: RuleRemoveParams; result: Success };
  /** Follows the log from a cursor, in the form of the cdev protocol or as it is. */
  "events/subscribe": { params: SubscribeParams; result: EventsSubscribeResult };
  /** Follows the log no more. */
  "events/unsubscribe": { params: UnsubscribeParams; result: Success };
  /** Keeps a named reader's place, so that it can go on there after a restart of either side. */
  "events/ack": { params: AckParams; result: AckResult };
  /** Reads a session's events, page by page. */
  "log/read": { params: LogReadParams; result: LogReadResult };
  /** Reads a piece of what was too big for an event. */
  "artifact/read": { params: ArtifactParams; result: ArtifactResult };
  /** Lists the paired devices. */
  "device/list": { params: NoParams; result: DeviceListResult };
  /** Forgets a device: its tokens end and its connections close. */
  "device/revoke": { params: DeviceRevokeParams; result: Success };
  /** Makes what a new device needs to be paired. */
  "pair/create": { params: PairParams; result: PairResult };
  /** The daemon as the local door sees it. */
  "daemon/status": { params: NoParams; result: DaemonStatus };
  /** Ends the daemon: agents are stopped, clients told. */
  "daemon/stop": { params: NoParams; result: Success };
}

/** Every event by its name without the prefix `event/`; `agent_…` are those of `neutral_names`. */
export interface Events {
  /** Events as they are in the log; the only one of the format `normalized`. */
  batch: EventBatch;
  /** A line of the agent's output. */
  claude_log: ClaudeLog;
  /** A line of the agent's output. */
  agent_log: ClaudeLog;
  /** Something was said or done; for those who watch the session. */
  claude_message: ClaudeMessage;
  /** Something was said or done; for those who watch the session. */
  agent_message: ClaudeMessage;
  /** What the agent does now. */
  claude_status: ClaudeStatus;
  /** What the agent does now. */
  agent_status: ClaudeStatus;
  /** The agent asks a question. */
  claude_waiting: ClaudeWaiting;
  /** The agent asks a question. */
  agent_waiting: ClaudeWaiting;
  /** A tool call waits for an answer, in the words of older clients. */
  claude_permission: ClaudePermission;
  /** A tool call waits for an answer, in the words of older clients. */
  agent_permission: ClaudePermission;
  /** The session's model is known or another. */
  claude_session_info: ClaudeSessionInfo;
  /** The session's model is known or another. */
  agent_session_info: ClaudeSessionInfo;
  /** A tool call waits for an answer. */
  pty_permission: PtyPermission;
  /** What waited for an answer waits no more. */
  pty_permission_resolved: PtyPermissionResolved;
  /** What a terminal would show. */
  pty_state: PtyState;
  /** All of a turn has been sent. */
  stream_read_complete: StreamReadComplete;
  /** A session was made. */
  session_start: SessionStart;
  /** A session ended, or the daemon goes down. */
  session_end: SessionEnd;
  /** A session was stopped. */
  session_stopped: SessionStopped;
  /** The runtime knows the session; its id here stays as it is. */
  session_id_resolved: SessionIdResolved;
  /** The runtime could not begin the session. */
  session_id_failed: SessionIdFailed;
  /** Another client looks at the session. */
  session_joined: SessionJoined;
  /** Another client looks at the session no more. */
  session_left: SessionLeft;
  /** This client watches a session. */
  session_watch_started: SessionWatchStarted;
  /** This client watches a session no more. */
  session_watch_stopped: SessionWatchStopped;
  /** Retention removed events of a session before they could be sent. */
  truncated: Truncated;
  /** A workspace was removed. */
  workspace_removed: WorkspaceRemoved;
  /** How far a search for repositories is; for the client that began it. */
  workspace_discover_progress: WorkspaceDiscoverProgress;
  /** A client had something done with a workspace's repository. */
  git_operation_completed: GitOperationCompleted;
  /** Another branch is checked out. */
  git_branch_changed: GitBranchChanged;
  /** How far a push, pull or fetch is; a client that does not keep up misses some. */
  git_operation_progress: GitOperationProgress;
  /** A task failed. */
  error: TaskFault;
  /** A file of a workspace changed. */
  file_changed: FileChanged;
  /** Too many files changed to be told one by one. */
  files_rescanned: FilesRescanned;
  /** The state of a workspace's repository, after a change or a subscription. */
  git_status_changed: GitStatusChanged;
  /** What changed in a file that changed. */
  git_diff: GitDiff;
  /** A workspace cannot be watched, or not as a whole. */
  watch_failed: WatchFailed;
  /** Files that fit a search that goes on. */
  search_results: SearchResults;
  /** Some of what was found in files. */
  grep_results: GrepResults;
  /** A search in files ended. */
  grep_completed: GrepCompleted;
  /** The connection lives; sent every 30 seconds. */
  heartbeat: Heartbeat;
}

/** How far a reader has come. */
export interface AckParams {
  /** The reader's name. */
  name: string;
  /** The cursor that came with the last event. */
  cursor: string;
}

/** The reader's place is kept. */
export interface AckResult {
  /** The reader's name. */
  name: string;
  /** Its place. */
  cursor: string;
}

/** The session is the workspace's current one. */
export interface ActivateResult {
  /** Always true. */
  success: boolean;
  /** The workspace. */
  workspace_id: string;
  /** The session. */
  session_id: string;
  /** For people. */
  message: string;
}

/** Where to look. */
export interface ActiveParams {
  /** Only there. */
  workspace_id?: string;
}

/** Sessions with a process or a task. */
export interface ActiveResult {
  /** Them. */
  sessions: SessionState[];
}

/** What was there of a session before Roost hosted it. */
export interface Adopted {
  /** The runtime's id for it. */
  runtime_session_id: RuntimeSessionId;
  /** How many messages it had, which only its runtime keeps. */
  messages: number;
}

/** Something typed to the agent. */
export interface AgentInputParams {
  /** Text, or the name of a key. */
  input: string;
  /** The session. */
  session_id?: string;
  /** Which runtime. */
  agent_type?: string;
}

/** Which agent; the one of the latest `agent/run` if nothing is said. */
export interface AgentParams {
  /** Its session. */
  session_id?: string;
  /** Its runtime. */
  agent_type?: string;
}

/** An answer to what the agent asked. */
export interface AgentRespondParams {
  /** What is answered. */
  tool_use_id: string;
  /** The answer. */
  response?: string;
  /** It is a no. */
  is_error?: boolean;
  /** The session, where the id alone is not enough. */
  session_id?: string;
  /** Which runtime. */
  agent_type?: string;
}

/** The answer was taken. */
export interface AgentRespondResult {
  /** `sent`. */
  status: string;
  /** What was answered. */
  tool_use_id: string;
}

/** A prompt for the agent. */
export interface AgentRunParams {
  /** What to do. */
  prompt: string;
  /** A new session, or the one named. */
  mode?: RunMode;
  /** The session to go on with. */
  session_id?: string;
  /** How much it may do unasked. */
  permission_mode?: AnyMode;
  /** It may do everything unasked. */
  yolo_mode?: boolean;
  /** Where; the default workspace if absent. */
  workspace_id?: string;
  /** Which runtime. */
  agent_type?: string;
  /** Variables that a new session's runtime gets on top of its environment; their values are told nobody else. */
  env?: Record<string, Secret>;
  /** Images that belong to the prompt: png, jpeg, gif or webp, at most 5 of 10 MiB each. */
  images?: PromptImage[];
  /** Files that the prompt refers to: paths below the session's folder; at the local door any. */
  files?: string[];
}

/** The agent works. */
export interface AgentRunResult {
  /** `started`. */
  status: string;
  /** Its session. */
  session_id: string;
  /** Its task. */
  task_id: string;
  /** As asked. */
  mode: RunMode;
  /** Its runtime. */
  agent_type: string;
}

/** What the agent does. */
export type AgentState =
  /** It works. */
  | "running"
  /** It waits for an answer. */
  | "waiting"
  /** It is done. */
  | "idle"
  /** It was stopped. */
  | "stopped"
  /** It failed. */
  | "error";

/** How the agent is. */
export interface AgentStatusResult {
  /** `idle`, `running` or `waiting`. */
  state: string;
  /** Its session. */
  session_id?: string;
  /** Its runtime. */
  agent_type: string;
  /** What it waits for. */
  waiting_for?: string;
}

/** Who answered, and from where. */
export interface Answerer {
  /** The client. */
  client_id?: ClientId;
  /** The person. */
  user_id?: UserId;
  /** The door they came through, such as `terminal`. */
  from?: string;
}

export type AnyMode = "plan" | "ask" | "accept_edits" | "auto" | "yolo" | "default" | "interactive" | "acceptEdits" | "accept-edits" | "bypassPermissions" | "bypass-permissions" | "bypass_permissions" | "danger" | "danger-full-access";

/** How an approval came to its end. */
export type ApprovalEnd =
  /** Somebody answered. */
  | "answered"
  /** Nobody answered in time. */
  | "expired"
  /** The task was stopped. */
  | "stopped"
  /** The task ended, the runtime with it or not. */
  | "task_ended"
  /** The runtime no longer asks. */
  | "withdrawn"
  /** Roost ended first. */
  | "host_restarted";

/** `approval.requested`: everything that a person needs in order to decide, in one event. */
export interface ApprovalRequestedPayload {
  /** Stable within Roost. */
  tool_call_id: ToolCallId;
  /** The runtime's own id. */
  runtime_tool_call_id?: string;
  /** From 1; counts replays and retries. */
  attempt: number;
  /** `sha256:<hex>` of the canonical input. */
  input_hash: string;
  /** The tool. */
  name: string;
  /** A line for people. */
  title?: string;
  /** What it does. */
  kind?: ToolKind;
  /** Its input; cut where it is big. */
  input: unknown;
  /** The whole of a big input. */
  input_ref?: ArtifactRef;
  /** The rule that asks. */
  rule?: string;
  /** The calls that an answer for longer than once would cover; absent where none may. */
  offer?: CallPattern;
  /** When nobody's answer counts any more. */
  expires_at?: Timestamp;
}

/** `approval.resolved`: nobody needs to decide any more. */
export interface ApprovalResolvedPayload {
  /** Stable within Roost. */
  tool_call_id: ToolCallId;
  /** The runtime's own id. */
  runtime_tool_call_id?: string;
  /** From 1; counts replays and retries. */
  attempt: number;
  /** `sha256:<hex>` of the canonical input. */
  input_hash: string;
  /** What was decided. */
  decision: PolicyDecision;
  /** How it came to that. */
  end: ApprovalEnd;
  /** For how long it counts. */
  scope: ApprovalScope;
  /** Why, as the runtime is told. */
  reason?: string;
  /** Who answered. */
  answered_by?: Answerer;
  /** The input that it runs with, where a person changed it. */
  edited_input?: unknown;
  /** What is remembered of it. */
  remembered?: RememberedRule;
}

/** For how long an answer counts. */
export type ApprovalScope =
  /** For this call. */
  | "once"
  /** For calls like it in this session. */
  | "session"
  /** For calls like it in this workspace. */
  | "workspace"
  /** For calls like it everywhere. */
  | "always";

/** A stored artifact. */
export type ArtifactId = string;

/** A piece of something too big for an event. */
export interface ArtifactParams {
  /** Which artifact. */
  artifact_id: string;
  /** From this byte on. */
  offset?: number;
  /** Bytes at most; 256 KiB if absent. */
  length?: number;
}

/** A reference to a stored artifact. */
export interface ArtifactRef {
  /** Which artifact. */
  artifact_id: ArtifactId;
  /** Its media type. */
  content_type?: string;
  /** Its size. */
  size_bytes?: number;
  /** `sha256:<hex>` of its bytes. */
  content_hash?: string;
  /** A file name for people. */
  name?: string;
}

/** A piece of an artifact. */
export interface ArtifactResult {
  /** Which artifact. */
  artifact_id: string;
  /** `utf-8` or `base64`. */
  encoding: string;
  /** The piece. */
  content: string;
  /** Where it begins. */
  offset: number;
  /** How big the artifact is. */
  size: number;
}

/** What is answered. */
export type AskKind =
  /** A tool call. */
  | "permission"
  /** A question. */
  | "question";

/** One block of an agent's finished answer. */
export type AssistantContentBlock =
  /** Plain text. */
  | { type: "text"; text: string }
  /** Source code. */
  | { type: "code"; code: string; language?: string }
  /** Something too big or too binary to show inline. */
  | { type: "artifact_ref"; artifact_id: ArtifactId; name?: string; content_type?: string };

/** How a runtime's user logs in. */
export type AuthModel =
  /** OAuth with the credential on local disk. */
  | "oauth_local"
  /** An API key. */
  | "api_key"
  /** Either. */
  | "both"
  /** The runtime does not say. */
  | "unknown";

/** One block of a message. */
export type Block =
  /** Text; code is fenced, artifacts are named. */
  | { type: "text"; text: string }
  /** The agent calls a tool, or asks a question. */
  | { type: "tool_use"; id: string; name: string; input: Record<string, unknown> }
  /** What became of it. */
  | { type: "tool_result"; tool_use_id: string; content: string; is_error: boolean };

/** Calls that are alike; what is absent does not matter. */
export interface CallPattern {
  /** The runtime's id. */
  runtime?: string;
  /** The tool. */
  tool?: string;
  /** What the call touches. */
  touches?: Touches;
}

/** How far a tool call is. */
export type CallStatus =
  /** It runs, or waits for leave to. */
  | "running"
  /** It is done. */
  | "completed"
  /** It failed or was denied. */
  | "error"
  /** The task ended first. */
  | "interrupted";

/** What cancelling promises. */
export type CancellationModel =
  /** It is tried. */
  | "best_effort"
  /** It happens. */
  | "guaranteed"
  /** The runtime does not say. */
  | "unknown";

/** A line of the agent's output, as Claude would write it. */
export interface ClaudeLog {
  /** The line. */
  line: string;
  /** Where it comes from. */
  stream: LogStream;
  /** What it says. */
  parsed?: ParsedLine;
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace. */
  workspace_id?: string;
  /** The place after it; what is not kept has none. */
  cursor?: string;
}

/** Something was said or done. */
export interface ClaudeMessage {
  /** Who speaks. */
  type: Speaker;
  /** The same. */
  role: Speaker;
  /** Its blocks; none where it only ends the turn. */
  content: MessageBlock[];
  /** It sums up a context that was too long. */
  is_context_compaction: boolean;
  /** The same as in the history; unique. */
  uuid: string;
  /** The model that said it. */
  model?: string;
  /** Why the turn ends with it, where it does. */
  stop_reason?: string;
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace. */
  workspace_id?: string;
  /** The place after it; what is not kept has none. */
  cursor?: string;
}

/** A tool call waits for an answer; answer it with `permission/respond`. */
export interface ClaudePermission {
  /** Which call. */
  tool_use_id: string;
  /** The tool. */
  tool_name: string;
  /** Its input as JSON text. */
  input: string;
  /** What it asks for, for people. */
  description: string;
  /** The tool. */
  tool: string;
  /** Which call. */
  request_id: string;
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace. */
  workspace_id?: string;
  /** The place after it; what is not kept has none. */
  cursor?: string;
}

/** The session's model. */
export interface ClaudeSessionInfo {
  /** It. */
  model?: string;
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace. */
  workspace_id?: string;
  /** The place after it; what is not kept has none. */
  cursor?: string;
}

/** What the agent does now. */
export interface ClaudeStatus {
  /** It. */
  state: AgentState;
  /** The prompt's beginning, where it begins. */
  prompt?: string;
  /** Since when. */
  started_at?: Timestamp;
  /** Why it failed. */
  error?: string;
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace. */
  workspace_id?: string;
  /** The place after it; what is not kept has none. */
  cursor?: string;
}

/** The agent asks a question; answer it with `session/respond`. */
export interface ClaudeWaiting {
  /** Which question. */
  tool_use_id: string;
  /** `AskUserQuestion`. */
  tool_name: string;
  /** All of it as JSON text. */
  input: string;
  /** What is asked. */
  question: string;
  /** The choices of its first field; none means free text. */
  options: WaitingOption[];
  /** Which question. */
  request_id: string;
  /** What is asked. */
  description: string;
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace. */
  workspace_id?: string;
  /** The place after it; what is not kept has none. */
  cursor?: string;
}

/** A connected client. */
export type ClientId = string;

/** A client's name and version. */
export interface ClientInfo {
  /** Its name. */
  name?: string;
  /** Its version. */
  version?: string;
}

/** How full the runtime's context is. */
export interface ContextFill {
  /** Tokens used. */
  used: number;
  /** Tokens that fit. */
  size: number;
}

/** How a context was made to fit. */
export type ContextStrategy =
  /** It fitted. */
  | "none"
  /** The oldest messages were left out. */
  | "truncate_oldest";

/** What of the transcript reached the runtime. */
export interface ContextWindow {
  /** How it was made to fit. */
  strategy: ContextStrategy;
  /** The limit. */
  max_chars?: number;
  /** The messages left out. */
  omitted_indices?: number[];
  /** Even the last message was too big. */
  overflow?: boolean;
}

/** The daemon as the local door sees it. */
export interface DaemonStatus {
  /** Its process. */
  pid: number;
  /** Roost's version. */
  version: string;
  /** Where it listens; absent if only on the local socket. */
  address?: string;
  /** How long it runs. */
  uptime_seconds: number;
  /** Clients that are connected now, this one included. */
  clients: number;
  /** Sessions with a running task. */
  running_tasks: number;
  /** What waits for an answer. */
  pending: number;
  /** Devices that are paired. */
  devices: number;
  /** Addresses that sent too many wrong tries of the pairing code that was shown last; of IPv6 their networks. */
  locked_addresses?: string[];
  /** They were so many that the pairing code is no longer good. */
  code_withdrawn: boolean;
  /** It was started by a client and leaves by itself. */
  auto_started: boolean;
  /** Whether events can be stored. */
  log: string;
}

/** A session to forget; all of a runtime, or all, if none is named. */
export interface DeleteParams {
  /** Which. */
  session_id?: string;
  /** Its workspace. */
  workspace_id?: string;
  /** Its runtime. */
  agent_type?: string;
}

/** Sessions that are no longer listed. */
export interface DeleteResult {
  /** `deleted`. */
  status: string;
  /** How many. */
  deleted: number;
  /** Which, if one was named. */
  session_id?: string;
  /** Its workspace. */
  workspace_id?: string;
}

/** A device that was paired. */
export interface Device {
  /** Its id. */
  device_id: string;
  /** Its name. */
  name: string;
  /** What it may do. */
  scope: Scope;
  /** Since when. */
  paired_at: Timestamp;
  /** When it was last heard of. */
  last_seen?: Timestamp;
  /** Where it was paired from. */
  remote_addr?: string;
  /** When it must have been heard of again. */
  expires_at: Timestamp;
  /** Its open connections. */
  connections: number;
}

/** A device that was paired with this host. */
export type DeviceId = string;

/** All devices. */
export interface DeviceListResult {
  /** Them. */
  devices: Device[];
}

/** `device.paired`: a device may now use this host. */
export interface DevicePairedPayload {
  /** Which device. */
  device_id: DeviceId;
  /** Its name for people. */
  name: string;
  /** What it may do. */
  scope: Scope;
}

/** A device to forget. */
export interface DeviceRevokeParams {
  /** Which. */
  device_id: string;
}

/** `device.revoked`: a device may no longer use this host. */
export interface DeviceRevokedPayload {
  /** Which device. */
  device_id: DeviceId;
  /** Why. */
  reason: string;
}

/** What a tool call changes in a file. */
export interface DiffElement {
  /** Which call. */
  tool_call_id: string;
  /** The file. */
  file_path: string;
  /** How much. */
  summary: DiffSummary;
  /** What. */
  hunks: DiffHunk[];
}

/** Lines of a file that change together. */
export interface DiffHunk {
  /** `@@ -old +new @@`. */
  header: string;
  /** The first old line. */
  old_start: number;
  /** How many old lines. */
  old_count: number;
  /** The first new line. */
  new_start: number;
  /** How many new lines. */
  new_count: number;
  /** The lines. */
  lines: DiffLine[];
}

/** A line of a diff. */
export interface DiffLine {
  /** What happens to it. */
  type: LineChange;
  /** Its number before. */
  old_line?: number;
  /** Its number after. */
  new_line?: number;
  /** The line without its end. */
  content: string;
}

/** How much a diff changes. */
export interface DiffSummary {
  /** Lines added. */
  added: number;
  /** Lines removed. */
  removed: number;
  /** Both for people, such as `+3 -1`. */
  display: string;
}

/** A folder of a workspace. */
export interface DirInfo {
  /** Where it is. */
  path: string;
  /** Its name. */
  name: string;
  /** Folders in it, as far as it was counted. */
  folder_count: number;
  /** Files in it, as far as it was counted. */
  file_count: number;
  /** Their bytes. */
  total_size_bytes: number;
  /** The same for people. */
  total_size_display: string;
  /** When it last changed. */
  last_modified: Timestamp;
  /** The same for people. */
  modified_display: string;
}

/** A repository that was found on the machine. */
export interface DiscoveredRepository {
  /** Its folder. */
  path: string;
  /** The folder's name. */
  name: string;
  /** Where it comes from, without a password. */
  remote_url?: string;
  /** When git last changed something in it. */
  last_modified: Timestamp;
  /** It is a workspace already. */
  is_configured: boolean;
}

/** It is done, in words. */
export interface Done {
  /** It is; false only where there was nothing to do. */
  success: boolean;
  /** For people. */
  message: string;
}

/** One element of a screen. */
export type Element = {
  /** Derived from the event's `seq`, or the place in what a runtime keeps, so it never changes. */
  id: string;
  /** When. */
  timestamp: Timestamp;
} & (
  /** What the user said. */
  | { type: "user_input"; content: { text: string } }
  /** What the agent said. */
  | { type: "assistant_text"; content: { text: string; model?: string } }
  /** A tool call, or a question to the user. */
  | { type: "tool_call"; content: ToolCallElement }
  /** What became of it. */
  | { type: "tool_result"; content: ToolResultElement }
  /** What it changes in a file. */
  | { type: "diff"; content: DiffElement }
  /** What the agent thought. */
  | { type: "thinking"; content: { text: string; collapsed: boolean } }
  /** The task ended before it was done. */
  | { type: "interrupted"; content: { tool_call_id: string; message: string } }
);

/** Where a page of elements stands. */
export interface ElementsPage {
  /** How many there are in all. */
  total: number;
  /** How many are here. */
  returned: number;
  /** There are older ones. */
  has_more_before: boolean;
  /** There are newer ones. */
  has_more_after: boolean;
  /** The first one here. */
  oldest_id?: string;
  /** The last one here. */
  newest_id?: string;
}

/** A page of elements. */
export interface ElementsParams {
  /** Of which session. */
  session_id: string;
  /** Its runtime. */
  agent_type?: string;
  /** How many at most: 50 if absent, 100 at most. */
  limit?: number;
  /** Those before this element. */
  before?: string;
  /** Those after this element. */
  after?: string;
}

/** A page of elements. */
export interface ElementsResult {
  /** Of which session. */
  session_id: string;
  /** Them. */
  elements: Element[];
  /** Where the page stands. */
  pagination: ElementsPage;
}

/** Nothing. */
export type Empty = Record<string, never>;

/** What lies in a folder. */
export type EntryType =
  /** A file. */
  | "file"
  /** A folder. */
  | "directory";

/** `event/batch`: events as they are in the log. */
export interface EventBatch {
  /** Them. */
  events: NormalizedEvent[];
  /** The place after them. */
  cursor: string;
}

/** The form that events come in. */
export type EventFormat =
  /** The notifications of the cdev protocol. */
  | "cdev"
  /** The log's events as they are, in batches. */
  | "normalized";

/** Events come from here on. */
export interface EventsSubscribeResult {
  /** The form. */
  format: EventFormat;
  /** They come after this cursor. */
  cursor: string;
}

/** The kinds of failure; the first seven are seed 001's design, the rest say what a host can know on top. */
export type FailureCode =
  /** The context does not fit even when cut. */
  | "CONTEXT_TOO_LARGE"
  /** The runtime answered with an error. */
  | "RUNTIME_ERROR"
  /** A tool failed in a way that ended the task. */
  | "TOOL_ERROR"
  /** The runtime is not logged in. */
  | "AUTH_ERROR"
  /** The task was cut off by a stop that nobody recorded. */
  | "CANCELLED"
  /** The runtime said something that cannot be recorded. */
  | "INVALID_EVENT"
  /** Roost itself failed. */
  | "INTERNAL"
  /** The runtime could not be started. */
  | "SPAWN_FAILED"
  /** The runtime's process ended in the middle of the task. */
  | "RUNTIME_EXITED"
  /** The daemon ended in the middle of the task. */
  | "HOST_RESTARTED"
  /** The disk is full; events could not be kept. */
  | "STORAGE_FULL"
  /** The runtime ran a tool that it had no leave to run. */
  | "POLICY_VIOLATION";

/** What happened to a file. */
export type FileChange =
  /** It is new. */
  | "created"
  /** It says something else. */
  | "modified"
  /** It is gone. */
  | "deleted"
  /** It was at another path. */
  | "renamed";

/** A file changed. */
export interface FileChanged {
  /** Whose. */
  workspace_id: string;
  /** Where it is. */
  path: string;
  /** What happened. */
  change: FileChange;
  /** When. */
  timestamp: Timestamp;
  /** Its bytes. */
  size?: number;
  /** Where it was. */
  old_path?: string;
}

/** What a file holds. */
export interface FileContent {
  /** Where it is. */
  path: string;
  /** Its bytes, or the part that was asked for. */
  content: string;
  /** How they are written. */
  encoding: FileEncoding;
  /** There is more after them. */
  truncated: boolean;
  /** How big the whole file is. */
  size: number;
  /** Where the bytes begin. */
  offset: number;
  /** What it holds, told by its content. */
  media_type: string;
  /** Its name says that it holds secrets. */
  is_sensitive: boolean;
}

/** How a file's bytes are written in JSON. */
export type FileEncoding =
  /** As they are. */
  | "utf-8"
  /** In Base64. */
  | "base64";

/** A file, or a part of it. */
export interface FileGetParams {
  /** Where it is, relative to the workspace's folder. */
  path: string;
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** How much is read at most, in KiB. */
  max_size_kb?: number;
  /** From this byte on. */
  offset?: number;
}

/** A file of a workspace. */
export interface FileInfo {
  /** Where it is. */
  path: string;
  /** Its name. */
  name: string;
  /** The folder that it lies in; empty for the workspace's own. */
  directory: string;
  /** What follows the last dot of its name. */
  extension?: string;
  /** Its bytes. */
  size_bytes: number;
  /** When it last changed. */
  modified_at: Timestamp;
  /** When this was looked up. */
  indexed_at: Timestamp;
  /** It holds no text. */
  is_binary: boolean;
  /** It is a link. */
  is_symlink: boolean;
  /** Its name says that it holds secrets. */
  is_sensitive: boolean;
  /** Git tracks it. */
  git_tracked: boolean;
  /** Git ignores it; never so in the index, which leaves out what git ignores. */
  git_ignored: boolean;
}

/** One thing that lies in a folder. */
export interface FileListEntry {
  /** Its name. */
  name: string;
  /** What it is. */
  type: EntryType;
  /** A file's bytes. */
  size?: number;
  /** When it last changed. */
  modified?: Timestamp;
  /** How much lies directly in a folder. */
  children_count?: number;
}

/** A folder. */
export interface FileListParams {
  /** Where it is, relative to the workspace's folder, which it is if absent. */
  path?: string;
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** How many at most; as many as fit into an answer if absent. */
  limit?: number;
  /** How many are passed over. */
  offset?: number;
}

/** What lies in a folder, folders first. */
export interface FileListResult {
  /** Where it is. */
  path: string;
  /** What lies there, or a part of it. */
  entries: FileListEntry[];
  /** How much lies there in all. */
  total_count: number;
}

/** By what files are sorted. */
export type FileSort =
  /** Their names. */
  | "name"
  /** Their sizes. */
  | "size"
  /** When they were changed. */
  | "modified"
  /** Their paths. */
  | "path";

/** A part of what lies in a workspace's folder. */
export interface FilesListParams {
  /** Whose. */
  workspace_id: string;
  /** Where it is, relative to the workspace's folder, which it is if absent. */
  directory?: string;
  /** So many files at most. */
  limit?: number;
  /** After so many. */
  offset?: number;
  /** What begins with a dot, too. */
  include_hidden?: boolean;
}

/** A part of what lies in a workspace's folder. */
export interface FilesListResult {
  /** Where it is. */
  directory: string;
  /** Its files. */
  files: FileInfo[];
  /** Its folders. */
  directories: DirInfo[];
  /** How many files there are. */
  total_files: number;
  /** How many folders there are. */
  total_directories: number;
  /** Where the page of files stands. */
  pagination: FilesPage;
}

/** Where a page stands. */
export interface FilesPage {
  /** So many at most. */
  limit: number;
  /** After so many. */
  offset: number;
  /** There is more. */
  has_more: boolean;
}

/** Too much happened to be told one by one: look at the files again. */
export interface FilesRescanned {
  /** Whose. */
  workspace_id: string;
  /** So many files are other than before. */
  changed_count: number;
  /** Why, for people. */
  reason: string;
  /** When. */
  timestamp: Timestamp;
}

/** Who else looks at the session. */
export interface FocusResult {
  /** The workspace. */
  workspace_id: string;
  /** The session. */
  session_id: string;
  /** The others. */
  other_viewers: string[];
  /** How many look, this client included. */
  viewer_count: number;
  /** Always true. */
  success: boolean;
}

/** Where a session that goes on from another one left it. */
export interface Forked {
  /** The other session. */
  session_id: SessionId;
  /** Its last event that belongs to both. */
  seq: number;
  /** How many tasks it had had. */
  tasks: number;
  /** How many messages it had. */
  messages: number;
}

/** A branch. */
export interface GitBranch {
  /** Its name; with the remote's before it if it is a remote's. */
  name: string;
  /** It is checked out. */
  is_current: boolean;
  /** It is a remote's, as last seen. */
  is_remote: boolean;
  /** The branch that it follows. */
  upstream?: string;
  /** Commits that the followed branch has not. */
  ahead: number;
  /** Commits that only the followed branch has. */
  behind: number;
}

/** Another branch is checked out. */
export interface GitBranchChanged {
  /** Whose repository. */
  workspace_id: string;
  /** The branch before. */
  from_branch: string;
  /** The branch now. */
  to_branch: string;
  /** When. */
  timestamp: Timestamp;
  /** The place after it. */
  cursor?: string;
}

/** `git.branch.changed`: another branch is checked out in a workspace. */
export interface GitBranchChangedPayload {
  /** Whose repository. */
  workspace_id: WorkspaceId;
  /** The branch before. */
  from_branch: string;
  /** The branch now. */
  to_branch: string;
  /** The session that did it. */
  session_id?: SessionId;
}

/** The branch to delete. */
export interface GitBranchDeleteParams {
  /** Which. */
  branch: string;
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** Even if its commits are nowhere else. */
  force?: boolean;
  /** On its remote, too. */
  delete_remote?: boolean;
}

/** The branch is deleted. */
export interface GitBranchDeleteResult {
  /** Always true. */
  success: boolean;
  /** Which. */
  branch: string;
  /** For people. */
  message: string;
  /** On its remote, too. */
  deleted_remote: boolean;
  /** Why not there, if it should. */
  remote_error?: string;
}

/** All branches. */
export interface GitBranchesResult {
  /** The one that is checked out; empty if none is. */
  current: string;
  /** The branch that it follows. */
  upstream?: string;
  /** Commits that the followed branch has not. */
  ahead: number;
  /** Commits that only the followed branch has. */
  behind: number;
  /** Them, those here first. */
  branches: GitBranch[];
}

/** The branch to go to. */
export interface GitCheckoutParams {
  /** Which. */
  branch: string;
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** Make it. */
  create?: boolean;
}

/** Another branch is checked out. */
export interface GitCheckoutResult {
  /** Always true. */
  success: boolean;
  /** The branch now. */
  branch: string;
  /** The branch before. */
  from_branch: string;
  /** For people. */
  message: string;
}

/** A commit. */
export interface GitCommit {
  /** Its id. */
  sha: string;
  /** Enough of its id to be unique. */
  short_sha: string;
  /** Who wrote it. */
  author: string;
  /** Their address. */
  author_email: string;
  /** When. */
  date: Timestamp;
  /** The same for people. */
  relative_date: string;
  /** The first line of what is said about it. */
  subject: string;
  /** The rest. */
  body?: string;
  /** The ids of its parents. */
  parent_shas: string[];
  /** It has several. */
  is_merge: boolean;
  /** The names that point to it. */
  refs: GitRef[];
  /** Where it stands in the graph. */
  graph_position?: GitGraphPosition;
}

/** A commit of what is staged. */
export interface GitCommitParams {
  /** What is said about it. */
  message: string;
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** Push it, too. */
  push?: boolean;
  /** The session that made it, to be named at the end of the message. */
  session_id?: string;
}

/** The commit is made. */
export interface GitCommitResult {
  /** Always true. */
  success: boolean;
  /** Enough of its id to be unique. */
  sha: string;
  /** The first line of what was said about it. */
  message: string;
  /** Files that it changed. */
  files_committed: number;
  /** It is pushed, too. */
  pushed: boolean;
  /** Why it is not, if it should. */
  push_error?: string;
}

/** What changed in a file, after it changed. */
export interface GitDiff {
  /** Whose. */
  workspace_id: string;
  /** Where it is. */
  file: string;
  /** The same, by the name that some clients read. */
  path: string;
  /** What changed. */
  diff: string;
  /** Lines that came. */
  additions: number;
  /** Lines that went. */
  deletions: number;
  /** It would be committed. */
  is_staged: boolean;
  /** Git does not know the file yet. */
  is_new_file: boolean;
  /** The same, by the name that some clients read. */
  is_new: boolean;
  /** There is more. */
  is_truncated: boolean;
  /** When. */
  timestamp: Timestamp;
}

/** What to compare. */
export interface GitDiffParams {
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** The file; all that changed if absent. */
  path?: string;
  /** What the next commit holds, or what it does not hold yet; either if absent. */
  staged?: boolean;
}

/** What changed in the file that was named, or in all of them. */
export interface GitDiffResult {
  /** The file; empty if none was named. */
  path: string;
  /** Its lines; empty if none was named. */
  diff: string;
  /** It is what the next commit holds. */
  is_staged: boolean;
  /** The file is new. */
  is_new: boolean;
  /** It is no text. */
  is_binary: boolean;
  /** There is more of it, or of one of the files. */
  is_truncated: boolean;
  /** Every file, if none was named. */
  diffs?: GitFileDiff[];
}

/** The files are as they were. */
export interface GitDiscardResult {
  /** Always true. */
  success: boolean;
  /** What was discarded. */
  discarded: string[];
}

/** What to look at. */
export interface GitFetchParams {
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** Which remote; `origin` if absent. */
  remote?: string;
  /** Forget branches that it has no more. */
  prune?: boolean;
}

/** What a fetch brought. */
export interface GitFetchResult {
  /** Always true. */
  success: boolean;
  /** What git said. */
  message: string;
  /** Branches that moved. */
  updated_refs: string[];
  /** Branches that are new. */
  new_branches: string[];
  /** Branches that are gone. */
  pruned_branches: string[];
  /** Commits that are new. */
  new_commits: number;
}

/** A file that changed. */
export interface GitFile {
  /** Where it is. */
  path: string;
  /** `M A D R C T`, `?` for a file that git does not know, `!` for a conflict. */
  status: string;
  /** Lines added. */
  additions?: number;
  /** Lines deleted. */
  deletions?: number;
  /** Where it was before it was renamed. */
  old_path?: string;
  /** The name is not UTF-8: `path` shows it with replacements and names no file, but its folder can be named. */
  not_utf8?: boolean;
}

/** What changed in a file. */
export interface GitFileDiff {
  /** Where it is. */
  path: string;
  /** The lines. */
  diff: string;
  /** It is what the next commit holds. */
  is_staged: boolean;
  /** The file is new. */
  is_new: boolean;
  /** It is no text. */
  is_binary: boolean;
  /** There is more of it. */
  is_truncated: boolean;
  /** Lines added, of what is shown. */
  additions: number;
  /** Lines deleted, of what is shown. */
  deletions: number;
}

/** A line of the graph, from one commit's row to the next. */
export interface GitGraphLine {
  /** Where it begins. */
  from_column: number;
  /** Where it ends. */
  to_column: number;
  /** `straight`, `merge_left`, `merge_right`, `branch_left`, `branch_right` or `pass`. */
  type: string;
}

/** Where a commit stands in the graph. */
export interface GitGraphPosition {
  /** Its column. */
  column: number;
  /** The lines of its row. */
  lines: GitGraphLine[];
}

/** A new repository. */
export interface GitInitParams {
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** Its branch; `main` if absent. */
  initial_branch?: string;
  /** Commit everything that is there. */
  initial_commit?: boolean;
  /** What is said about that. */
  commit_message?: string;
}

/** The folder is a repository. */
export interface GitInitResult {
  /** Always true. */
  success: boolean;
  /** For people. */
  message: string;
  /** Its branch. */
  branch: string;
  /** Enough of its first commit's id to be unique. */
  commit_sha?: string;
  /** Files of its first commit. */
  files_committed?: number;
}

/** Which commits. */
export interface GitLogParams {
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** So many at most. */
  limit?: number;
  /** After so many. */
  skip?: number;
  /** From where on back; what is checked out if absent. */
  branch?: string;
  /** Only those that changed this. */
  path?: string;
  /** With the lines between them. */
  graph?: boolean;
  /** Only those of an author whose name or address holds this. */
  author?: string;
  /** Only those after this time. */
  since?: string;
  /** Only those before this time. */
  until?: string;
}

/** A page of commits. */
export interface GitLogResult {
  /** Them, the latest first. */
  commits: GitCommit[];
  /** How many there are in all. */
  total_count: number;
  /** There are more after these. */
  has_more: boolean;
  /** Columns of the graph. */
  max_columns: number;
}

/** What to merge. */
export interface GitMergeParams {
  /** Which branch. */
  branch: string;
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** Make a commit of it even where none is needed. */
  no_ff?: boolean;
  /** What is said about it. */
  message?: string;
}

/** What came of bringing something together. */
export interface GitMergeResult {
  /** It is finished; false while conflicts wait. */
  success: boolean;
  /** What git said. */
  message: string;
  /** The commit that is checked out now. */
  commit_sha: string;
  /** Conflicts wait. */
  has_conflicts: boolean;
  /** Their files. */
  conflicted_files: string[];
}

/** A client had something done with a workspace's repository. */
export interface GitOperationCompleted {
  /** Whose repository. */
  workspace_id: string;
  /** What was done, such as `commit`. */
  operation: string;
  /** It is finished; false also while conflicts wait. */
  success: boolean;
  /** When. */
  timestamp: Timestamp;
  /** What came of it, for people. */
  message?: string;
  /** Why it failed. */
  error?: string;
  /** The commit that was made. */
  sha?: string;
  /** The branch that it was about. */
  branch?: string;
  /** How many files it was about. */
  files_affected?: number;
  /** Commits that went to the remote. */
  commits_pushed?: number;
  /** Commits that came from the remote. */
  commits_pulled?: number;
  /** Files whose conflict waits. */
  conflicted_files?: string[];
  /** The place after it. */
  cursor?: string;
}

/** `git.operation.completed`: a client had something done with a workspace's repository. */
export interface GitOperationCompletedPayload {
  /** Whose repository. */
  workspace_id: WorkspaceId;
  /** What was done, such as `commit`. */
  operation: string;
  /** It is finished; false also while conflicts wait. */
  success: boolean;
  /** What came of it, for people. */
  message?: string;
  /** Why it failed. */
  error?: string;
  /** The commit that was made. */
  sha?: string;
  /** The branch that it was about. */
  branch?: string;
  /** How many files it was about. */
  files_affected?: number;
  /** Commits that went to the remote. */
  commits_pushed?: number;
  /** Commits that came from the remote. */
  commits_pulled?: number;
  /** Files whose conflict waits. */
  conflicted_files?: string[];
}

/** How far a push, pull or fetch is. */
export interface GitOperationProgress {
  /** Whose repository. */
  workspace_id: string;
  /** What is done, such as `push`. */
  operation: string;
  /** The part of it, such as `Writing objects`. */
  phase: string;
  /** When. */
  timestamp: Timestamp;
  /** How much of that part. */
  percent?: number;
}

/** A repository. */
export interface GitParams {
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
}

/** Files and folders. */
export interface GitPathsParams {
  /** Where they are. */
  paths: string[];
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
}

/** How to pull. */
export interface GitPullParams {
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** Put the own commits on top instead of merging. */
  rebase?: boolean;
}

/** What a pull brought. */
export interface GitPullResult {
  /** It is finished; false while conflicts wait. */
  success: boolean;
  /** What git said. */
  message: string;
  /** Commits that are new. */
  commits_pulled: number;
  /** Files that changed. */
  files_changed: number;
  /** Files whose conflict waits. */
  conflicted_files: string[];
}

/** What to push. */
export interface GitPushParams {
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** Replace what is there, unless somebody pushed since it was last seen. */
  force?: boolean;
  /** Follow the pushed branch from now on. */
  set_upstream?: boolean;
  /** Where to; the branch's own remote if absent. */
  remote?: string;
  /** Which branch; the one that is checked out if absent. */
  branch?: string;
}

/** It is pushed. */
export interface GitPushResult {
  /** Always true. */
  success: boolean;
  /** What git said. */
  message: string;
  /** Commits that the remote had not. */
  commits_pushed: number;
  /** Always true. */
  pushed: boolean;
  /** The pushed branch is followed now. */
  upstream_set: boolean;
  /** That branch. */
  upstream?: string;
}

/** A name that points to a commit. */
export interface GitRef {
  /** The name. */
  name: string;
  /** `head`, `local_branch`, `remote_branch` or `tag`. */
  type: string;
}

/** A repository elsewhere. */
export interface GitRemote {
  /** Its name here. */
  name: string;
  /** Where it is fetched from; without a password. */
  fetch_url: string;
  /** Where it is pushed to; without a password. */
  push_url: string;
  /** `github`, `gitlab`, `bitbucket` or `custom`. */
  provider: string;
  /** Its branches, as last seen. */
  tracking_branches: string[];
}

/** A repository elsewhere. */
export interface GitRemoteAddParams {
  /** Its name here. */
  name: string;
  /** Where it is. */
  url: string;
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** Look what it has. */
  fetch?: boolean;
}

/** The repository elsewhere is known. */
export interface GitRemoteAddResult {
  /** Always true. */
  success: boolean;
  /** For people. */
  message: string;
  /** It. */
  remote: GitRemote;
  /** Its branches, if they were looked for. */
  fetched_branches?: string[];
  /** Why they could not be looked for, if they should. */
  fetch_error?: string;
}

/** The repositories elsewhere that are known. */
export interface GitRemoteListResult {
  /** Them. */
  remotes: GitRemote[];
}

/** A repository elsewhere. */
export interface GitRemoteParams {
  /** Its name here. */
  name: string;
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
}

/** The files are in the next commit. */
export interface GitStageResult {
  /** Always true. */
  success: boolean;
  /** What was named. */
  staged: string[];
}

/** Something put aside. */
export interface GitStash {
  /** Its place; the latest is 0. */
  index: number;
  /** Its name. */
  name: string;
  /** The branch it was put aside from. */
  branch: string;
  /** What was said about it. */
  message: string;
}

/** Something put aside. */
export interface GitStashIndexParams {
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** Its place; the latest if absent. */
  index?: number;
}

/** What was put aside. */
export interface GitStashListResult {
  /** Them, the latest first. */
  stashes: GitStash[];
  /** How many. */
  count: number;
}

/** What to put aside. */
export interface GitStashParams {
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** What is said about it. */
  message?: string;
  /** Files that git does not know, too. */
  include_untracked?: boolean;
}

/** Changes are put aside. */
export interface GitStashResult {
  /** Always true. */
  success: boolean;
  /** For people. */
  message: string;
  /** The name of what was put aside. */
  name: string;
}

/** How a repository is, at a glance. */
export interface GitStateResult {
  /** There is a repository. */
  is_git_repo: boolean;
  /** It has a commit. */
  has_commits: boolean;
  /** `no_git`, `git_initialized`, `no_remote`, `no_push`, `synced`, `diverged` or `conflict`. */
  state: string;
  /** The branch; empty when none is checked out. */
  branch: string;
  /** The branch that it follows; empty if none. */
  upstream: string;
  /** Commits that the followed branch has not. */
  ahead: number;
  /** Commits that only the followed branch has. */
  behind: number;
  /** Files that the next commit holds. */
  staged_count: number;
  /** Files that it does not hold yet. */
  unstaged_count: number;
  /** Files that git does not know. */
  untracked_count: number;
  /** Conflicts wait. */
  has_conflicts: boolean;
  /** The repositories elsewhere that it knows. */
  remotes: GitRemote[];
  /** There is one. */
  has_remote: boolean;
  /** The first of them; empty if none. */
  remote: string;
  /** The branch follows another. */
  has_upstream: boolean;
  /** The folder's name. */
  repo_name: string;
  /** The folder. */
  repo_root: string;
}

/** The state of a workspace's repository. */
export interface GitStatusChanged {
  /** Whose. */
  workspace_id: string;
  /** The branch; empty if none is checked out. */
  branch: string;
  /** Commits that the followed branch has not. */
  ahead: number;
  /** Commits that only the followed branch has. */
  behind: number;
  /** Files that would be committed. */
  staged_count: number;
  /** Files that changed. */
  unstaged_count: number;
  /** Files that git does not know. */
  untracked_count: number;
  /** Conflicts wait. */
  has_conflicts: boolean;
  /** All of these files, as far as they fit. */
  changed_files: string[];
  /** When. */
  timestamp: Timestamp;
}

/** How a working copy is. */
export interface GitStatusResult {
  /** The branch; empty when none is checked out. */
  branch: string;
  /** The branch that it follows. */
  upstream?: string;
  /** Commits that the followed branch has not. */
  ahead: number;
  /** Commits that only the followed branch has. */
  behind: number;
  /** What the next commit holds. */
  staged: GitFile[];
  /** What it does not hold yet. */
  unstaged: GitFile[];
  /** Files that git does not know. */
  untracked: GitFile[];
  /** Files whose conflict waits. */
  conflicted: GitFile[];
  /** Nothing changed. */
  is_clean: boolean;
  /** So many files are left out, because they do not fit into an answer. */
  omitted?: number;
  /** The folder's name. */
  repo_name: string;
  /** The folder. */
  repo_root: string;
}

/** The files are not in the next commit. */
export interface GitUnstageResult {
  /** Always true. */
  success: boolean;
  /** What was named. */
  unstaged: string[];
}

/** What to follow. */
export interface GitUpstreamParams {
  /** The branch. */
  branch: string;
  /** The branch that it shall follow, such as `origin/main`. */
  upstream: string;
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
}

/** A search in files that is wanted no more. */
export interface GrepCancelParams {
  /** Which. */
  grep_id: string;
}

/** A search in files ended. */
export interface GrepCompleted {
  /** The search. */
  grep_id: string;
  /** Lines with a match. */
  total_matches: number;
  /** Files with a match. */
  matched_files: number;
  /** Files that were looked into. */
  searched_files: number;
  /** There is more than the limit. */
  truncated: boolean;
  /** It was cancelled before its end. */
  cancelled: boolean;
  /** How long it took. */
  elapsed_ms: number;
  /** When. */
  timestamp: Timestamp;
}

/** What was found in a file. */
export interface GrepFile {
  /** Where it is. */
  path: string;
  /** Lines with a match and those around them. */
  lines: GrepLine[];
  /** Lines with a match among them. */
  match_count: number;
  /** The file has more of them. */
  truncated: boolean;
}

/** A line of a file. */
export interface GrepLine {
  /** Its number, from 1. */
  line: number;
  /** What it says, or the part around its first match if it is long. */
  text: string;
  /** Where the matches are in `text`; none in a line of context. */
  matches: GrepSpan[];
  /** It says more than `text`. */
  truncated: boolean;
}

/** What is searched for in files. */
export interface GrepParams {
  /** Text, or a regular expression. */
  pattern: string;
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** It is a regular expression. */
  regex?: boolean;
  /** Whether capitals matter; if absent, those of the pattern do. */
  case_sensitive?: boolean;
  /** Only whole words. */
  whole_words?: boolean;
  /** Only beneath this folder. */
  directory?: string;
  /** Only these extensions. */
  extensions?: string[];
  /** Only files that git tracks. */
  git_tracked_only?: boolean;
  /** Lines shown before and after each match. */
  context_lines?: number;
  /** Lines with a match at most. */
  limit?: number;
  /** Lines with a match of one file at most. */
  limit_per_file?: number;
  /** What is found comes as `grep_results` while it is found, and the answer at once. */
  stream?: boolean;
}

/** What a search in files came to, or that it goes on. */
export interface GrepResult {
  /** Its id, to cancel it. */
  grep_id: string;
  /** `started` if what is found comes as events, else `completed`. */
  status: string;
  /** What was found, in the order of the paths; nothing if it comes as events. */
  files: GrepFile[];
  /** Lines with a match. */
  total_matches: number;
  /** Files with a match. */
  matched_files: number;
  /** Files that were looked into. */
  searched_files: number;
  /** There is more than the limit. */
  truncated: boolean;
  /** How long it took. */
  elapsed_ms: number;
}

/** Some of what was found in files. */
export interface GrepResults {
  /** The search. */
  grep_id: string;
  /** In the order of the paths, after what was sent before. */
  files: GrepFile[];
  /** When. */
  timestamp: Timestamp;
}

/** Where a match is in its line. */
export interface GrepSpan {
  /** Its first byte. */
  start: number;
  /** The byte after its last. */
  end: number;
}

/** The daemon is there. */
export interface HealthResult {
  /** `ok`, or `stalled` while nothing can be recorded. */
  status: string;
  /** It can do its work. */
  healthy: boolean;
  /** How long the daemon runs. */
  uptime_seconds: number;
}

/** The connection lives. */
export interface Heartbeat {
  /** The daemon's clock. */
  server_time: Timestamp;
  /** Counts up. */
  sequence: number;
  /** `idle`, `running` or `waiting`. */
  claude_status: string;
  /** How long the daemon runs. */
  uptime_seconds: number;
  /** When it was sent. */
  timestamp?: Timestamp;
}

/** One session of a workspace. */
export interface HistoryItem {
  /** Its id. */
  session_id: string;
  /** Its workspace. */
  workspace_id: string;
  /** Its runtime. */
  agent_type: string;
  /** A name for people. */
  summary: string;
  /** Messages so far; 0 where only its runtime keeps it, which does not count them. */
  message_count: number;
  /** When it last changed. */
  last_updated: Timestamp;
  /** Its folder. */
  project_path: string;
  /** `running` or `historical`. */
  status: string;
  /** Who keeps it. */
  source: KeptBy;
  /** When it began. */
  started_at: Timestamp;
  /** When it last changed. */
  last_active: Timestamp;
  /** Who looks at it. */
  viewers: string[];
}

/** The sessions of a workspace. */
export interface HistoryParams {
  /** Which. */
  workspace_id: string;
  /** How many at most; 50 if absent. */
  limit?: number;
  /** How many to pass over. */
  offset?: number;
  /** Of this runtime. */
  agent_type?: string;
}

/** The sessions of a workspace, the latest first. */
export interface HistoryResult {
  /** Them. */
  sessions: HistoryItem[];
  /** How many there are in all. */
  total: number;
  /** What could not be looked at, and why. */
  notices?: string[];
}

/** An index to be made anew. */
export interface IndexRebuildParams {
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** Also while it is being made; changes nothing, since one look at the files is enough. */
  force?: boolean;
}

/** What became of the wish for a new index. */
export interface IndexRebuildResult {
  /** In a word. */
  status: RebuildWord;
  /** For people. */
  message: string;
}

/** How a workspace's index is. */
export interface IndexStatusResult {
  /** In a word. */
  status: IndexWord;
  /** Files that it knows. */
  total_files: number;
  /** The same: a file is known whole or not at all. */
  indexed_files: number;
  /** Bytes of all files. */
  total_size_bytes: number;
  /** When all files were looked at. */
  last_full_scan?: Timestamp;
  /** When it changed. */
  last_update?: Timestamp;
  /** The same, by the name that some clients read. */
  last_indexed_at?: Timestamp;
  /** Bytes of memory that it takes. */
  database_size_bytes: number;
  /** The same, by the name that some clients read. */
  index_size_bytes: number;
  /** The workspace lies in a git repository. */
  is_git_repo: boolean;
  /** How far it is, from 0 to 1. */
  progress: number;
  /** A watcher keeps it up to date. */
  is_live: boolean;
  /** Files that it leaves out because their names are no text. */
  unnamed_files: number;
  /** What is wrong. */
  error_message?: string;
}

/** How an index is. */
export type IndexWord =
  /** Nothing was looked at yet. */
  | "initializing"
  /** The files are looked at. */
  | "indexing"
  /** It can be searched. */
  | "ready"
  /** The files cannot be looked at. */
  | "error";

/** What a client says of itself; both spellings of each field are understood. */
export interface InitializeParams {
  /** The version it speaks: `1.x`. */
  protocol_version?: string;
  /** Its name. */
  client_info?: ClientInfo;
  /** What it can do. */
  capabilities?: unknown;
  /** Its working directory. */
  root_path?: string;
}

/** What the server is and can do. */
export interface InitializeResult {
  /** The version that will be spoken. */
  protocolVersion: string;
  /** Who answers. */
  serverInfo: ServerInfo;
  /** The same, for clients that look for it in snake case. */
  server_info: ServerInfo;
  /** What there is. */
  capabilities: ServerCapabilities;
  /** This connection's id. */
  clientId: string;
}

/** Whether somebody can be asked while a task runs. */
export type InteractionMode =
  /** A person may answer. */
  | "interactive"
  /** Nobody answers; nothing may wait for a terminal. */
  | "non_interactive";

/** How much of the user's own home a runtime shares. */
export type IsolationLevel =
  /** The user's own home and XDG directories. */
  | "shared"
  /** Directories of the credential namespace, kept between sessions. */
  | "namespaced"
  /** Directories of one session, removed at its end. */
  | "ephemeral";

/** Who keeps a session. */
export type KeptBy =
  /** Roost. */
  | "managed"
  /** Only its runtime: it began in a terminal, and goes on here when it is prompted. */
  | "history";

/** How much there is of a language. */
export interface LanguageStats {
  /** Its name. */
  language: string;
  /** Files. */
  files: number;
  /** Lines. */
  lines: number;
  /** Bytes. */
  bytes: number;
  /** Its part of the bytes, in percent. */
  percentage: number;
}

/** One block of a line. */
export interface LineBlock {
  /** `text`, `tool_use` or `tool_result`. */
  type: string;
  /** The text. */
  text?: string;
  /** The tool. */
  tool_name?: string;
  /** Which call. */
  tool_id?: string;
  /** The tool's input as JSON text. */
  tool_input?: string;
}

/** What happens to a line. */
export type LineChange =
  /** It stays. */
  | "context"
  /** It is new. */
  | "added"
  /** It goes. */
  | "removed";

/** An answer that is remembered. */
export interface ListedRule {
  /** Under which it is removed. */
  rule_id: string;
  /** The calls that it covers, for people. */
  covers: string;
  /** When the answer was given. */
  made_at: Timestamp;
  /** The answer itself: where it counts, what it says and who gave it. */
  rule: RememberedRule;
}

/** A page of a session's events. */
export interface LogReadParams {
  /** Which session. */
  session_id: string;
  /** After this event; 0 if absent. */
  after_seq?: number;
  /** How many at most; 1000 if absent. */
  limit?: number;
}

/** A page of a session's events. */
export interface LogReadResult {
  /** Them, as they are stored. */
  events: NormalizedEvent[];
  /** The last one here; ask again after it. */
  last_seq: number;
  /** There are more. */
  has_more: boolean;
}

/** Where a line comes from. */
export type LogStream =
  /** The agent's output. */
  | "stdout"
  /** Beside it. */
  | "stderr";

/** A runtime's part in MCP. */
export type McpSupport =
  /** None. */
  | "none"
  /** It calls servers. */
  | "client_only"
  /** It is a server. */
  | "server_only"
  /** Both. */
  | "both";

/** An MCP transport. */
export type McpTransport =
  /** A child process. */
  | "stdio"
  /** Server-sent events. */
  | "sse"
  /** Streamable HTTP. */
  | "http";

/** A message of a session's history. */
export interface Message {
  /** Its place in the session. */
  id: number;
  /** Which session. */
  session_id: SessionId;
  /** Who speaks. */
  type: Speaker;
  /** The same in the history and in the live event. */
  uuid: string;
  /** When. */
  timestamp: Timestamp;
  /** What was said. */
  message: Said;
  /** It sums up a context that was too long; Roost's log has none such. */
  is_context_compaction: boolean;
  /** It is not for people; Roost's log has none such. */
  is_meta: boolean;
}

/** One block of a message. */
export type MessageBlock =
  /** Text. */
  | { type: "text"; text: string }
  /** The agent calls a tool, or asks a question. */
  | { type: "tool_use"; tool_name: string; tool_id: string; tool_input: Record<string, unknown> }
  /** What became of it. */
  | { type: "tool_result"; tool_use_id: string; content: string; is_error: boolean };

/** A page of messages. */
export interface MessagesParams {
  /** Of which session. */
  session_id: string;
  /** Its workspace. */
  workspace_id?: string;
  /** Its runtime. */
  agent_type?: string;
  /** How many at most: 50 if absent, 500 at most. */
  limit?: number;
  /** How many to pass over. */
  offset?: number;
  /** The order that limit and offset count in. */
  order?: Order;
}

/** A page of messages; shorter than asked for where a frame would grow too big. */
export interface MessagesResult {
  /** Of which session. */
  session_id: string;
  /** Them. */
  messages: Message[];
  /** How many there are in all. */
  total: number;
  /** How many were asked for. */
  limit: number;
  /** How many were passed over. */
  offset: number;
  /** There are more after these. */
  has_more: boolean;
  /** How long it took. */
  query_time_ms: number;
}

/** How much a session may do unasked. */
export type Mode =
  /** Reads are allowed; write, network and dangerous calls are denied. */
  | "plan"
  /** Reads are allowed; the rest asks. */
  | "ask"
  /** Edits inside the workspace are allowed; the rest asks. */
  | "accept_edits"
  /** Write and network are allowed; dangerous calls ask. */
  | "auto"
  /** Everything is allowed. */
  | "yolo";

/** `model.input`: the canonical input that went to the runtime. */
export interface ModelInputPayload {
  /** The input's bytes. */
  input_ref?: ArtifactRef;
  /** `sha256:<hex>` of the canonical input. */
  input_hash: string;
  /** What of the transcript it holds. */
  context_window: ContextWindow;
  /** Files the runtime reads by itself. */
  implicit_sources_ref?: ArtifactRef;
}

/** `model.output.completed`: a finished answer. */
export interface ModelOutputCompletedPayload {
  /** Its blocks. */
  content: AssistantContentBlock[];
}

/** What a delta is a piece of. */
export type ModelOutputDeltaKind =
  /** The answer. */
  | "text_delta"
  /** A tool's input while it is written. */
  | "json_delta"
  /** Source code. */
  | "code_delta"
  /** The agent's thinking (not in the seed). */
  | "reasoning_delta"
  /** Something else. */
  | "unknown_delta";

/** `model.output.delta`: a piece of output. */
export interface ModelOutputDeltaPayload {
  /** What it is a piece of. */
  kind: ModelOutputDeltaKind;
  /** The block it belongs to; stable within a task. */
  block_id: string;
  /** The piece. */
  delta: string;
  /** The tool call whose input it is. */
  tool_call_id?: ToolCallId;
  /** The language of code. */
  language?: string;
}

/** No parameters. */
export type NoParams = Record<string, never>;

/** One durable fact, as stored and as sent. */
export type NormalizedEvent = {
  /** The version of the payload shapes. */
  schema_version: number;
  /** Its place in the session's stream, from 1 without a gap. */
  seq: number;
  /** When it happened. */
  time: Timestamp;
  /** Whose it is. */
  trace: Trace;
  /** Where it comes from. */
  runtime: RuntimeRef;
} & (
  /** `session.created` */
  | { type: "session.created"; payload: SessionCreatedPayload }
  /** `task.started` */
  | { type: "task.started"; payload: TaskStartedPayload }
  /** `model.input` */
  | { type: "model.input"; payload: ModelInputPayload }
  /** `runtime.request.started` */
  | { type: "runtime.request.started"; payload: RuntimeRequestStartedPayload }
  /** `runtime.request.completed` */
  | { type: "runtime.request.completed"; payload: RuntimeRequestCompletedPayload }
  /** `model.output.delta` */
  | { type: "model.output.delta"; payload: ModelOutputDeltaPayload }
  /** `model.output.completed` */
  | { type: "model.output.completed"; payload: ModelOutputCompletedPayload }
  /** `tool.call.requested` */
  | { type: "tool.call.requested"; payload: ToolCallRequestedPayload }
  /** `tool.call.policy_evaluated` */
  | { type: "tool.call.policy_evaluated"; payload: ToolCallPolicyEvaluatedPayload }
  /** `tool.call.approved` */
  | { type: "tool.call.approved"; payload: ToolCallApprovedPayload }
  /** `tool.call.denied` */
  | { type: "tool.call.denied"; payload: ToolCallDeniedPayload }
  /** `tool.call.started` */
  | { type: "tool.call.started"; payload: ToolCallStartedPayload }
  /** `tool.output.delta` */
  | { type: "tool.output.delta"; payload: ToolOutputDeltaPayload }
  /** `tool.output.completed` */
  | { type: "tool.output.completed"; payload: ToolOutputCompletedPayload }
  /** `tool.call.completed` */
  | { type: "tool.call.completed"; payload: ToolCallCompletedPayload }
  /** `usage.reported` */
  | { type: "usage.reported"; payload: UsageReportedPayload }
  /** `task.completed` */
  | { type: "task.completed"; payload: TaskCompletedPayload }
  /** `task.failed` */
  | { type: "task.failed"; payload: TaskFailedPayload }
  /** `task.stopped` */
  | { type: "task.stopped"; payload: TaskStoppedPayload }
  /** `session.updated` */
  | { type: "session.updated"; payload: SessionUpdatedPayload }
  /** `session.closed` */
  | { type: "session.closed"; payload: SessionClosedPayload }
  /** `question.asked` */
  | { type: "question.asked"; payload: QuestionAskedPayload }
  /** `question.resolved` */
  | { type: "question.resolved"; payload: QuestionResolvedPayload }
  /** `plan.updated` */
  | { type: "plan.updated"; payload: PlanUpdatedPayload }
  /** `runtime.notice` */
  | { type: "runtime.notice"; payload: RuntimeNoticePayload }
  /** `approval.requested` */
  | { type: "approval.requested"; payload: ApprovalRequestedPayload }
  /** `approval.resolved` */
  | { type: "approval.resolved"; payload: ApprovalResolvedPayload }
  /** `workspace.added` */
  | { type: "workspace.added"; payload: WorkspaceAddedPayload }
  /** `workspace.updated` */
  | { type: "workspace.updated"; payload: WorkspaceUpdatedPayload }
  /** `workspace.removed` */
  | { type: "workspace.removed"; payload: WorkspaceRemovedPayload }
  /** `device.paired` */
  | { type: "device.paired"; payload: DevicePairedPayload }
  /** `device.revoked` */
  | { type: "device.revoked"; payload: DeviceRevokedPayload }
  /** `git.operation.completed` */
  | { type: "git.operation.completed"; payload: GitOperationCompletedPayload }
  /** `git.branch.changed` */
  | { type: "git.branch.changed"; payload: GitBranchChangedPayload }
  /** `pairing.locked` */
  | { type: "pairing.locked"; payload: PairingLockedPayload }
  /** `rule.removed` */
  | { type: "rule.removed"; payload: RuleRemovedPayload }
);

/** How much a notice matters. */
export type NoticeLevel =
  /** Good to know. */
  | "info"
  /** Something was odd. */
  | "warning"
  /** Something went wrong. */
  | "error";

/** Where a notice comes from. */
export type NoticeSource =
  /** A line on stdout that is not protocol. */
  | "stdout"
  /** A line on stderr. */
  | "stderr"
  /** A protocol message that means nothing to us; kept raw. */
  | "protocol"
  /** Roost itself. */
  | "engine";

/** The task that runs now. */
export interface OpenTask {
  /** Which task. */
  task_id: TaskId;
  /** Its first event. */
  first_seq: number;
  /** Since when. */
  started_at: Timestamp;
}

/** The order of a page. */
export type Order =
  /** The oldest first. */
  | "asc"
  /** The newest first. */
  | "desc";

/** A tool's output stream. */
export type OutputStream =
  /** Standard output. */
  | "stdout"
  /** Standard error. */
  | "stderr";

/** How a new device may be paired. */
export interface PairParams {
  /** What it may do; operate if absent. */
  scope?: Scope;
}

/** What a device needs to be paired; what the QR code holds, and more. */
export interface PairResult {
  /** Where to connect to. */
  ws: string;
  /** Where to send requests to. */
  http: string;
  /** This run of the daemon. */
  session: string;
  /** The default workspace's name. */
  repo: string;
  /** To be exchanged once. */
  token: string;
  /** Until when. */
  token_expires_at: Timestamp;
  /** The same as six digits, for typing. */
  code: string;
  /** The page that shows all this. */
  page: string;
  /** The certificate's SHA-256, where it is self-signed. */
  fingerprint?: string;
}

/** `pairing.locked`: an address sent too many wrong pairing codes, and none of its tries counts until another code is shown. */
export interface PairingLockedPayload {
  /** Where they came from. */
  address: string;
  /** How many of them came from there. */
  wrong_tries: number;
  /** Together with those of other addresses they were so many that the code itself is no longer good. */
  code_withdrawn: boolean;
}

/** What a line says. */
export interface ParsedLine {
  /** `user`, `assistant`, `system` or `result`. */
  type: string;
  /** Its blocks. */
  content: LineBlock[];
  /** The session. */
  session_id?: string;
  /** Why the turn ends. */
  stop_reason?: string;
  /** The model that said it. */
  model?: string;
  /** It was thought and not said. */
  is_thinking?: boolean;
  /** It sums up a context that was too long. */
  is_context_compaction?: boolean;
  /** Tokens written. */
  output_tokens?: number;
  /** What it cost. */
  cost_usd?: number;
}

/** A row of the table of what waits. */
export interface Pending {
  /** The session that waits. */
  session_id: SessionId;
  /** Its task. */
  task_id?: TaskId;
  /** Since when. */
  asked_at: Timestamp;
  /** For what. */
  ask: PendingAsk;
}

/** Something that waits for a person. */
export type PendingAsk =
  /** A tool call. */
  | { approval: ApprovalRequestedPayload }
  /** A question. */
  | { question: QuestionAskedPayload };

/** Where to look. */
export interface PendingParams {
  /** Only in this session. */
  session_id?: string;
}

/** Something that waits for an answer. */
export interface PendingRequest {
  /** Under which it is answered. */
  tool_use_id: string;
  /** In which session. */
  session_id: string;
  /** Its workspace; empty if its folder is none. */
  workspace_id: string;
  /** The tool, or `AskUserQuestion`. */
  tool_name: string;
  /** Its input. */
  tool_input: unknown;
  /** Since when. */
  created_at: Timestamp;
  /** Its runtime. */
  agent_type: string;
  /** Everything that is known of it. */
  pending: Pending;
}

/** What waits for an answer, the oldest first. */
export interface PendingResult {
  /** It. */
  requests: PendingRequest[];
  /** How many. */
  count: number;
}

/** Yes or no. */
export type PermissionDecision =
  /** It may run. */
  | "allow"
  /** It may not. */
  | "deny";

/** The seed's three permission modes, shown in events as `permission_mode`. */
export type PermissionMode =
  /** Ask before anything that is not a read. */
  | "ask"
  /** Run safe tools unasked. */
  | "auto"
  /** Run everything unasked. */
  | "yolo";

/** Who decides whether a tool may run. */
export type PermissionModel =
  /** The host alone. */
  | "codesdk"
  /** The runtime alone. */
  | "runtime"
  /** The runtime asks the host for some calls. */
  | "hybrid";

/** One answer that can be given. */
export interface PermissionOption {
  /** `allow_once`, `allow_session` or `deny`. */
  key: string;
  /** What people read. */
  label: string;
  /** It is the first choice. */
  selected: boolean;
  /** What it covers. */
  description?: string;
}

/** The answer to a tool call that waits. */
export interface PermissionRespondParams {
  /** Which call. */
  tool_use_id: string;
  /** The answer. */
  decision: PermissionDecision;
  /** For how long it counts; once if absent. */
  scope?: ApprovalScope;
  /** The session, where the id alone is not enough. */
  session_id?: string;
  /** Why not, for the agent to read. */
  reason?: string;
  /** The input to run with instead. */
  updated_input?: unknown;
  /** The attempt that was seen; refused if it is another by now. */
  attempt?: number;
  /** The input that was seen; refused if it is another by now. */
  input_hash?: string;
  /** The same for every repetition of the same answer. */
  key?: string;
}

/** How much was answered for longer than once. */
export interface PermissionStats {
  /** Sessions with remembered answers. */
  active_sessions: number;
  /** Remembered answers. */
  total_patterns: number;
  /** What waits. */
  pending_requests: number;
}

/** One step of a plan. */
export interface PlanEntry {
  /** What is to be done. */
  content: string;
  /** How much it matters. */
  priority: PlanPriority;
  /** How far it is. */
  status: PlanStatus;
}

/** How much a step of a plan matters. */
export type PlanPriority =
  /** Much. */
  | "high"
  /** Some. */
  | "medium"
  /** Little. */
  | "low";

/** How far a step of a plan is. */
export type PlanStatus =
  /** Not begun. */
  | "pending"
  /** Under way. */
  | "in_progress"
  /** Done. */
  | "completed";

/** `plan.updated`: the whole plan as it now stands. */
export interface PlanUpdatedPayload {
  /** Its steps. */
  entries: PlanEntry[];
}

/** What was decided in the end. */
export type PolicyDecision =
  /** It may run. */
  | "allow"
  /** It may not run. */
  | "deny";

/** What one layer says. */
export type PolicyResult =
  /** It may run. */
  | "allow"
  /** It may not run. */
  | "deny"
  /** Somebody must be asked. */
  | "ask";

/** A layer that has a say about a tool call. */
export type PolicySource =
  /** The runtime's own rules. */
  | "runtime"
  /** Roost's rules. */
  | "codesdk"
  /** A person. */
  | "user";

/** Whether somebody can be asked. */
export type Presence =
  /** Whoever watches may answer; what is asked waits. */
  | "present"
  /** The sender is alone; what would be asked is denied at once. */
  | "nobody";

/** A prompt that waits for its turn. */
export type PromptId = string;

/** An image: its bytes, or at the local door the file that holds them. */
export interface PromptImage {
  /** Its bytes in base64. */
  data?: string;
  /** Its file, for the local door. */
  path?: string;
  /** Its media type; refused if the bytes are something else. */
  media_type?: string;
  /** A file name for people. */
  name?: string;
}

/** A tool call waits for an answer; answer it with `permission/respond`. */
export interface PtyPermission {
  /** Which call. */
  tool_use_id: string;
  /** `bash_command`, `write_file`, `edit_file`, `delete_file`, `read_file`, `mcp_tool` or `tool_use`. */
  type: string;
  /** The command, file or address. */
  target: string;
  /** What it asks for, for people. */
  description: string;
  /** What it would do. */
  preview: string;
  /** The answers that can be given. */
  options: PermissionOption[];
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace. */
  workspace_id?: string;
  /** The place after it; what is not kept has none. */
  cursor?: string;
}

/** What waited for an answer waits no more. */
export interface PtyPermissionResolved {
  /** Which call or question. */
  tool_use_id: string;
  /** Who answered, or why nobody needs to. */
  resolved_by: string;
  /** What came of it. */
  decision: PermissionDecision;
  /** For how long it counts. */
  scope?: ApprovalScope;
  /** Who answered, and from where. */
  answered_by?: Answerer;
  /** Why. */
  reason?: string;
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace. */
  workspace_id?: string;
  /** The place after it; what is not kept has none. */
  cursor?: string;
}

/** What a terminal would show. */
export interface PtyState {
  /** It. */
  state: TerminalState;
  /** Something can be said. */
  waiting_for_input: boolean;
  /** What is waited for. */
  prompt_type?: TerminalState;
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace. */
  workspace_id?: string;
  /** The place after it; what is not kept has none. */
  cursor?: string;
}

/** `question.asked`: the agent asks the user. */
export interface QuestionAskedPayload {
  /** Which question. */
  question_id: QuestionId;
  /** What it asks. */
  message: string;
  /** What an answer holds. */
  fields: QuestionField[];
  /** The tool call that asks. */
  tool_call_id?: ToolCallId;
}

/** One field of a question. */
export interface QuestionField {
  /** The key of the answer. */
  id: string;
  /** What people read. */
  label: string;
  /** The choices; none means free text. */
  options?: QuestionOption[];
  /** Several choices may be taken. */
  multiple?: boolean;
  /** It must be answered. */
  required?: boolean;
}

/** A question that a runtime put to the user. */
export type QuestionId = string;

/** One choice of a question. */
export interface QuestionOption {
  /** What is sent back. */
  value: string;
  /** What people read. */
  label: string;
  /** More about it. */
  description?: string;
}

/** What came of a question. */
export type QuestionOutcome =
  /** It was answered. */
  | "answered"
  /** Somebody refused to answer, or nobody could. */
  | "declined"
  /** The task ended first. */
  | "cancelled";

/** `question.resolved`: the question is no longer open. */
export interface QuestionResolvedPayload {
  /** Which question. */
  question_id: QuestionId;
  /** What came of it. */
  outcome: QuestionOutcome;
  /** The answers by field. */
  answers?: Record<string, string[]>;
  /** Who answered. */
  answered_by?: Answerer;
  /** Why it was not answered. */
  reason?: string;
}

/** A prompt that waits for the running task to end. */
export interface QueuedPrompt {
  /** Which prompt. */
  prompt_id: PromptId;
  /** What the user said. */
  message: TranscriptMessage;
  /** It was queued before a restart and waits for somebody to release it. */
  held?: boolean;
}

/** What became of the wish for a new index. */
export type RebuildWord =
  /** It is begun. */
  | "started"
  /** It was begun before. */
  | "already_indexing";

/** An answer that counts for longer than once. */
export interface RememberedRule {
  /** For how long it counts; never once. */
  scope: ApprovalScope;
  /** What was said. */
  decision: PolicyDecision;
  /** The calls that are meant. */
  pattern: CallPattern;
  /** The session, for an answer that counts for one. */
  session_id?: SessionId;
  /** The workspace's root, for an answer that counts for one. */
  workspace?: string;
  /** Who gave the answer; absent in records of older versions. */
  by?: Answerer;
}

/** A file of the index. */
export interface RepositoryFile {
  /** Where it is. */
  path: string;
  /** Its name. */
  name: string;
  /** The folder that it lies in; empty for the workspace's own. */
  directory: string;
  /** What follows the last dot of its name. */
  extension?: string;
  /** Its bytes. */
  size_bytes: number;
  /** When it last changed. */
  modified_at: Timestamp;
  /** When this was looked up. */
  indexed_at: Timestamp;
  /** It holds no text. */
  is_binary: boolean;
  /** It is a link. */
  is_symlink: boolean;
  /** Its name says that it holds secrets. */
  is_sensitive: boolean;
  /** Git tracks it. */
  git_tracked: boolean;
  /** Git ignores it; never so in the index, which leaves out what git ignores. */
  git_ignored: boolean;
  /** Its lines, once they were counted. */
  line_count?: number;
  /** How well it fits the query, from 0 to 1. */
  match_score?: number;
}

/** A folder of the index. */
export interface RepositoryFolder {
  /** Where it is. */
  path: string;
  /** Its name. */
  name: string;
  /** Files beneath it. */
  file_count: number;
  /** Folders in it. */
  folder_count: number;
  /** Their bytes. */
  total_size_bytes: number;
  /** When the latest of them was changed. */
  last_modified: Timestamp;
}

/** A folder to be listed. */
export interface RepositoryListParams {
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** The folder; the workspace's own if absent. */
  directory?: string;
  /** Also what is in its folders. */
  recursive?: boolean;
  /** So many files at most. */
  limit?: number;
  /** After so many. */
  offset?: number;
  /** By what they are sorted. */
  sort_by?: FileSort;
  /** Which end comes first. */
  sort_order?: SortOrder;
  /** Only these extensions. */
  extensions?: string[];
  /** Only files of at least so many bytes. */
  min_size?: number;
  /** Only files of at most so many bytes. */
  max_size?: number;
}

/** What is in a folder. */
export interface RepositoryListResult {
  /** Where it is. */
  directory: string;
  /** Some of its files. */
  files: RepositoryFile[];
  /** Its folders. */
  directories: RepositoryFolder[];
  /** How many files there are. */
  total_files: number;
  /** How many folders there are. */
  total_directories: number;
  /** Where the page of files stands. */
  pagination: FilesPage;
}

/** A workspace's files. */
export interface RepositoryParams {
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
}

/** What a workspace is made of. */
export interface RepositoryStats {
  /** Files. */
  total_files: number;
  /** Folders. */
  total_directories: number;
  /** Bytes. */
  total_size_bytes: number;
  /** Lines of all texts. */
  total_lines: number;
  /** How many files of each extension, of the most frequent ones. */
  files_by_extension: Record<string, unknown>;
  /** The largest files. */
  largest_files: RepositoryFile[];
  /** The files that were changed last. */
  recently_modified: RepositoryFile[];
  /** Files that git tracks. */
  git_tracked_files: number;
  /** Always 0: what git ignores is not in the index. */
  git_ignored_files: number;
  /** Files that are no text. */
  binary_files: number;
  /** Files whose names say that they hold secrets. */
  sensitive_files: number;
  /** The languages, that with the most bytes first. */
  languages: LanguageStats[];
}

/** One request to a runtime or of a client. */
export type RequestId = string;

/** How a request to a runtime ended. */
export type RequestStatus =
  /** It was answered. */
  | "ok"
  /** It was answered with an error. */
  | "error";

/** How an ended session is continued. */
export type ResumeModel =
  /** The runtime continues it by its own id. */
  | "native"
  /** The host rebuilds the context from its transcript. */
  | "reconstruct"
  /** Not at all. */
  | "none";

/** The answers that are remembered, the oldest first. */
export interface RuleListResult {
  /** Those that still count. */
  rules: ListedRule[];
}

/** A remembered answer to remove. */
export interface RuleRemoveParams {
  /** The id under which it is listed. */
  rule_id: string;
}

/** `rule.removed`: a remembered answer counts no longer, so calls like it are asked about again. */
export interface RuleRemovedPayload {
  /** The id under which it was listed. */
  rule_id: string;
  /** The answer that is gone. */
  rule: RememberedRule;
  /** Who removed it. */
  removed_by: Answerer;
}

/** Whether a prompt begins a session or goes on with one. */
export type RunMode =
  /** It begins one. */
  | "new"
  /** It goes on with one. */
  | "continue";

/** Whether a runtime can be used on this machine. */
export interface RuntimeAvailability {
  /** It is there. */
  installed: boolean;
  /** Its version, when it tells. */
  version?: string;
  /** Its user is logged in, as far as can be known without the network. */
  loggedIn: boolean;
  /** Whether and how, in words: `yes, by a key`, `yes, by an account`, `no` or `unknown`. */
  login?: string;
  /** Why it cannot be used, and what to do. */
  reason?: string;
}

/** What a runtime can do, as observed and not as advertised by us. */
export interface RuntimeCapabilities {
  /** Output arrives in deltas. */
  supportsStreaming: boolean;
  /** Tool calls are visible. */
  supportsToolCalls: boolean;
  /** Several tool calls may be open at once. */
  supportsParallelToolCalls: boolean;
  /** A running task can be stopped. */
  supportsStop: boolean;
  /** Artifacts can be passed. */
  supportsArtifacts: boolean;
  /** New sessions can be made. */
  supportsSessionCreate: boolean;
  /** Ended sessions can be continued natively. */
  supportsSessionResume: boolean;
  /** Token usage is reported. */
  supportsUsageReporting: boolean;
  /** The runtime works with nobody at the terminal. */
  supportsNonInteractive: boolean;
  /** Most tool calls open at once in a task; at least 1. */
  maxOutstandingToolCalls?: number;
  /** How its user logs in. */
  authModel: AuthModel;
  /** Who executes tools. */
  toolExecutionModel: ToolExecutionModel;
  /** Who decides about tools. */
  permissionModel: PermissionModel;
  /** Where its state lives. */
  stateModel: RuntimeStateModel;
  /** How a session is continued. */
  resumeModel: ResumeModel;
  /** Whether a tool call may be repeated. */
  toolReplaySafety: ToolReplaySafety;
  /** Its part in MCP. */
  mcpSupport: McpSupport;
  /** The MCP transports it speaks. */
  mcpTransports?: McpTransport[];
  /** What cancelling promises. */
  cancellationModel: CancellationModel;
  /** How it may be hosted. */
  supportedIsolationModes: RuntimeIsolationMode[];
  /** How it should be hosted. */
  recommendedIsolationMode: RuntimeIsolationMode;
}

/** One runtime of the registry. */
export interface RuntimeEntry {
  /** Its stable id. */
  id: string;
  /** Its name for people. */
  displayName: string;
  /** Whether it may be used. */
  status: RuntimeStatus;
  /** Where its sessions are listed. */
  sessionListSource: SessionListSource;
  /** Where its messages are read. */
  sessionMessagesSource: SessionSource;
  /** Where its sessions are followed. */
  sessionWatchSource: SessionSource;
  /** A client must activate the workspace before it resumes. */
  requiresWorkspaceActivationOnResume: boolean;
  /** A client must wait until the session's id is resolved. */
  requiresSessionResolutionOnNewSession: boolean;
  /** Past sessions can be continued. */
  supportsResume: boolean;
  /** It asks questions. */
  supportsInteractiveQuestions: boolean;
  /** It asks for permission. */
  supportsPermissions: boolean;
  /** The methods behind its operations. */
  methods: RuntimeMethods;
  /** What it can do, in seed 001's words (additive). */
  capabilities: RuntimeCapabilities;
  /** Whether it can be used on this machine (additive); absent where nobody looked. */
  availability?: RuntimeAvailability;
}

/** How a runtime is hosted. */
export type RuntimeIsolationMode =
  /** In the host's own process. */
  | "in_process"
  /** In a process with its own environment. */
  | "subprocess"
  /** On a server that is there already. */
  | "server_side";

/** The RPC method behind each operation of a runtime. */
export interface RuntimeMethods {
  /** Lists past sessions. */
  history: string;
  /** Reads messages. */
  messages: string;
  /** Follows a session. */
  watch: string;
  /** Stops following. */
  unwatch: string;
  /** Starts a session. */
  start: string;
  /** Sends a prompt. */
  send: string;
  /** Stops a task. */
  stop: string;
  /** Sends input. */
  input: string;
  /** Answers a question or an approval. */
  respond: string;
  /** Reads a session's state. */
  state: string;
}

export type RuntimeName =
  | "claude-agent-sdk" | "codex-sdk" | "gemini-cli-core" | "opencode-server" | "demo" | "host"
  | string;

/** `runtime.notice`: noise, stderr, and native messages without a meaning of their own. */
export interface RuntimeNoticePayload {
  /** How much it matters. */
  level: NoticeLevel;
  /** Where it comes from. */
  source: NoticeSource;
  /** What it says. */
  message: string;
}

/** The runtime that an event comes from. */
export interface RuntimeRef {
  /** Which one. */
  name: RuntimeName;
  /** The model it used. */
  model?: string;
  /** Its own id for the session. */
  runtime_session_id?: RuntimeSessionId;
  /** The native message, kept where ours says less. */
  raw?: unknown;
}

/** All runtimes, from the adapters that are registered and the server's policy. */
export interface RuntimeRegistry {
  /** The version of this shape. */
  schemaVersion: string;
  /** When it was made. */
  generatedAt: Timestamp;
  /** The runtime when a client names none. */
  defaultRuntime: string;
  /** How a call finds its runtime. */
  routing: RuntimeRouting;
  /** The runtimes. */
  runtimes: RuntimeEntry[];
}

/** `runtime.request.completed`: the runtime answered. */
export interface RuntimeRequestCompletedPayload {
  /** Which one. */
  request_id: RequestId;
  /** The runtime's name for it. */
  method: string;
  /** How it ended. */
  status: RequestStatus;
  /** How long it took. */
  duration_ms: number;
}

/** `runtime.request.started`: a request went to the runtime. */
export interface RuntimeRequestStartedPayload {
  /** Which one. */
  request_id: RequestId;
  /** The runtime's name for it. */
  method: string;
}

/** How a call finds its runtime. */
export interface RuntimeRouting {
  /** The parameter that selects the runtime. */
  agentTypeField: string;
  /** The runtime when the parameter is absent. */
  defaultAgentType: string;
  /** The methods that should carry the parameter. */
  requiredOnMethods: string[];
}

/** A runtime's own id for a session; an alias of the [`SessionId`], never a key of ours. */
export type RuntimeSessionId = string;

/** Where a runtime keeps its state. */
export type RuntimeStateModel =
  /** In its process. */
  | "in_process"
  /** On local disk. */
  | "local_disk"
  /** On a server. */
  | "server_side"
  /** In several places. */
  | "hybrid"
  /** The runtime does not say. */
  | "unknown";

/** Whether a runtime may be used. */
export type RuntimeStatus =
  /** It may. */
  | "active"
  /** It may, and may change. */
  | "preview"
  /** It may, for now. */
  | "deprecated"
  /** It may not, whatever a client's screen shows. */
  | "disabled";

/** What was said. */
export interface Said {
  /** By whom. */
  role: Speaker;
  /** Its blocks, at least one. */
  content: Block[];
  /** The model that said it. */
  model?: string;
  /** Why the turn ends with it, where it does. */
  stop_reason?: string;
}

/** What a client may do; each includes those before it. */
export type Scope =
  /** Look. */
  | "observe"
  /** Steer agents. */
  | "operate"
  /** Change the host. */
  | "admin";

/** A search that is wanted no more. */
export interface SearchCancelParams {
  /** Which. */
  search_id: string;
}

/** How names are compared. */
export type SearchMode =
  /** All letters in order, anywhere in the path. */
  | "fuzzy"
  /** The text as it is, anywhere in the path. */
  | "exact"
  /** The text as it is, where the name or the path begins. */
  | "prefix"
  /** The extension. */
  | "extension";

/** What is searched for. */
export interface SearchParams {
  /** The text. */
  query: string;
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** How it is compared; fuzzy if absent. */
  mode?: SearchMode;
  /** So many files at most. */
  limit?: number;
  /** After so many. */
  offset?: number;
  /** Only these extensions. */
  extensions?: string[];
  /** No files that are no text; so if absent. */
  exclude_binaries?: boolean;
  /** Only files that git tracks. */
  git_tracked_only?: boolean;
  /** Only files of at least so many bytes. */
  min_size?: number;
  /** Only files of at most so many bytes. */
  max_size?: number;
}

/** Files that fit, the best first. */
export interface SearchResult {
  /** The text. */
  query: string;
  /** How it was compared. */
  mode: SearchMode;
  /** Some of them. */
  results: RepositoryFile[];
  /** How many there are. */
  total: number;
  /** There are more after these. */
  has_more: boolean;
  /** How long it took. */
  elapsed_ms: number;
}

/** Files that fit a search that goes on. */
export interface SearchResults {
  /** The search. */
  search_id: string;
  /** The text that they fit. */
  query: string;
  /** How it was compared. */
  mode: SearchMode;
  /** The best of them. */
  results: RepositoryFile[];
  /** How many there are. */
  total: number;
  /** There are more than these. */
  has_more: boolean;
  /** How long it took. */
  elapsed_ms: number;
  /** When. */
  timestamp: Timestamp;
}

/** A search that goes on: what fits comes as `search_results`. */
export interface SearchStarted {
  /** Its id, for changes. */
  search_id: string;
  /** Always `started`. */
  status: string;
}

/** Another text for a search that goes on. */
export interface SearchUpdateParams {
  /** Which search. */
  search_id: string;
  /** The text. */
  query: string;
}

/** A text that is passed on and never shown: it has no place in events, logs and errors. */
export type Secret = string;

/** What the server can do. */
export interface ServerCapabilities {
  /** Agents can be run, stopped, answered, listed and watched. */
  agent: Record<string, boolean>;
  /** What can be done with git. */
  git: Record<string, boolean>;
  /** What can be done with files. */
  file: Record<string, boolean>;
  /** What can be done with the repository's index. */
  repository: Record<string, boolean>;
  /** The names of the events that may be sent. */
  notifications: string[];
  /** The ids of the runtimes. */
  supportedAgents: string[];
  /** Everything about the runtimes (seed 000). */
  runtimeRegistry: RuntimeRegistry;
}

/** The server's name and version. */
export interface ServerInfo {
  /** Its name. */
  name: string;
  /** Its version. */
  version: string;
}

/** `session.closed`: the session's process and resources are gone. */
export interface SessionClosedPayload {
  /** Why. */
  reason: string;
}

/** `session.created`: what the session was made with. */
export interface SessionCreatedPayload {
  /** The version of this contract. */
  contract_version: string;
  /** Which runtime serves it. */
  runtime: RuntimeName;
  /** The working directory. */
  cwd: string;
  /** Whose runtime state and credentials are used. */
  credential_namespace: string;
  /** A name for people. */
  title?: string;
  /** The model asked for. */
  model?: string;
  /** The mode in the seed's words. */
  permission_mode: PermissionMode;
  /** The mode in ours. */
  mode: Mode;
  /** The workspace it was made in. */
  workspace_id?: WorkspaceId;
  /** How much of the user's home its runtime shares, where the session says so itself. */
  isolation?: IsolationLevel;
  /** The names of the variables that its runtime gets; their values are told nobody else. */
  env?: string[];
  /** The runtime's own configuration, passed on and never interpreted; secrets are taken out. */
  runtime_config?: Record<string, unknown>;
  /** The hash of that configuration with its secrets. */
  runtime_config_hash?: string;
  /** It began outside of Roost. */
  adopted?: Adopted;
  /** It goes on from where another session was. */
  forked?: Forked;
}

/** A session ended; or the daemon goes down, whose own id stands there then and nothing beside it. */
export interface SessionEnd {
  /** The session. */
  session_id: string;
  /** Why; `shutdown` if it is the daemon. */
  reason: string;
  /** When. */
  timestamp: Timestamp;
  /** The session's workspace. */
  workspace_id?: string;
  /** The session's runtime. */
  agent_type?: string;
  /** The place after it. */
  cursor?: string;
}

/** A session to go on from. */
export interface SessionForkParams {
  /** Which one; also one that only its runtime keeps, which becomes one of ours. */
  session_id: string;
  /** The workspace that it must belong to. */
  workspace_id?: string;
  /** The folder that it may be found in besides the workspaces. */
  cwd?: string;
  /** The runtime that must be its own. */
  agent_type?: string;
  /** The new session's name; else the same. */
  title?: string;
  /** How much the new session may do unasked; else as much. */
  permission_mode?: AnyMode;
  /** It may do everything unasked. */
  yolo_mode?: boolean;
}

/** A session: a plain UUID (v7), or the native id of an adopted session. Permanent. */
export type SessionId = string;

/** The runtime could not begin the session. */
export interface SessionIdFailed {
  /** The session's id. */
  temporary_id: string;
  /** `claude_exited` or `error`. */
  reason: string;
  /** What happened, for people. */
  message: string;
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace. */
  workspace_id?: string;
  /** The place after it; what is not kept has none. */
  cursor?: string;
}

/** The runtime knows the session. */
export interface SessionIdResolved {
  /** The session's id. */
  temporary_id: string;
  /** The same: ids are permanent. */
  real_id: string;
  /** Always empty: the record is the log. */
  session_file: string;
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace. */
  workspace_id?: string;
  /** The place after it; what is not kept has none. */
  cursor?: string;
}

/** One session of a list. */
export interface SessionInfo {
  /** Its id. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** A name for people. */
  summary: string;
  /** The first prompt's beginning. */
  first_prompt?: string;
  /** Tasks so far. */
  task_count: number;
  /** Messages so far; 0 where only its runtime keeps it, which does not count them. */
  message_count: number;
  /** When it began. */
  start_time: Timestamp;
  /** When it last changed. */
  last_updated: Timestamp;
  /** `running` or `historical`. */
  status: string;
  /** Who keeps it. */
  source: KeptBy;
  /** Its workspace. */
  workspace_id?: string;
  /** Its folder. */
  project_path: string;
  /** Its model. */
  model?: string;
  /** Who looks at it. */
  viewers: string[];
  /** Everything that is known of it. */
  record: SessionRecord;
}

/** Something typed to a session. */
export interface SessionInputParams {
  /** Which session. */
  session_id: string;
  /** Text, or the name of a key. */
  input?: string;
  /** A key. */
  key?: string;
  /** Its runtime. */
  agent_type?: string;
}

/** It was taken. */
export interface SessionInputResult {
  /** `sent`. */
  status: string;
  /** The key, if it was one. */
  key?: string;
  /** The session's runtime. */
  agent_type: string;
}

/** Another client looks at the session. It has no `session_id`, with which a phone would misread it. */
export interface SessionJoined {
  /** Who came. */
  joining_client_id: string;
  /** Who else looks. */
  other_viewers: string[];
  /** How many look. */
  viewer_count: number;
  /** When. */
  timestamp: Timestamp;
}

/** Another client looks at the session no more. It has no `session_id`, with which a phone would misread it. */
export interface SessionLeft {
  /** Who went. */
  leaving_client_id: string;
  /** Who still looks. */
  remaining_viewers: string[];
  /** How many look. */
  viewer_count: number;
  /** When. */
  timestamp: Timestamp;
}

/** Which sessions. */
export interface SessionListParams {
  /** Of this runtime. */
  agent_type?: string;
  /** Of this workspace. */
  workspace_id?: string;
  /** Of this folder. */
  cwd?: string;
  /** Kept by Roost, or by runtimes only; both if absent. */
  source?: KeptBy;
  /** How many at most; 50 if absent. */
  limit?: number;
  /** How many to pass over. */
  offset?: number;
}

/** Some sessions, the latest first; fewer than asked for where a frame would grow too big. */
export interface SessionListResult {
  /** Them. */
  sessions: SessionInfo[];
  /** How many there are in all. */
  total: number;
  /** What could not be looked at, and why. */
  notices?: string[];
}

/** Whether a client finds sessions through a workspace or through the runtime. */
export type SessionListSource =
  /** Through the workspace. */
  | "workspaceHistory"
  /** Through the runtime. */
  | "runtimeScoped";

/** A session. */
export interface SessionParams {
  /** Which. */
  session_id: string;
  /** Its runtime. */
  agent_type?: string;
}

/** What is known of a session: the sum of its events, and nothing else. */
export interface SessionRecord {
  /** Which session. */
  session_id: SessionId;
  /** Which runtime serves it. */
  runtime: RuntimeName;
  /** Where it stands. */
  status: SessionStatus;
  /** Its working directory. */
  cwd: string;
  /** Whose runtime state and credentials it uses. */
  credential_namespace: string;
  /** How much it may do unasked. */
  mode: Mode;
  /** Its name; the first prompt's first line when nobody gave one. */
  title?: string;
  /** Its model. */
  model?: string;
  /** The runtime's own id for it. */
  runtime_session_id?: RuntimeSessionId;
  /** When it was made. */
  created_at: Timestamp;
  /** When it last changed. */
  updated_at: Timestamp;
  /** The task that runs now. */
  open_task?: OpenTask;
  /** How the last task ended. */
  last_outcome?: TaskOutcome;
  /** How many tasks it has had. */
  tasks: number;
  /** How many messages its history has. */
  messages: number;
  /** How many messages of its runtime meant nothing to Roost; each is in the log as it came. */
  unknown_messages?: number;
  /** Somebody took it off the lists. */
  hidden?: boolean;
  /** The prompts that wait. */
  queue?: QueuedPrompt[];
  /** The workspace it was made in. */
  workspace_id?: WorkspaceId;
  /** How much of the user's home its runtime shares, where the session says so itself. */
  isolation?: IsolationLevel;
  /** The names of the variables that its runtime gets; their values are told nobody else. */
  env?: string[];
  /** The runtime's own configuration, passed on and never interpreted; secrets are taken out. */
  runtime_config?: Record<string, unknown>;
  /** The hash of that configuration with its secrets. */
  runtime_config_hash?: string;
  /** It began outside of Roost. */
  adopted?: Adopted;
  /** It goes on from where another session was. */
  forked?: Forked;
}

/** An answer to what waits in a session. */
export interface SessionRespondParams {
  /** Which session. */
  session_id: string;
  /** What is answered. */
  type: AskKind;
  /** The answer: a word, or for a question also an object of answers by field. */
  response: unknown;
  /** Which of several. */
  id?: string;
  /** Its runtime. */
  agent_type?: string;
}

/** A prompt. */
export interface SessionSendParams {
  /** What to do. */
  prompt: string;
  /** To which session; absent means by `mode`. */
  session_id?: string;
  /** Where, for a new session or the latest. */
  workspace_id?: string;
  /** A new session, or the latest of the workspace. */
  mode?: RunMode;
  /** How much it may do unasked. */
  permission_mode?: AnyMode;
  /** It may do everything unasked. */
  yolo_mode?: boolean;
  /** Which runtime. */
  agent_type?: string;
  /** Whether somebody can be asked; `present` if absent. */
  approver?: Presence;
  /** The session's model from this prompt on. */
  model?: string;
  /** Images that belong to the prompt: png, jpeg, gif or webp, at most 5 of 10 MiB each. */
  images?: PromptImage[];
  /** Files that the prompt refers to: paths below the session's folder; at the local door any. */
  files?: string[];
}

/** The prompt was taken. */
export interface SessionSendResult {
  /** `sent`. */
  status: string;
  /** By which session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** Its workspace. */
  workspace_id?: string;
  /** The session was made for it. */
  auto_created: boolean;
  /** `started` or `queued`. */
  delivery: string;
  /** The task that it became. */
  task_id?: string;
  /** Its place in the queue. */
  prompt_id?: string;
}

/** Whether a client reads a session through a workspace or through the runtime. */
export type SessionSource =
  /** Through the workspace. */
  | "workspaceScoped"
  /** Through the runtime. */
  | "runtimeScoped";

/** A session was made. */
export interface SessionStart {
  /** Its folder. */
  repo_path: string;
  /** The folder's name. */
  repo_name: string;
  /** The version of the runtime's contract that it was made under. */
  agent_version: string;
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace. */
  workspace_id?: string;
  /** The place after it; what is not kept has none. */
  cursor?: string;
}

/** The session to have. */
export interface SessionStartParams {
  /** Where; required from afar. */
  workspace_id?: string;
  /** Where, for the local door: a folder, workspace or not. */
  cwd?: string;
  /** The session to go on with. */
  session_id?: string;
  /** Which one where none is named. */
  mode?: StartMode;
  /** How much it may do unasked. */
  permission_mode?: AnyMode;
  /** It may do everything unasked. */
  yolo_mode?: boolean;
  /** Which runtime. */
  agent_type?: string;
  /** A new session works in a working copy and on a branch of its own. */
  worktree?: boolean;
  /** Its name. */
  title?: string;
  /** Its model. */
  model?: string;
  /** The runtime's own configuration. */
  runtime_config?: Record<string, unknown>;
  /** Variables that its runtime gets on top of its environment; their values are told nobody else. */
  env?: Record<string, Secret>;
  /** How much of the user's home its runtime shares. */
  isolation?: IsolationLevel;
  /** Whose logins it uses, where they are kept apart. */
  credential_namespace?: string;
}

/** The session is there. */
export interface SessionStartResult {
  /** Its id; permanent. */
  session_id: string;
  /** The same. */
  id: string;
  /** Its workspace; empty if its folder is none. */
  workspace_id: string;
  /** `attached`, or `starting` for a new one. */
  status: string;
  /** `attached`, `existing`, `started` or `forked`. */
  outcome: string;
  /** `managed` or `history`. */
  source: string;
  /** Its runtime. */
  agent_type: string;
  /** For people. */
  message: string;
  /** Something waits for an answer. */
  has_pending_permission: boolean;
  /** What kind of call waits. */
  pending_permission_type?: string;
  /** What that call is about. */
  pending_permission_target?: string;
  /** Its folder. */
  project_path: string;
  /** When it began. */
  started_at: Timestamp;
  /** When it last changed. */
  last_active: Timestamp;
}

/** A session as it is now. */
export interface SessionState {
  /** Its id. */
  id: string;
  /** The same. */
  session_id: string;
  /** Its workspace; empty if its folder is none. */
  workspace_id: string;
  /** `starting`, `running`, `stopping`, `stopped` or `error`. */
  status: string;
  /** Its folder. */
  project_path: string;
  /** Its runtime. */
  agent_type: string;
  /** When it began. */
  started_at: Timestamp;
  /** When it last changed. */
  last_active: Timestamp;
  /** The same. */
  last_updated: Timestamp;
  /** Why the last task failed. */
  error?: string;
  /** `idle`, `running` or `waiting`. */
  claude_state: string;
  /** The runtime's own id. */
  claude_session_id: string;
  /** A task runs. */
  is_running: boolean;
  /** Something waits for an answer. */
  waiting_for_input: boolean;
  /** What waits. */
  pending_tool_use_id?: string;
  /** Its tool. */
  pending_tool_name?: string;
  /** A name for people. */
  summary: string;
  /** Messages so far. */
  message_count: number;
  /** How much it may do unasked. */
  mode: string;
  /** Its model. */
  model?: string;
  /** The prompts that wait. */
  queue: QueuedPrompt[];
  /** The connections that look at it. */
  viewers: string[];
}

/** Where a session stands (seed 002). */
export type SessionStatus =
  /** It exists; no process yet. */
  | "created"
  /** It has been prompted; its process may run. */
  | "active"
  /** Its process is being ended. */
  | "ending"
  /** Its process and resources are gone; it can be resumed. */
  | "closed";

/** What to stop. */
export interface SessionStopParams {
  /** Which session. */
  session_id: string;
  /** All of it, or its task. */
  what?: StopWhat;
  /** Why, for the record. */
  reason?: string;
  /** Its runtime. */
  agent_type?: string;
}

/** It is stopped. */
export interface SessionStopResult {
  /** Always true. */
  success: boolean;
  /** For people. */
  message: string;
  /** Its runtime. */
  agent_type: string;
  /** How the task ended, if one ran. */
  outcome?: TaskOutcome;
}

/** A session was stopped. */
export interface SessionStopped {
  /** The client that stopped it. */
  stopped_by?: string;
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace. */
  workspace_id?: string;
  /** The place after it; what is not kept has none. */
  cursor?: string;
}

/** `session.updated`: what changed about a session; absent means unchanged. */
export interface SessionUpdatedPayload {
  /** Its state. */
  status?: SessionStatus;
  /** Its name. */
  title?: string;
  /** Its model. */
  model?: string;
  /** Its mode. */
  mode?: Mode;
  /** The runtime's id for it became known. */
  runtime_session_id?: RuntimeSessionId;
  /** The prompts that wait now, all of them. */
  queue?: QueuedPrompt[];
  /** It was taken off the lists, or put on them again. */
  hidden?: boolean;
  /** Why, where that is not plain. */
  reason?: string;
}

/** This client watches a session. */
export interface SessionWatchStarted {
  /** Which. */
  session_id: string;
  /** Always true. */
  watching: boolean;
  /** When. */
  timestamp: Timestamp;
}

/** This client watches a session no more. */
export interface SessionWatchStopped {
  /** Which. */
  session_id: string;
  /** Always false. */
  watching: boolean;
  /** When. */
  timestamp: Timestamp;
  /** Why. */
  reason?: string;
}

/** Which end comes first. */
export type SortOrder =
  /** The smallest. */
  | "asc"
  /** The biggest. */
  | "desc";

/** Who speaks; a tool's result is the user's, as in Claude's own records. */
export type Speaker =
  /** The person, or a tool that answers the agent. */
  | "user"
  /** The agent. */
  | "assistant"
  /** Instructions. */
  | "system";

/** Which session `session/start` gives where none is named. */
export type StartMode =
  /** The latest of the workspace, a new one if there is none. */
  | "attach"
  /** A new one. */
  | "new";

/** How the daemon and its default agent are; the union of what clients read. */
export interface StatusResult {
  /** This run of the daemon. */
  session_id: string;
  /** The session of the default workspace's agent. */
  agent_session_id?: string;
  /** `idle`, `running` or `waiting`. */
  claude_state: string;
  /** The same. */
  agent_state: string;
  /** The runtime that is used when none is named. */
  agent_type: string;
  /** Roost's version. */
  version: string;
  /** The same. */
  agent_version: string;
  /** Clients that are connected now. */
  connected_clients: number;
  /** The default workspace's folder; empty if there is none. */
  repo_path: string;
  /** Its name. */
  repo_name: string;
  /** How long the daemon runs. */
  uptime_seconds: number;
  /** File changes are reported. */
  watcher_enabled: boolean;
  /** Git can be used. */
  git_enabled: boolean;
  /** The default workspace is a git repository. */
  is_git_repo: boolean;
  /** Sessions with a running task. */
  running_tasks: number;
  /** What waits for an answer. */
  pending: number;
}

/** One word about what was done. */
export interface StatusWord {
  /** `stopped`, `sent`, …. */
  status: string;
  /** The runtime. */
  agent_type?: string;
}

/** What is stopped. */
export type StopWhat =
  /** The session: its task, then its process. */
  | "session"
  /** The running task; the session stays ready. */
  | "task";

/** All of a turn has been sent. */
export interface StreamReadComplete {
  /** At least one. */
  messages_emitted: number;
  /** The `seq` of the turn's last event. */
  file_offset: number;
  /** The same. */
  file_size: number;
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace. */
  workspace_id?: string;
  /** The place after it; what is not kept has none. */
  cursor?: string;
}

/** This client follows everything. */
export interface SubscribeAllResult {
  /** Always true. */
  success: boolean;
  /** Always false. */
  is_filtering: boolean;
}

/** Which events, from where, in which form. A second subscription of the same form replaces the first. */
export interface SubscribeParams {
  /** The form. */
  format?: EventFormat;
  /** After this cursor, or `beginning`; absent means from now on. */
  after?: string;
  /** Go on after a durable cursor of this name, if there is one. */
  name?: string;
  /** Only these types of events. */
  types?: string[];
  /** Only of these sessions. */
  sessions?: string[];
  /** Only of these workspaces. */
  workspaces?: string[];
  /** Call the cdev events `agent_…` instead of `claude_…`. */
  neutral_names?: boolean;
}

/** The workspaces that this client follows. */
export interface SubscribeResult {
  /** Always true. */
  success: boolean;
  /** The one that was named. */
  workspace_id: string;
  /** All of them. */
  subscribed: string[];
}

/** The workspaces that this client follows; all if none is named. */
export interface SubscriptionsResult {
  /** Them. */
  workspaces: string[];
  /** Others are left out. */
  is_filtering: boolean;
  /** How many. */
  count: number;
}

/** It is done, and there is nothing more to say. */
export interface Success {
  /** Always true; a failure is an error. */
  success: boolean;
}

/** `task.completed`: the agent is done. */
export interface TaskCompletedPayload {
  /** Why it ended, in the runtime's word (`end_turn`, `max_tokens`, …). */
  reason: string;
}

/** A failure with everything that helps to act on it. */
export interface TaskError {
  /** Which kind. */
  code: FailureCode;
  /** What happened, to what, and what to do. */
  message: string;
  /** The same prompt may succeed when sent again. */
  retryable: boolean;
  /** The runtime it happened to. */
  runtime?: RuntimeName;
  /** The last lines of the runtime's stderr. */
  stderr_tail?: string;
  /** The runtime's own error. */
  raw?: unknown;
}

/** `task.failed`: the agent is not done and will not be. */
export interface TaskFailedPayload {
  /** What happened, for people. */
  reason: string;
  /** What happened, for programs. */
  error: TaskError;
}

/** A task failed. */
export interface TaskFault {
  /** The kind of failure, such as `RUNTIME_EXITED`. */
  code: string;
  /** What happened, for people. */
  message: string;
  /** Whether to try again, and what the runtime wrote last. */
  details: Record<string, unknown>;
  /** The request to the runtime. */
  request_id?: string;
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace. */
  workspace_id?: string;
  /** The place after it; what is not kept has none. */
  cursor?: string;
}

/** One prompt and everything the runtime did about it. */
export type TaskId = string;

/** How a task ended. */
export type TaskOutcome =
  /** The agent finished. */
  | "completed"
  /** It did not. */
  | "failed"
  /** Somebody stopped it. */
  | "stopped";

/** `task.started`: the new messages only, never the compiled history. */
export interface TaskStartedPayload {
  /** What the user said. */
  messages: TranscriptMessage[];
  /** The mode in the seed's words. */
  permission_mode: PermissionMode;
  /** The mode in ours. */
  mode: Mode;
  /** Whether somebody may be asked. */
  interaction_mode: InteractionMode;
  /** The queued prompt that this task serves. */
  prompt_id?: PromptId;
}

/** `task.stopped`: somebody stopped the agent. */
export interface TaskStoppedPayload {
  /** Why. */
  reason: string;
}

/** What a terminal would show. */
export type TerminalState =
  /** It works. */
  | "thinking"
  /** A tool call waits for an answer. */
  | "permission"
  /** A question waits for an answer. */
  | "question"
  /** It is done. */
  | "idle"
  /** It failed. */
  | "error";

export type Timestamp = string;

/** `tool.call.approved`: the call may run. */
export interface ToolCallApprovedPayload {
  /** Stable within Roost. */
  tool_call_id: ToolCallId;
  /** The runtime's own id. */
  runtime_tool_call_id?: string;
  /** From 1; counts replays and retries. */
  attempt: number;
  /** `sha256:<hex>` of the canonical input. */
  input_hash: string;
}

/** `tool.call.completed`: the tool is done. */
export interface ToolCallCompletedPayload {
  /** Stable within Roost. */
  tool_call_id: ToolCallId;
  /** The runtime's own id. */
  runtime_tool_call_id?: string;
  /** From 1; counts replays and retries. */
  attempt: number;
  /** `sha256:<hex>` of the canonical input. */
  input_hash: string;
  /** The tool. */
  name: string;
  /** Who ran it. */
  executed_by: ToolExecutedBy;
  /** Where it ran. */
  execution_env: ToolExecutionEnv;
  /** The policy as it stood. */
  policy_snapshot: ToolPolicySnapshot;
  /** What its sandbox allowed. */
  sandbox?: ToolSandboxSummary;
  /** A big result. */
  result_ref?: ArtifactRef;
  /** A small result, or the start of a big one. */
  result_preview?: unknown;
  /** It failed. */
  is_error?: boolean;
}

/** `tool.call.denied`: the call may not run. */
export interface ToolCallDeniedPayload {
  /** Stable within Roost. */
  tool_call_id: ToolCallId;
  /** The runtime's own id. */
  runtime_tool_call_id?: string;
  /** From 1; counts replays and retries. */
  attempt: number;
  /** `sha256:<hex>` of the canonical input. */
  input_hash: string;
  /** The tool. */
  name: string;
  /** Why, as the runtime was told. */
  reason: string;
  /** The policy as it stood. */
  policy_snapshot: ToolPolicySnapshot;
}

/** A tool call as a screen shows it. */
export interface ToolCallElement {
  /** The tool. */
  tool: string;
  /** Our id of the call. */
  tool_id: string;
  /** One line for people, such as `Bash(ls)`. */
  display: string;
  /** Its input; what is no text is JSON. */
  params: Record<string, string>;
  /** How far it is. */
  status: CallStatus;
  /** How long it took, waiting included. */
  duration_ms?: number;
}

/** A tool call within Roost, stable over attempts. */
export type ToolCallId = string;

/** `tool.call.policy_evaluated`: one layer's word. */
export interface ToolCallPolicyEvaluatedPayload {
  /** Stable within Roost. */
  tool_call_id: ToolCallId;
  /** The runtime's own id. */
  runtime_tool_call_id?: string;
  /** From 1; counts replays and retries. */
  attempt: number;
  /** `sha256:<hex>` of the canonical input. */
  input_hash: string;
  /** Which layer. */
  source: PolicySource;
  /** What it says. */
  result: PolicyResult;
  /** Its rule's name. */
  rule?: string;
}

/** `tool.call.requested`: the agent wants a tool to run. */
export interface ToolCallRequestedPayload {
  /** Stable within Roost. */
  tool_call_id: ToolCallId;
  /** The runtime's own id. */
  runtime_tool_call_id?: string;
  /** From 1; counts replays and retries. */
  attempt: number;
  /** `sha256:<hex>` of the canonical input. */
  input_hash: string;
  /** The tool. */
  name: string;
  /** Its input; cut where it is big. */
  input: unknown;
  /** The whole of a big input. */
  input_ref?: ArtifactRef;
  /** A line for people. */
  title?: string;
  /** What it does. */
  kind?: ToolKind;
}

/** `tool.call.started`: the tool runs. */
export interface ToolCallStartedPayload {
  /** Stable within Roost. */
  tool_call_id: ToolCallId;
  /** The runtime's own id. */
  runtime_tool_call_id?: string;
  /** From 1; counts replays and retries. */
  attempt: number;
  /** `sha256:<hex>` of the canonical input. */
  input_hash: string;
}

/** Who executed a tool. */
export type ToolExecutedBy =
  /** The host. */
  | "codesdk"
  /** The runtime. */
  | "runtime";

/** Where a tool ran. */
export type ToolExecutionEnv =
  /** In a container of the host's. */
  | "codesdk_docker"
  /** In the host. */
  | "codesdk_host"
  /** Inside the runtime. */
  | "runtime_internal"
  /** Nobody says. */
  | "unknown";

/** Who executes tools. */
export type ToolExecutionModel =
  /** Tools reach the runtime over MCP. */
  | "external_mcp"
  /** The runtime runs its own tools. */
  | "runtime_internal"
  /** Both. */
  | "hybrid";

/** What a tool does, as far as its runtime tells. */
export type ToolKind =
  /** Reads. */
  | "read"
  /** Changes a file. */
  | "edit"
  /** Deletes a file. */
  | "delete"
  /** Moves a file. */
  | "move"
  /** Searches. */
  | "search"
  /** Runs a command. */
  | "execute"
  /** Thinks. */
  | "think"
  /** Fetches from the network. */
  | "fetch"
  /** Changes the session's mode. */
  | "switch_mode"
  /** Something else. */
  | "other";

/** `tool.output.completed`: a tool's whole output. */
export interface ToolOutputCompletedPayload {
  /** Stable within Roost. */
  tool_call_id: ToolCallId;
  /** The runtime's own id. */
  runtime_tool_call_id?: string;
  /** From 1; counts replays and retries. */
  attempt: number;
  /** `sha256:<hex>` of the canonical input. */
  input_hash: string;
  /** Standard output. */
  stdout?: string;
  /** Standard error. */
  stderr?: string;
}

/** `tool.output.delta`: a piece of a tool's output. */
export interface ToolOutputDeltaPayload {
  /** Stable within Roost. */
  tool_call_id: ToolCallId;
  /** The runtime's own id. */
  runtime_tool_call_id?: string;
  /** From 1; counts replays and retries. */
  attempt: number;
  /** `sha256:<hex>` of the canonical input. */
  input_hash: string;
  /** Which stream. */
  stream: OutputStream;
  /** The piece. */
  delta: string;
}

/** One layer's word on a tool call. */
export interface ToolPolicyEvaluation {
  /** Which layer. */
  source: PolicySource;
  /** What it says. */
  result: PolicyResult;
  /** Its rule's name. */
  rule?: string;
}

/** The policy as it stood when a tool call was decided. */
export interface ToolPolicySnapshot {
  /** The mode in the seed's words. */
  permission_mode?: PermissionMode;
  /** The mode in ours, which has more. */
  mode?: Mode;
  /** What was decided. */
  decision: PolicyDecision;
  /** Every layer's word, in order. */
  sources: ToolPolicyEvaluation[];
}

/** Whether a tool call may be repeated after a resume. */
export type ToolReplaySafety =
  /** Repeating is harmless. */
  | "safe_replay"
  /** Someone must approve again. */
  | "requires_reapproval"
  /** The runtime does not say. */
  | "unknown";

/** What became of a tool call. */
export interface ToolResultElement {
  /** Which call. */
  tool_call_id: string;
  /** The tool. */
  tool_name: string;
  /** It failed or was denied. */
  is_error: boolean;
  /** Which way it failed, where that is known. */
  error_code?: string;
  /** Its first line. */
  summary: string;
  /** Its text. */
  full_content: string;
  /** How many lines that has. */
  line_count: number;
  /** There is more than the summary. */
  expandable: boolean;
  /** There is more than the text. */
  truncated: boolean;
}

/** What a tool's sandbox allowed. */
export interface ToolSandboxSummary {
  /** It had network. */
  network?: boolean;
  /** How long it might take. */
  timeout_ms?: number;
  /** What it could see of the disk. */
  mounts?: string[];
}

/** What calls touch that are alike. */
export type Touches =
  /** A program with exactly these arguments; a last word `*` stands for any further ones. Variables that are set for it come first, as `NAME=value`. */
  | { command: string[] }
  /** Each of these commands, alone or in one line. */
  | { commands: string[][] }
  /** Files, as a glob seen from the workspace's root. */
  | { file: string }
  /** A host, or `*.domain` for every host below a domain. */
  | { host: string }
  /** The input of this hash and no other. */
  | { exact: string };

/** Whose event it is. */
export interface Trace {
  /** The session. */
  session_id: SessionId;
  /** The task within it. */
  task_id?: TaskId;
  /** The request to the runtime. */
  request_id?: RequestId;
  /** The client that caused it. */
  client_id?: ClientId;
  /** The person that caused it. */
  user_id?: UserId;
}

/** One block of a transcript message. */
export type TranscriptContentBlock =
  /** Plain text. */
  | { type: "text"; text: string }
  /** Source code. */
  | { type: "code"; code: string; language?: string }
  /** Something too big or too binary to show inline. */
  | { type: "artifact_ref"; artifact_id: ArtifactId; name?: string; content_type?: string }
  /** An image that the user shows; its bytes are an artifact. */
  | { type: "image"; artifact_id: ArtifactId; media_type: string; name?: string }
  /** A file that the user refers to. */
  | { type: "file_ref"; path: string }
  /** The agent calls a tool. */
  | { type: "tool_use"; tool_call_id: ToolCallId; name: string; input: unknown }
  /** What a tool answered. */
  | { type: "tool_result"; tool_call_id: ToolCallId; result: unknown; is_error?: boolean };

/** One message of a transcript. */
export interface TranscriptMessage {
  /** Who speaks. */
  role: TranscriptRole;
  /** What is said. */
  content: TranscriptContentBlock[];
}

/** Who speaks in a transcript. */
export type TranscriptRole =
  /** Instructions. */
  | "system"
  /** The person. */
  | "user"
  /** The agent. */
  | "assistant"
  /** A tool's answer. */
  | "tool";

/** A folder or a file of a tree. */
export interface TreeNode {
  /** Where it is. */
  path: string;
  /** Its name. */
  name: string;
  /** What it is. */
  type: EntryType;
  /** What is in a folder; absent where the tree ends. */
  children?: TreeNode[];
  /** A file's bytes. */
  size_bytes?: number;
  /** What follows the last dot of a file's name. */
  extension?: string;
  /** Files beneath a folder. */
  file_count?: number;
  /** Their bytes. */
  total_size_bytes?: number;
}

/** A tree of folders. */
export interface TreeParams {
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** Its top; the workspace's own folder if absent. */
  path?: string;
  /** Levels. */
  depth?: number;
  /** What begins with a dot, too. */
  include_hidden?: boolean;
}

/** A tree: its top, for clients that read it there, and the same as `root`. */
export interface TreeResult {
  /** Where it is. */
  path: string;
  /** Its name. */
  name: string;
  /** What it is. */
  type: EntryType;
  /** What is in a folder; absent where the tree ends. */
  children?: TreeNode[];
  /** A file's bytes. */
  size_bytes?: number;
  /** What follows the last dot of a file's name. */
  extension?: string;
  /** Files beneath a folder. */
  file_count?: number;
  /** Their bytes. */
  total_size_bytes?: number;
  /** The top again. */
  root: TreeNode;
  /** Folders and files in it. */
  total_nodes: number;
  /** How deep it goes. */
  max_depth_reached: number;
  /** There were more nodes than fit. */
  truncated: boolean;
}

/** Retention removed events of a session before they could be sent; those from `resume_at` on come. */
export interface Truncated {
  /** Which session. */
  session_id: string;
  /** The `seq` of its first event that is still there. */
  resume_at: number;
  /** When. */
  timestamp: Timestamp;
}

/** Which form to hear no more of. */
export interface UnsubscribeParams {
  /** The form; both if absent. */
  format?: EventFormat;
}

/** A session to watch no more; one of the runtime's, or any, if none is named. */
export interface UnwatchParams {
  /** Which. */
  session_id?: string;
  /** Its workspace. */
  workspace_id?: string;
  /** Its runtime. */
  agent_type?: string;
}

/** `usage.reported`: one shape for every runtime; what a runtime does not tell is absent. */
export interface UsageReportedPayload {
  /** Tokens in, cached ones included. */
  input_tokens?: number;
  /** Tokens in that came from a cache. */
  cached_input_tokens?: number;
  /** Tokens out. */
  output_tokens?: number;
  /** Tokens out that were thinking. */
  reasoning_tokens?: number;
  /** What it cost. */
  cost_usd?: number;
  /** How full the context is. */
  context?: ContextFill;
}

/** Whoever is behind a client. */
export type UserId = string;

/** One choice of a question. */
export interface WaitingOption {
  /** What people read, and what is sent back. */
  label: string;
  /** More about it. */
  description?: string;
}

/** A workspace cannot be watched, or not as a whole: what happens there is told late or not at all. */
export interface WatchFailed {
  /** Whose. */
  workspace_id: string;
  /** Why, and what to do. */
  message: string;
  /** When. */
  timestamp: Timestamp;
}

/** A session to watch. */
export interface WatchParams {
  /** Which. */
  session_id: string;
  /** Its workspace. */
  workspace_id?: string;
  /** Its runtime. */
  agent_type?: string;
  /** Send again what came after this cursor. */
  after?: string;
}

/** Whether a session is watched now. */
export interface WatchResult {
  /** `watching` or `unwatched`. */
  status: string;
  /** It is. */
  watching: boolean;
  /** Its workspace. */
  workspace_id?: string;
  /** Which. */
  session_id?: string;
  /** What comes comes after this cursor. */
  cursor?: string;
}

/** A folder that agents may work in. */
export interface Workspace {
  /** Its id. */
  id: string;
  /** Its name. */
  name: string;
  /** Its folder. */
  path: string;
  /** The folder is there. */
  exists: boolean;
  /** A session is started with the daemon. */
  auto_start: boolean;
  /** When it was added. */
  created_at: Timestamp;
  /** Its sessions, the latest first, as far as they fit. */
  sessions: HistoryItem[];
  /** All of its sessions. */
  session_count: number;
  /** Sessions with a process or a task. */
  active_session_count: number;
  /** There is one. */
  has_active_session: boolean;
  /** The current session; empty if there is none. */
  active_session_id: string;
  /** Its runtime. */
  active_agent_type?: string;
  /** It is a git repository. */
  is_git_repo: boolean;
  /** `no_git`, `git_init`, `no_remote`, `no_push`, `synced`, `diverged` or `conflict`. */
  git_state: string;
  /** How its repository is, where that was asked for and could be found out. */
  git?: WorkspaceGit;
}

/** A folder to work in. */
export interface WorkspaceAddParams {
  /** The folder, absolute. */
  path: string;
  /** Its name; the folder's if absent. */
  name?: string;
  /** A session is started with the daemon. */
  auto_start?: boolean;
  /** Make the folder if it is not there. */
  create_if_missing?: boolean;
}

/** `workspace.added`: clients may now work in this directory. */
export interface WorkspaceAddedPayload {
  /** Which workspace. */
  workspace_id: WorkspaceId;
  /** Its name for people. */
  name: string;
  /** Its directory; absolute. */
  path: string;
}

/** What to forget. */
export interface WorkspaceCacheParams {
  /** Whose; all if absent. */
  workspace_id?: string;
}

/** A search for repositories that is wanted no more. */
export interface WorkspaceDiscoverCancelParams {
  /** Which, as `workspace_discover_progress` told it. */
  discover_id: string;
}

/** Where repositories are looked for. */
export interface WorkspaceDiscoverParams {
  /** Below these folders; the usual ones if absent. */
  paths?: string[];
  /** Look now, whatever is known. */
  fresh?: boolean;
}

/** How far a search for repositories is. The first comes at once, the last with what it came to. */
export interface WorkspaceDiscoverProgress {
  /** The search; with this it is cancelled. */
  discover_id: string;
  /** Below these folders. */
  paths: string[];
  /** Folders that were looked into so far. */
  scanned_paths: number;
  /** Repositories that were found so far. */
  found_count: number;
  /** How long it takes so far. */
  elapsed_ms: number;
  /** When. */
  timestamp: Timestamp;
}

/** The repositories that were found. */
export interface WorkspaceDiscoverResult {
  /** Them, by their folders. */
  repositories: DiscoveredRepository[];
  /** How many. */
  count: number;
  /** They were known before. */
  cached: boolean;
  /** For how long. */
  cache_age_seconds: number;
  /** A newer search is under way. */
  refresh_in_progress: boolean;
  /** How long this took. */
  elapsed_ms: number;
  /** Folders that were looked into. */
  scanned_paths: number;
  /** Folders that were not. */
  skipped_paths: number;
  /** It was cancelled before its end: this is what was found until then. */
  cancelled: boolean;
}

/** How a workspace's repository is, at a glance. */
export interface WorkspaceGit {
  /** There is one. */
  initialized: boolean;
  /** It knows others. */
  has_remotes: boolean;
  /** The branch; empty when none is checked out. */
  branch: string;
  /** Commits that the followed branch has not. */
  ahead: number;
  /** Commits that only the followed branch has. */
  behind: number;
  /** Files that the next commit holds. */
  staged_count: number;
  /** Files that it does not hold yet. */
  unstaged_count: number;
  /** Files that git does not know. */
  untracked_count: number;
  /** Conflicts wait. */
  has_conflicts: boolean;
  /** The same as `git_state`. */
  state: string;
}

/** A directory that clients know by name: a plain UUID (v7). */
export type WorkspaceId = string;

/** How much to tell of each workspace. */
export interface WorkspaceListParams {
  /** With git's state; yes if absent. */
  include_git?: boolean;
  /** Workspaces whose git state is read, at most. */
  git_limit?: number;
}

/** All workspaces. */
export interface WorkspaceListResult {
  /** Them. */
  workspaces: Workspace[];
}

/** A workspace. */
export interface WorkspaceParams {
  /** Which. */
  workspace_id: string;
}

/** A workspace was removed. */
export interface WorkspaceRemoved {
  /** Which. */
  id: string;
  /** The same. */
  workspace_id: string;
  /** Its name. */
  name: string;
  /** Its folder. */
  path: string;
  /** When. */
  timestamp: Timestamp;
  /** The place after it. */
  cursor?: string;
}

/** `workspace.removed`: clients no longer see this directory; nothing in it is touched. */
export interface WorkspaceRemovedPayload {
  /** Which workspace. */
  workspace_id: WorkspaceId;
  /** Its name for people. */
  name: string;
  /** Its directory; absolute. */
  path: string;
}

/** A session of a workspace. */
export interface WorkspaceSessionParams {
  /** The workspace. */
  workspace_id: string;
  /** The session. */
  session_id: string;
  /** Its runtime. */
  agent_type?: string;
}

/** How a workspace is. */
export interface WorkspaceStatusResult {
  /** Which. */
  workspace_id: string;
  /** Its name. */
  workspace_name: string;
  /** Its folder. */
  path: string;
  /** A session is started with the daemon. */
  auto_start: boolean;
  /** When it was added. */
  created_at: Timestamp;
  /** Its sessions, the latest first. */
  sessions: HistoryItem[];
  /** Sessions with a process or a task. */
  active_session_count: number;
  /** There is one. */
  has_active_session: boolean;
  /** `healthy`, `unhealthy`, `unavailable` or `not_git`. */
  git_tracker_state: string;
  /** The repository's name. */
  git_repo_name: string;
  /** It is a git repository. */
  is_git_repo: boolean;
  /** Git's last error. */
  git_last_error: string;
  /** Somebody watches one of its sessions. */
  is_being_watched: boolean;
  /** Which; empty if none. */
  watched_session_id: string;
}

/** What to change of a workspace. */
export interface WorkspaceUpdateParams {
  /** Which. */
  workspace_id: string;
  /** Its name. */
  name?: string;
  /** A session is started with the daemon. */
  auto_start?: boolean;
}

/** `workspace.updated`: what changed about a workspace; absent means unchanged. */
export interface WorkspaceUpdatedPayload {
  /** Which workspace. */
  workspace_id: WorkspaceId;
  /** Its name for people. */
  name?: string;
  /** Whether a session is started in it when Roost starts. */
  auto_start?: boolean;
}

/** A new working copy. */
export interface WorktreeAddParams {
  /** Its name, one part of a path. */
  name: string;
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** Its branch, made if it is not there; `roost/` and the name if absent. */
  branch?: string;
  /** Where a new branch begins; at what is checked out if absent. */
  base?: string;
}

/** The working copy is there. */
export interface WorktreeAddResult {
  /** Always true. */
  success: boolean;
  /** It. */
  worktree: WorktreeInfo;
}

/** A working copy. */
export interface WorktreeInfo {
  /** Its name; empty where it was not made by Roost. */
  name: string;
  /** Its folder. */
  path: string;
  /** Its branch; empty if none is checked out. */
  branch: string;
  /** The commit that is checked out; empty before the first. */
  head: string;
  /** The commit that a session's branch began from. */
  base?: string;
  /** The session that works there. */
  session_id?: string;
  /** It is the workspace's own. */
  is_main: boolean;
  /** It may not be removed. */
  is_locked: boolean;
  /** Its folder is gone. */
  is_prunable: boolean;
}

/** All working copies. */
export interface WorktreeListResult {
  /** Them, the workspace's own first. */
  worktrees: WorktreeInfo[];
  /** How many. */
  count: number;
}

/** A session's work to be merged. */
export interface WorktreeMergeParams {
  /** The working copy's name. */
  name: string;
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** What is said about changes that are not committed there yet; without it they are an error. */
  message?: string;
  /** The session that did the work, to be named at the end of the messages of commits that are made. */
  session_id?: string;
}

/** A working copy. */
export interface WorktreeParams {
  /** Its name. */
  name: string;
  /** Whose; the first workspace if absent. */
  workspace_id?: string;
  /** Even if what it holds is lost. */
  force?: boolean;
}
