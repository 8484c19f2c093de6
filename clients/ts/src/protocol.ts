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
  /** No service has this id. */
  SERVICE_NOT_FOUND: -32060,
  /** The service cannot do that now, or its name or id is taken. */
  SERVICE_CONFLICT: -32061,
  /** The service did not answer, or not as it should. */
  SERVICE_FAILED: -32062,
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
  /** Lists the slash commands that a prompt may begin with: the user's, the project's and the runtime's. */
  "agent/commands": { params: AgentCommandsParams; result: AgentCommandsResult };
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
  /** Finds words in what was said in sessions, the latest session first; looks at a bounded part of the log in one call. */
  "session/search": { params: SessionSearchParams; result: SessionSearchResult };
  /** Watches a session: its messages come as events, and what waits is sent again. */
  "session/watch": { params: WatchParams; result: WatchResult };
  /** Watches a session no more. */
  "session/unwatch": { params: UnwatchParams; result: WatchResult };
  /** Takes sessions off the lists; what happened stays in the log until retention removes it. */
  "session/delete": { params: DeleteParams; result: DeleteResult };
  /** Lists a workspace's sessions, the latest first. */
  "workspace/session/history": { params: HistoryParams; result: HistoryResult };
  /** Reads the messages of a workspace's session. */
  "workspace/session/messages": { params: WorkspaceMessagesParams; result: MessagesResult };
  /** Watches a workspace's session. */
  "workspace/session/watch": { params: WorkspaceWatchParams; result: WatchResult };
  /** Watches a workspace's session no more. */
  "workspace/session/unwatch": { params: UnwatchParams; result: WatchResult };
  /** Makes a session the workspace's current one. */
  "workspace/session/activate": { params: WorkspaceSessionParams; result: ActivateResult };
  /** Takes a workspace's session off the lists. */
  "workspace/session/delete": { params: WorkspaceSessionParams; result: DeleteResult };
  /** Says which session this client looks at. */
  "client/session/focus": { params: WorkspaceSessionParams; result: FocusResult };
  /** Offers to read and write files, or to run terminals, for the agent of a session. */
  "session/client/offer": { params: ClientOfferParams; result: Success };
  /** Waits for the next request of an agent to this client, which has made an offer. */
  "session/client/next": { params: NoParams; result: ClientRequest };
  /** Answers a request of an agent. */
  "session/client/answer": { params: ClientAnswerParams; result: Success };
  /** Lists the workspaces. */
  "workspace/list": { params: WorkspaceListParams; result: WorkspaceListResult };
  /** Describes one workspace. */
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
  /** How a repository is, with its remotes; also called `git/get_status`. */
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
  "git/stash/apply": { params: GitStashApplyParams; result: GitMergeResult };
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
  /** Asks, from a hook inside an agent, what to do about a tool call of the agent's own session. */
  "permission/request": { params: PermissionRequestParams; result: PermissionRequestResult };
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
  /** Lists the services of the MCP gateway. */
  "service/list": { params: NoParams; result: ServiceListResult };
  /** Everything about a service. */
  "service/get": { params: ServiceParams; result: ServiceResult };
  /** What a service offers, as it was listed last. */
  "service/interface": { params: ServiceParams; result: ServiceInterface };
  /** Reads the log of a service, or waits for its next line. */
  "service/logs": { params: ServiceLogsParams; result: ServiceLogsResult };
  /** What happened to a service. */
  "service/events": { params: ServiceEventsParams; result: ServiceEventsResult };
  /** A service from every side: its state, interface, log, events and calls. */
  "service/details": { params: ServiceDetailsParams; result: ServiceDetails };
  /** Declares a service, or declares it anew. */
  "service/apply": { params: ServiceApplyParams; result: ServiceResult };
  /** Starts a service, and answers when it runs or has failed. */
  "service/start": { params: ServiceParams; result: ServiceResult };
  /** Stops a service. */
  "service/stop": { params: ServiceParams; result: ServiceResult };
  /** Stops a service if it runs, and starts it. */
  "service/restart": { params: ServiceParams; result: ServiceResult };
  /** Lists again what a service offers. */
  "service/introspect": { params: ServiceParams; result: ServiceIntrospectResult };
  /** Lets a quarantined service be started again. */
  "service/unquarantine": { params: ServiceParams; result: ServiceResult };
  /** Approves tools that are held back, as they are defined now. */
  "service/approve": { params: ServiceApproveParams; result: ServiceResult };
  /** Begins a login of the caller at a remote service: a person opens its address in a browser. */
  "service/login": { params: ServiceLoginParams; result: ServiceLogin };
  /** Finishes a login with the address to which the browser was sent back. */
  "service/login/finish": { params: ServiceLoginFinishParams; result: ServiceResult };
  /** Stops a service and forgets it. */
  "service/remove": { params: ServiceRemoveParams; result: ServiceRemoved };
  /** What happened at the gateway last. */
  "audit/list": { params: AuditListParams; result: AuditListResult };
  /** Lists agent runs, the latest first: those that clients report, and every hosted session. */
  "run/list": { params: RunListParams; result: RunListResult };
  /** What happened last in a run, or in all of them. */
  "run/events": { params: RunEventsParams; result: RunEventsResult };
  /** Records what happened in runs: all of these events or none. */
  "run/report": { params: RunReportParams; result: RunReportResult };
  /** Says something to the agent of a run that is under way; a hosted session takes it as a prompt. */
  "run/message": { params: RunMessageParams; result: RunMessageResult };
  /** Lists the secrets that are kept in files, without what they hold. */
  "secret/list": { params: NoParams; result: SecretListResult };
  /** The forms that a reference to a secret can have, and the folder of secrets. */
  "secret/providers": { params: NoParams; result: SecretProvidersResult };
  /** Whether a reference to a secret can be used now. */
  "secret/validate": { params: SecretParams; result: SecretCheck };
  /** Keeps a secret in a file that only the daemon's user can read. */
  "secret/set": { params: SecretSetParams; result: SecretWritten };
  /** Deletes the file that holds a secret. */
  "secret/delete": { params: SecretParams; result: SecretDeleted };
  /** Registers the MCP gateway in other programs, or shows what that would change. */
  "bootstrap/apply": { params: BootstrapParams; result: BootstrapResult };
  /** Removes the MCP gateway from other programs. */
  "bootstrap/remove": { params: BootstrapRemoveParams; result: BootstrapRemoveResult };
  /** Which programs know the MCP gateway. */
  "bootstrap/status": { params: NoParams; result: BootstrapStatus };
  /** Lists the paired devices. */
  "device/list": { params: NoParams; result: DeviceListResult };
  /** Forgets a device: its tokens end and its connections close. */
  "device/revoke": { params: DeviceRevokeParams; result: Success };
  /** Makes a token for a program, which is listed and revoked like a device. */
  "device/token": { params: DeviceTokenParams; result: DeviceTokenResult };
  /** Lists the devices that wait for somebody to let them in. */
  "device/pending": { params: NoParams; result: WaitingDevicesResult };
  /** Lets a device in that waits, or turns it away. */
  "device/approve": { params: DeviceApproveParams; result: Success };
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
  /** A line of the agent's output; for those who watch the session. */
  claude_log: ClaudeLog;
  /** A line of the agent's output; for those who watch the session. */
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
  /** A tool call waits for an answer, in a session without a terminal's panel. */
  claude_permission: ClaudePermission;
  /** A tool call waits for an answer, in a session without a terminal's panel. */
  agent_permission: ClaudePermission;
  /** The session's model is known or another, or its title, its mode or whether lists show it: ask for the rest. */
  claude_session_info: ClaudeSessionInfo;
  /** The session's model is known or another, or its title, its mode or whether lists show it: ask for the rest. */
  agent_session_info: ClaudeSessionInfo;
  /** A tool call waits for an answer. */
  pty_permission: PtyPermission;
  /** What waited for an answer waits no more. */
  pty_permission_resolved: PtyPermissionResolved;
  /** What a terminal would show. */
  pty_state: PtyState;
  /** What the agent is busy with; while it works. */
  pty_spinner: PtySpinner;
  /** A piece of a message while it is written; for those who watch the session and named this event. */
  agent_message_delta: AgentMessageDelta;
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

/** Parameters of `events/ack`. */
export interface AckParams {
  /** Name of the reader, 1 to 100 characters; each device has its own names. */
  name: string;
  /** The cursor of the last event that the reader has processed. */
  cursor: string;
}

/** The cursor is stored. */
export interface AckResult {
  /** Name of the reader. */
  name: string;
  /** The cursor that `events/subscribe` with this name resumes after. */
  cursor: string;
}

/** The session is now the one that `session/start` attaches to in this workspace. */
export interface ActivateResult {
  /** Always true; a failure is an error. */
  success: boolean;
  /** Id of the workspace. */
  workspace_id: string;
  /** Id of the session. */
  session_id: string;
  /** The result for people. */
  message: string;
}

/** Parameters of `session/active`. */
export interface ActiveParams {
  /** Only sessions of this workspace; all if absent. */
  workspace_id?: string;
}

/** The sessions that were prompted and not closed since. */
export interface ActiveResult {
  /** Their current states. */
  sessions: SessionState[];
}

/** A conversation that began outside Roost, as it was when Roost took it over. */
export interface Adopted {
  /** The runtime's id for the conversation. */
  runtime_session_id: RuntimeSessionId;
  /** Messages it had by then. Roost's log does not contain them; the runtime does. */
  messages: number;
}

/** Parameters of `agent/commands`. */
export interface AgentCommandsParams {
  /** Id of a session, whose runtime and folder count, also outside of every workspace; the others are then ignored. */
  session_id?: string;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Id of the runtime, such as `gemini`; the registry's default if absent. */
  agent_type?: string;
}

/** The commands that a prompt may begin with. */
export interface AgentCommandsResult {
  /** Id of the runtime that has them. */
  agent_type: string;
  /** By name. Those that only a running agent knows, such as those of MCP servers, are not among them. */
  commands: SlashCommand[];
}

/** Parameters of `agent/input`. */
export interface AgentInputParams {
  /** Text, or the name of a key, as `input` of `session/input`. */
  input: string;
  /** The approval or question that is meant; needed if several wait. */
  tool_use_id?: string;
  /** The agent's session. Default: the running or latest one of the default workspace. */
  session_id?: string;
  /** Id of the runtime that the session must have; any if absent. */
  agent_type?: string;
}

/** A piece of a message while the agent writes it; for clients that watch the session and asked for this event by name. Not stored: the `claude_message` with the same `uuid` replaces all of its pieces. */
export interface AgentMessageDelta {
  /** The `uuid` of the message that the piece belongs to. */
  uuid: string;
  /** What it belongs to. */
  type: DeltaKind;
  /** The text to append. Pieces of 50 milliseconds come as one. */
  delta: string;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** Parameters that select an agent. Without a `session_id` it is the session of the default workspace that has a running task, else its latest one. */
export interface AgentParams {
  /** The agent's session; see above if absent. */
  session_id?: string;
  /** Id of the runtime that the session must have; any if absent. */
  agent_type?: string;
}

/** Parameters of `agent/respond`. */
export interface AgentRespondParams {
  /** Id of the approval or question, from `claude_permission` or `claude_waiting`. */
  tool_use_id: string;
  /** The answer. For an approval a word such as `yes`, `no`, `allow_once`, `allow_session` or `deny`; any other word denies, and is the reason. For a question the text, or JSON with answers by field. */
  response?: string;
  /** True denies the approval or declines the question, whatever `response` says; false if absent. */
  is_error?: boolean;
  /** The session; needed only if the id is open in several sessions. */
  session_id?: string;
  /** Id of the runtime that the session must have; any if absent. */
  agent_type?: string;
}

/** The answer was accepted. */
export interface AgentRespondResult {
  /** Always `sent`; a failure is an error. */
  status: string;
  /** The id that was answered. */
  tool_use_id: string;
}

/** Parameters of `agent/run`. */
export interface AgentRunParams {
  /** The prompt's text, which must not be blank. */
  prompt: string;
  /** Whether to start a new session or continue `session_id`; `new` if absent. */
  mode?: RunMode;
  /** The session to continue; required with the mode `continue`, otherwise ignored. */
  session_id?: string;
  /** How much the agent may do without asking; `ask` for a new session, unchanged for another if absent. With `interactive`, what needs an approval comes as `pty_permission`, otherwise as `claude_permission`. */
  permission_mode?: AnyMode;
  /** True is the same as the `permission_mode` `yolo`, and wins over it. */
  yolo_mode?: boolean;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Id of the runtime for a new session, such as `claude`; the registry's default if absent. For the mode `continue` it must be the session's own. */
  agent_type?: string;
  /** Extra environment variables for a new session's runtime. No answer and no event shows their values. */
  env?: Record<string, Secret>;
  /** Images for the prompt: png, jpeg, gif or webp, at most 5 of 10 MiB each. Refused if the runtime takes none. */
  images?: PromptImage[];
  /** Files that the prompt refers to, at most 50: paths below the session's folder, over the local socket any path. */
  files?: string[];
}

/** The prompt was accepted and the agent is working on it. */
export interface AgentRunResult {
  /** Always `started`; a failure is an error. */
  status: string;
  /** The session that runs the prompt, new or continued. */
  session_id: string;
  /** The task that the prompt became. */
  task_id: string;
  /** The mode from the parameters, or its default. */
  mode: RunMode;
  /** Id of the session's runtime. */
  agent_type: string;
}

/** What the agent is doing. */
export type AgentState =
  /** It works on a prompt. */
  | "running"
  /** It waits for an approval or an answer. */
  | "waiting"
  /** Its last task is complete. */
  | "idle"
  /** Its last task was stopped. */
  | "stopped"
  /** Its last task failed. */
  | "error";

/** The state of the agent. */
export interface AgentStatusResult {
  /** `idle`, `running`, or `waiting` for an approval or an answer. */
  state: string;
  /** The agent's session; absent if the default workspace has none. */
  session_id?: string;
  /** Id of the session's runtime; the registry's default if there is no session. */
  agent_type: string;
  /** Name of the tool that waits for an answer, `AskUserQuestion` for a question; absent if nothing waits. */
  waiting_for?: string;
}

/** What became of `AGENTS.md`. */
export interface AgentsMdOutcome {
  /** Whether it was changed, or would be. */
  updated: boolean;
  /** The file, whether it exists or not. */
  path: string;
  /** The lines that change; absent unless the change was only shown. */
  diff?: string;
  /** Why it was left as it is; absent if it was not. */
  error?: string;
}

/** The client that answered an approval or a question. A field is absent if it is unknown. */
export interface Answerer {
  /** The connection that sent the answer, as `clientId` in the result of `initialize`. */
  client_id?: ClientId;
  /** Name of the paired device that sent it; absent for the local socket. */
  user_id?: UserId;
  /** The transport it came over, such as `local`, `websocket` or `http`. */
  from?: string;
}

export type AnyMode = "plan" | "ask" | "accept_edits" | "auto" | "yolo" | "default" | "interactive" | "acceptEdits" | "accept-edits" | "bypassPermissions" | "bypass-permissions" | "bypass_permissions" | "danger" | "danger-full-access";

/** Why an approval is no longer open. */
export type ApprovalEnd =
  /** A client allowed or denied it. */
  | "answered"
  /** Nobody answered before `expires_at`; the call is denied. */
  | "expired"
  /** Somebody stopped the task, or the whole session, while it was open. */
  | "stopped"
  /** The task completed or failed while it was open. */
  | "task_ended"
  /** The runtime withdrew the call or replaced it with another attempt. */
  | "withdrawn"
  /** The daemon ended while it was open, so the answer could no longer reach the runtime. */
  | "host_restarted";

/** `approval.requested`: everything that a person needs in order to decide, in one event. */
export interface ApprovalRequestedPayload {
  /** Roost's id for the call, the same over all attempts. */
  tool_call_id: ToolCallId;
  /** The runtime's own id for the call; absent if it has none. */
  runtime_tool_call_id?: string;
  /** Counts attempts at the same call from 1: a replay or retry has the next number. */
  attempt: number;
  /** `sha256:<hex>` of the canonical JSON of the input, even where the event shows it shortened. */
  input_hash: string;
  /** The tool as the runtime names it. */
  name: string;
  /** The agent's own description of the call, not verified: show `name` and `input` beside it. */
  title?: string;
  /** What the runtime says the tool does; absent if it does not say. */
  kind?: ToolKind;
  /** The tool's arguments. Above 8 KiB they are shortened here, and `input_ref` has them in full. */
  input: unknown;
  /** The complete arguments; absent if `input` is complete. */
  input_ref?: ArtifactRef;
  /** How much harm the call can do, whichever rule asks; absent if the daemon that asked did not say. */
  class?: ToolClass;
  /** Name of the policy rule that requires the approval; absent if no named rule does. */
  rule?: string;
  /** The calls that a remembered answer would cover. Absent if the answer can only apply once. */
  offer?: CallPattern;
  /** When it is denied unless answered; absent if it waits without limit (`approval_timeout_minutes = 0`). */
  expires_at?: Timestamp;
}

/** `approval.resolved`: the approval is no longer open, whether somebody answered or not. */
export interface ApprovalResolvedPayload {
  /** Roost's id for the call, the same over all attempts. */
  tool_call_id: ToolCallId;
  /** The runtime's own id for the call; absent if it has none. */
  runtime_tool_call_id?: string;
  /** Counts attempts at the same call from 1: a replay or retry has the next number. */
  attempt: number;
  /** `sha256:<hex>` of the canonical JSON of the input, even where the event shows it shortened. */
  input_hash: string;
  /** The decision; `deny` whenever nobody answered. */
  decision: PolicyDecision;
  /** Whether it was answered, and if not, why it ended. */
  end: ApprovalEnd;
  /** How long the decision applies; `once` unless it was remembered. */
  scope: ApprovalScope;
  /** The reason that the runtime was given; absent if there was none. */
  reason?: string;
  /** Who answered; absent if nobody did. */
  answered_by?: Answerer;
  /** The arguments that the tool runs with, if the person changed them; absent means unchanged. */
  edited_input?: unknown;
  /** The rule that was stored from this answer; absent if it applies once. */
  remembered?: RememberedRule;
  /** What the session still waits for after this, an approval before a question; absent if for nothing, and in events of older versions (not in the seed). */
  still_waits_for?: PendingKind;
}

/** How long an answer to an approval applies. */
export type ApprovalScope =
  /** Only this attempt at this call. */
  | "once"
  /** Every matching call in the same session, also after a restart. */
  | "session"
  /** Every matching call in any session of the same workspace. */
  | "workspace"
  /** Every matching call in every workspace on this host. */
  | "always";

/** Bytes in the artifact store, by their content: equal bytes have one id. */
export type ArtifactId = string;

/** Parameters of `artifact/read`. */
export interface ArtifactParams {
  /** Id of the artifact, from an event. */
  artifact_id: string;
  /** First byte to return, from 0; 0 if absent. */
  offset?: number;
  /** Most bytes to return: 1 to 512 KiB, default 256 KiB. */
  length?: number;
}

/** A reference to bytes in the artifact store, for what is too big for an event. Read them with `artifact/read`. */
export interface ArtifactRef {
  /** Derived from the content, so equal bytes have one id. */
  artifact_id: ArtifactId;
  /** Media type, such as `text/plain`; absent if whoever stored it did not say. */
  content_type?: string;
  /** Size of the whole artifact in bytes. */
  size_bytes?: number;
  /** `sha256:<hex>` of the whole artifact. */
  content_hash?: string;
  /** File name to show; it names no file on disk. */
  name?: string;
}

/** A piece of an artifact. */
export interface ArtifactResult {
  /** Id of the artifact. */
  artifact_id: string;
  /** Encoding of `content`: `utf-8` if the piece is valid text, else `base64`. */
  encoding: string;
  /** The bytes of the piece, in `encoding`. */
  content: string;
  /** Position of its first byte. */
  offset: number;
  /** Size of the whole artifact in bytes. */
  size: number;
}

/** What `session/respond` answers. */
export type AskKind =
  /** An approval of a tool call. */
  | "permission"
  /** A question of the agent. */
  | "question";

/** One block of an agent's finished answer. Every one of them is also a [`TranscriptContentBlock`]. */
export type AssistantContentBlock =
  /** Text as the person or the agent wrote it. */
  | { type: "text"; text: string }
  /** Source code that the runtime marks as such instead of fencing it in text. */
  | { type: "code"; code: string; language?: string }
  /** Something too big or too binary to show inline. */
  | { type: "artifact_ref"; artifact_id: ArtifactId; name?: string; content_type?: string };

/** How much a record matters. */
export type AuditLevel =
  /** It went as intended. */
  | "info"
  /** Somebody may want to look. */
  | "warn"
  /** Something failed, or could not be done. */
  | "error";

/** Parameters of `audit/list`. */
export interface AuditListParams {
  /** Most records to return, 1 to 2000; 200 if absent. */
  limit?: number;
  /** The records that follow this event, the `last` of an earlier answer; without it, the newest ones. */
  after?: number;
}

/** What happened at the gateway. */
export interface AuditListResult {
  /** The records, the oldest first. */
  items: AuditRecord[];
  /** The number of the event up to which these are all: with it as `after`, no record is missed. */
  last: number;
}

/** One thing that happened at the gateway. */
export interface AuditRecord {
  /** Its number: later ones have greater ones, also after a restart. */
  seq: number;
  /** When it happened. */
  at: Timestamp;
  /** What happened, such as `service.started` or `mcp.tool_called`. */
  kind: string;
  /** The service that it is about; absent if it is about none. */
  serviceId?: ServiceId;
  /** How much it matters. */
  level: AuditLevel;
  /** What happened, for people. */
  message: string;
  /** More about it. */
  data: Record<string, unknown>;
}

/** How a runtime's user logs in. */
export type AuthModel =
  /** With OAuth; the credential lies on the local disk. */
  | "oauth_local"
  /** With an API key. */
  | "api_key"
  /** Either with OAuth or with an API key. */
  | "both"
  /** The runtime does not say. */
  | "unknown";

/** One block of a message's content. */
export type Block =
  /** Text. Code is fenced with its language; images and artifacts are named in brackets. */
  | { type: "text"; text: string }
  /** What the agent thought before it went on. */
  | { type: "thinking"; text: string }
  /** A tool call of the agent, or a question to the user. */
  | { type: "tool_use"; id: string; name: string; input: Record<string, unknown> }
  /** The result of a tool call, or how a question ended. */
  | { type: "tool_result"; tool_use_id: string; content: string; is_error: boolean };

/** What the settings of one program say about the gateway. */
export interface BootstrapClient {
  /** The program by its name, such as `codex`. */
  client: string;
  /** Its settings file. */
  path: string;
  /** Whether the file exists. */
  present: boolean;
  /** Whether it knows the gateway. */
  configured: boolean;
  /** How it reaches the gateway; absent if it does not know it. */
  transport?: GatewayTransport;
  /** The address; absent for the transport `stdio`. */
  endpoint?: string;
  /** The program that it starts; absent for the transport `http`. */
  command?: string;
  /** The arguments of that program; absent for the transport `http`. */
  args?: string[];
  /** Why the file cannot be used; absent if it can. */
  error?: string;
}

/** What became of the settings of one program. */
export interface BootstrapOutcome {
  /** The program by its name, such as `codex`. */
  client: string;
  /** Whether its settings were changed, or would be. */
  updated: boolean;
  /** Its settings file. */
  path: string;
  /** The lines that change; absent unless the change was only shown. */
  diff?: string;
  /** The file as it was before; absent if it was not changed or not there. */
  backup?: string;
  /** Why the file was left as it is; absent if it was not. */
  error?: string;
}

/** Parameters of `bootstrap/apply`. */
export interface BootstrapParams {
  /** The programs: `codex`, `claude`, `gemini`, `opencode`, `zed`, `cursor`, `vscode`; the first two if absent. */
  clients?: string[];
  /** How they reach the gateway; `stdio` if absent. */
  transport?: GatewayTransport;
  /** The address for the transport `http`; the daemon's own if absent. */
  endpoint?: string;
  /** Whether the `AGENTS.md` of the daemon's folder tells agents of the gateway; false if absent. */
  update_agents_md?: boolean;
  /** Whether the change is only shown; false if absent. */
  dry_run?: boolean;
}

/** Parameters of `bootstrap/remove`. */
export interface BootstrapRemoveParams {
  /** The programs; all of them if absent. */
  clients?: string[];
  /** Whether the lines in the `AGENTS.md` of the daemon's folder are removed, too; false if absent. */
  update_agents_md?: boolean;
  /** Whether the change is only shown; false if absent. */
  dry_run?: boolean;
}

/** What became of each file. */
export interface BootstrapRemoveResult {
  /** True if no program knows the gateway now, as far as it was asked for. */
  removed: boolean;
  /** What became of `AGENTS.md`; absent unless it was asked for. */
  agents_md?: AgentsMdOutcome;
  /** What became of each program's settings. */
  results: BootstrapOutcome[];
}

/** What became of each file. */
export interface BootstrapResult {
  /** How programs reach the gateway. */
  transport: GatewayTransport;
  /** The address; absent for the transport `stdio`. */
  endpoint?: string;
  /** What became of `AGENTS.md`; absent unless it was asked for. */
  agents_md?: AgentsMdOutcome;
  /** What became of each program's settings. */
  results: BootstrapOutcome[];
}

/** What the settings of all programs say about the gateway. */
export interface BootstrapStatus {
  /** Every program that is known here. */
  clients: BootstrapClient[];
}

/** What a run may use up. */
export type BudgetKind =
  /** Tool calls: all of a hosted agent's, those through the gateway of others. */
  | "calls"
  /** Tokens that models read and wrote. */
  | "tokens"
  /** Cost of models in US dollars. */
  | "cost_usd";

/** What a call of a service may take; a limit that is not given has a default. */
export interface CallLimits {
  /** How long a call may take, in milliseconds. */
  timeoutMs?: number;
  /** The tools that are offered; all unless given. */
  allowedTools?: string[];
  /** The size of a request and of an answer. */
  maxPayloadBytes?: number;
  /** How many calls may be under way at once. */
  maxConcurrency?: number;
}

/** A pattern for tool calls. A field that is absent matches every call. */
export interface CallPattern {
  /** Only calls by this runtime, by its id such as `claude`. */
  runtime?: string;
  /** Only calls of this tool, as the runtime names it. */
  tool?: string;
  /** Only calls that run, change or contact this. */
  touches?: Touches;
}

/** How far a tool call is. */
export type CallStatus =
  /** It runs, or waits for an approval. */
  | "running"
  /** It ended with success. */
  | "completed"
  /** It failed or was denied. */
  | "error"
  /** The task ended before it did. */
  | "interrupted";

/** What the runtime guarantees when a task is stopped. */
export type CancellationModel =
  /** It tries to stop, but may go on. */
  | "best_effort"
  /** It always stops. */
  | "guaranteed"
  /** The runtime does not say. */
  | "unknown";

/** A line of output in Claude's `stream-json`, whichever agent it comes from; for clients that watch the session. */
export interface ClaudeLog {
  /** The line: JSON, or plain text for diagnostics. */
  line: string;
  /** The stream that it belongs to. */
  stream: LogStream;
  /** The line's content in a simpler shape; absent for diagnostics. */
  parsed?: ParsedLine;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** A message of the conversation, as in `session/messages`; for clients that watch the session. */
export interface ClaudeMessage {
  /** Who it comes from. */
  type: Speaker;
  /** The same as `type`. */
  role: Speaker;
  /** The content in order; empty if it only ends the turn. */
  content: MessageBlock[];
  /** Whether it summarizes a context that became too long. */
  is_context_compaction: boolean;
  /** Unique id, the same as in `session/messages`. */
  uuid: string;
  /** The model that wrote it; absent if unknown. */
  model?: string;
  /** Why the agent stopped writing: `tool_use` after a call, otherwise the turn ends with this message. Absent if the turn goes on. */
  stop_reason?: string;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** An approval is needed, in a session that `agent/run` prompted without `interactive`; answer it with `permission/respond`. Sent instead of `pty_permission`, never beside it. */
export interface ClaudePermission {
  /** Roost's id of the tool call. */
  tool_use_id: string;
  /** The tool as the runtime names it. */
  tool_name: string;
  /** The tool's arguments as JSON text. */
  input: string;
  /** A sentence that says what would be done. */
  description: string;
  /** The same as `tool_name`. */
  tool: string;
  /** The same as `tool_use_id`. */
  request_id: string;
  /** The attempt at this call, to be sent back with the answer; a retry has a higher one. */
  attempt: number;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** The model of the session, when it becomes known or changes. */
export interface ClaudeSessionInfo {
  /** The model; absent if the runtime does not say. */
  model?: string;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** The agent's state changed. */
export interface ClaudeStatus {
  /** The new state. */
  state: AgentState;
  /** The prompt's first 500 characters; only when a task starts. */
  prompt?: string;
  /** When the task started; only when a task starts. */
  started_at?: Timestamp;
  /** Id of the client that sent the prompt; only when a task starts, and absent if no client did. */
  prompted_by?: string;
  /** Why the task failed; only for the state `error`. */
  error?: string;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** The agent asks a question; answer it with `session/respond`. */
export interface ClaudeWaiting {
  /** Id of the question. */
  tool_use_id: string;
  /** Always `AskUserQuestion`, the tool that clients know questions by. */
  tool_name: string;
  /** The whole question as JSON text, with all its fields. */
  input: string;
  /** The question's text. */
  question: string;
  /** The choices of its first field; empty means free text. */
  options: WaitingOption[];
  /** The same as `tool_use_id`. */
  request_id: string;
  /** The same as `question`. */
  description: string;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** Parameters of `session/client/answer`: a result, or an error in words. */
export interface ClientAnswerParams {
  /** Id of the request, from `session/client/next`. */
  request_id: number;
  /** What was asked for, as the Agent Client Protocol has it. */
  result?: unknown;
  /** Why it could not be done; Roost then does it by itself where it can. */
  error?: string;
}

/** One connection of a client; a new one for every connection. */
export type ClientId = string;

/** A client's name and version. */
export interface ClientInfo {
  /** Name of the client program. */
  name?: string;
  /** Version of the client program. */
  version?: string;
}

/** Parameters of `session/client/offer`. The offer holds until the connection ends or another one replaces it. */
export interface ClientOfferParams {
  /** Id of the session, from `session/start` or `session/list`. */
  session_id: string;
  /** Whether the client reads text files of the session's folder, with what is not saved yet. */
  read_files?: boolean;
  /** Whether the client writes text files of the session's folder. */
  write_files?: boolean;
  /** Whether the client runs commands; only clients on this machine are asked to. */
  terminals?: boolean;
}

/** A request of a session's agent to a client, in the form of the Agent Client Protocol. */
export interface ClientRequest {
  /** Id of the request, for `session/client/answer`. */
  request_id: number;
  /** Id of the session whose agent asks. */
  session_id: string;
  /** The method of the Agent Client Protocol, such as `fs/read_text_file`; or `_roost/show_terminal`, which asks to show the terminal `terminalId` inside the tool call `toolCallId`. */
  method: string;
  /** The parameters of that method, with the id of the session as the client knows it. */
  params: unknown;
}

/** Where a slash command comes from. */
export type CommandOrigin =
  /** A file in the user's own folders. */
  | "user"
  /** A file of the project, so of whoever wrote the project. */
  | "project"
  /** The runtime itself brings it. */
  | "runtime";

/** How much of the model's context window is in use. */
export interface ContextFill {
  /** Tokens in use. */
  used: number;
  /** Tokens that fit into the window. */
  size: number;
}

/** How a conversation was shortened to fit the runtime's limit. */
export type ContextStrategy =
  /** Nothing was left out. */
  | "none"
  /** The oldest messages were left out until the rest fitted. */
  | "truncate_oldest";

/** Which part of the transcript was sent to the runtime. */
export interface ContextWindow {
  /** How the conversation was shortened. */
  strategy: ContextStrategy;
  /** The runtime's limit in characters; absent if it has none. */
  max_chars?: number;
  /** Positions (from 0) of the messages that were left out; absent if none were. */
  omitted_indices?: number[];
  /** True if even the last message exceeded the limit; absent otherwise. */
  overflow?: boolean;
}

/** The state of the daemon, for its owner. */
export interface DaemonStatus {
  /** Process id of the daemon. */
  pid: number;
  /** Version of Roost. */
  version: string;
  /** Address and port that it listens on; absent if it has only the local socket. */
  address?: string;
  /** Seconds since it started. */
  uptime_seconds: number;
  /** Clients that are connected now, including this one. */
  clients: number;
  /** Number of tasks that are running. */
  running_tasks: number;
  /** Number of approvals and questions that wait for an answer. */
  pending: number;
  /** Number of paired devices. */
  devices: number;
  /** Addresses (for IPv6, networks) that sent too many wrong codes since the last pairing code was shown; absent if none did. */
  locked_addresses?: string[];
  /** Whether wrong codes from all addresses together have made the pairing code invalid; false if absent. */
  code_withdrawn: boolean;
  /** Whether a client started it in the background, so that it stops by itself when it is no longer used. */
  auto_started: boolean;
  /** `ok`, or `stalled: ` or `failed: ` with the reason why events cannot be stored. */
  log: string;
  /** Bytes that the log takes on its disk; absent from older daemons, or if they cannot be measured. */
  log_bytes?: number;
  /** Bytes that are free on that disk; absent where `log_bytes` is. */
  free_bytes?: number;
}

/** Parameters of `session/delete`. Without a `session_id`, every session that matches the others is removed from lists. */
export interface DeleteParams {
  /** Id of the session, from `session/start` or `session/list`. */
  session_id?: string;
  /** Only sessions of this workspace; any if absent. */
  workspace_id?: string;
  /** Only sessions of this runtime; any if absent. */
  agent_type?: string;
}

/** The sessions are no longer listed. Their events stay until retention removes them. */
export interface DeleteResult {
  /** Always `deleted`; a failure is an error. */
  status: string;
  /** Number of sessions. */
  deleted: number;
  /** The session from the parameters; absent if none was named. */
  session_id?: string;
  /** The workspace from the parameters; absent if none was named. */
  workspace_id?: string;
}

/** What a piece of a message belongs to. */
export type DeltaKind =
  /** The answer that the agent writes. */
  | "text"
  /** The thinking before it. */
  | "thinking";

/** A paired device. */
export interface Device {
  /** Id of the device. */
  device_id: string;
  /** Name to show, from what it said of itself when it was paired. */
  name: string;
  /** What it may do. */
  scope: Scope;
  /** When it was paired. */
  paired_at: Timestamp;
  /** When it last used a token; always present in this version. */
  last_seen?: Timestamp;
  /** The address that it was paired from, without a port; absent if unknown. */
  remote_addr?: string;
  /** When its refresh token expires. It must be paired again unless it refreshes before. */
  expires_at: Timestamp;
  /** Number of its open connections. */
  connections: number;
}

/** Parameters of `device/approve`. */
export interface DeviceApproveParams {
  /** Id of the request, from `device/pending`. */
  request_id: string;
  /** True turns the device away instead; false if absent. */
  reject?: boolean;
}

/** A paired device: `dev_` and 32 hex digits. */
export type DeviceId = string;

/** The paired devices. */
export interface DeviceListResult {
  /** All paired devices. */
  devices: Device[];
}

/** `device.paired`: a device may now use this host. */
export interface DevicePairedPayload {
  /** Its new id. */
  device_id: DeviceId;
  /** Display name: what the device calls itself. */
  name: string;
  /** What the device may do. */
  scope: Scope;
}

/** Parameters of `device/revoke`. */
export interface DeviceRevokeParams {
  /** Id of the device, from `device/list`. */
  device_id: string;
}

/** `device.revoked`: a device may no longer use this host. */
export interface DeviceRevokedPayload {
  /** The device whose tokens no longer work. */
  device_id: DeviceId;
  /** Why it was revoked, for people. */
  reason: string;
}

/** Parameters of `device/token`. */
export interface DeviceTokenParams {
  /** Name under which the program is listed among the devices. */
  name: string;
  /** What the program may do: `observe`, or `operate` if absent. Never `admin`. */
  scope?: Scope;
}

/** The token of a program. It cannot be asked for again. */
export interface DeviceTokenResult {
  /** Id of the program among the devices, for `device/revoke`. */
  device_id: string;
  /** The token, for `Authorization: Bearer`. It is not refreshed. */
  token: string;
  /** What it allows. */
  scope: Scope;
  /** When it ends: a year after it was made, unless it is revoked before. */
  expires_at: Timestamp;
}

/** A change that a tool call makes to a file. */
export interface DiffElement {
  /** The `tool_id` of the call. */
  tool_call_id: string;
  /** Path of the file, as the agent gave it. */
  file_path: string;
  /** The number of changed lines. */
  summary: DiffSummary;
  /** The changes, in the file's order. */
  hunks: DiffHunk[];
}

/** A group of changed lines with up to 3 unchanged lines around them. */
export interface DiffHunk {
  /** The header as in a unified diff: `@@ -1,2 +1,3 @@`. */
  header: string;
  /** Number of the first line before the change, from 1; if there are none, of the line before. */
  old_start: number;
  /** Number of lines before the change. */
  old_count: number;
  /** Number of the first line after the change, from 1; if there are none, of the line before. */
  new_start: number;
  /** Number of lines after the change. */
  new_count: number;
  /** The lines in order. */
  lines: DiffLine[];
}

/** One line of a diff. */
export interface DiffLine {
  /** What the change does to it. */
  type: LineChange;
  /** Its number before the change, from 1; absent for an added line. */
  old_line?: number;
  /** Its number after the change, from 1; absent for a removed line. */
  new_line?: number;
  /** The line without its line break. */
  content: string;
}

/** The number of lines that a diff changes. */
export interface DiffSummary {
  /** Number of lines added. */
  added: number;
  /** Number of lines removed. */
  removed: number;
  /** Both numbers as text, such as `+3 -1`. */
  display: string;
}

/** A folder of a workspace, with numbers for what it contains. */
export interface DirInfo {
  /** Path, relative to the workspace's folder. */
  path: string;
  /** Name without the path. */
  name: string;
  /** Folders in it; too few if there were too many to count. */
  folder_count: number;
  /** Files in it; too few if there were too many to count. */
  file_count: number;
  /** Size of those files together, in bytes. */
  total_size_bytes: number;
  /** That size for people, such as `20.0 KB`. */
  total_size_display: string;
  /** When it was last modified. */
  last_modified: Timestamp;
  /** That time for people, such as `2 hours ago`. */
  modified_display: string;
}

/** A git repository on this machine. */
export interface DiscoveredRepository {
  /** Its folder, absolute. */
  path: string;
  /** Name of its folder. */
  name: string;
  /** Address of its remote, without a password; absent if it has none. */
  remote_url?: string;
  /** When git last changed something in it. */
  last_modified: Timestamp;
  /** Whether it is a workspace already. */
  is_configured: boolean;
}

/** Whether something was done, with a sentence for people. */
export interface Done {
  /** False only if there was nothing to do; a failure is an error. */
  success: boolean;
  /** The result for people. */
  message: string;
}

/** One thing to draw. */
export type Element = {
  /** Derived from the event's `seq` (or the position in the runtime's own record), so it never changes. */
  id: string;
  /** When the event was recorded. */
  timestamp: Timestamp;
} & (
  /** A prompt of the user. */
  | { type: "user_input"; content: { text: string } }
  /** An answer of the agent. */
  | { type: "assistant_text"; content: { text: string; model?: string } }
  /** A tool call, or a question to the user. Its status changes later. */
  | { type: "tool_call"; content: ToolCallElement }
  /** The result of a tool call or question. */
  | { type: "tool_result"; content: ToolResultElement }
  /** A change that a tool call makes to a file. */
  | { type: "diff"; content: DiffElement }
  /** The agent's reasoning. */
  | { type: "thinking"; content: { text: string; collapsed: boolean } }
  /** The task was stopped or failed before its end. */
  | { type: "interrupted"; content: { tool_call_id: string; message: string } }
);

/** Which part of a session's elements a page contains. */
export interface ElementsPage {
  /** Number of all elements. */
  total: number;
  /** Number of elements in this page. */
  returned: number;
  /** Whether there are elements before these; get them with `before` and `oldest_id`. */
  has_more_before: boolean;
  /** Whether there are elements after these; get them with `after` and `newest_id`. */
  has_more_after: boolean;
  /** Id of the first element here; absent if the page is empty. */
  oldest_id?: string;
  /** Id of the last element here; absent if the page is empty. */
  newest_id?: string;
}

/** Parameters of `session/elements`. Without `before` and `after` the last elements are returned. */
export interface ElementsParams {
  /** Id of the session; the runtime's own id is understood, too. */
  session_id: string;
  /** Id of the runtime that the session must have; any if absent. */
  agent_type?: string;
  /** Most elements to return: 1 to 100, default 50. */
  limit?: number;
  /** Return the last elements before the one with this id. An unknown id is an error. */
  before?: string;
  /** Return the first elements after the one with this id. An unknown id is an error. */
  after?: string;
}

/** A page of elements. */
export interface ElementsResult {
  /** Id of the session. */
  session_id: string;
  /** The elements of this page, oldest first. */
  elements: Element[];
  /** Which part of the session they are. */
  pagination: ElementsPage;
}

/** An empty result. */
export type Empty = Record<string, never>;

/** Whether an entry is a file or a folder. */
export type EntryType =
  /** A file, or a symbolic link to anything. */
  | "file"
  /** A folder itself, never a link to one. */
  | "directory";

/** `event/batch`: events as they are in the log, for the format `normalized`. */
export interface EventBatch {
  /** The events in order. */
  events: NormalizedEvent[];
  /** The cursor after the last of them; pass it as `after` to resume. */
  cursor: string;
}

/** The form in which a subscription sends events. */
export type EventFormat =
  /** One notification `event/<name>` for everything that a screen shows. */
  | "cdev"
  /** The log's own events in batches, as `event/batch`. */
  | "normalized";

/** How serious an event is. */
export type EventLevel =
  /** What usually happens. */
  | "info"
  /** Somebody should look at it. */
  | "warn"
  /** Something failed, or could not be done. */
  | "error";

/** The subscription is active. */
export interface EventsSubscribeResult {
  /** The form of the events. */
  format: EventFormat;
  /** Events after this cursor will be sent. */
  cursor: string;
}

/** Why a task failed. The first seven are seed 001's; the rest are what only a host can know. */
export type FailureCode =
  /** The prompt alone is bigger than the runtime's limit, so leaving out history cannot help. */
  | "CONTEXT_TOO_LARGE"
  /** The runtime reported an error of its own. */
  | "RUNTIME_ERROR"
  /** A tool failed, and the runtime ended the task because of it. */
  | "TOOL_ERROR"
  /** The runtime is not logged in; log in with the runtime's own command. */
  | "AUTH_ERROR"
  /** The task was cut off by a stop that left no record. */
  | "CANCELLED"
  /** The runtime sent something that cannot be turned into an event. */
  | "INVALID_EVENT"
  /** A fault in Roost itself. */
  | "INTERNAL"
  /** The runtime's process could not be started. */
  | "SPAWN_FAILED"
  /** The runtime's process ended in the middle of the task; see `stderr_tail`. */
  | "RUNTIME_EXITED"
  /** The daemon ended in the middle of the task. */
  | "HOST_RESTARTED"
  /** The disk is full, so events could no longer be stored. */
  | "STORAGE_FULL"
  /** The runtime ran a tool without the permission that it had to ask for. */
  | "POLICY_VIOLATION"
  /** The session has used up its budget of tool calls, tokens or cost; raise it in `[budgets]` of roost.toml. */
  | "BUDGET_EXCEEDED";

/** What happened to a file. */
export type FileChange =
  /** It was created. */
  | "created"
  /** Its content or attributes changed. */
  | "modified"
  /** It was deleted. */
  | "deleted"
  /** It was moved from `old_path`. */
  | "renamed";

/** A file of a workspace changed. */
export interface FileChanged {
  /** Id of the workspace. */
  workspace_id: string;
  /** Path, relative to the workspace's folder. */
  path: string;
  /** What happened to it. */
  change: FileChange;
  /** When it was sent. */
  timestamp: Timestamp;
  /** Its size in bytes; absent if it was deleted. */
  size?: number;
  /** Its path before; only for `renamed`. */
  old_path?: string;
}

/** The content of a file, or a part of it. */
export interface FileContent {
  /** Path of the file, relative to the workspace's folder. */
  path: string;
  /** The bytes that were read, in `encoding`. */
  content: string;
  /** Encoding of `content`. */
  encoding: FileEncoding;
  /** Whether the file goes on after them. */
  truncated: boolean;
  /** Size of the whole file in bytes. */
  size: number;
  /** Position of the first byte that was read. */
  offset: number;
  /** Media type, judged by the content. */
  media_type: string;
  /** Whether its name suggests that it contains secrets, such as `.env`. */
  is_sensitive: boolean;
}

/** How a file's bytes are written into JSON. */
export type FileEncoding =
  /** As text, because they are valid UTF-8. */
  | "utf-8"
  /** As base64, because they are not text. */
  | "base64";

/** Parameters of `file/get` and `workspace/file/get`. */
export interface FileGetParams {
  /** Path of the file, relative to the workspace's folder. */
  path: string;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Most KiB to read: 1 to 10000, default 500. Fewer are read if the answer would exceed 768 KiB. */
  max_size_kb?: number;
  /** First byte to read, from 0; 0 if absent. */
  offset?: number;
  /** False refuses a file of which a part would be missing in the answer; true if absent. */
  truncate?: boolean;
}

/** A file of a workspace. */
export interface FileInfo {
  /** Path, relative to the workspace's folder. */
  path: string;
  /** Name without the path. */
  name: string;
  /** Path of the folder that contains it; empty for the workspace's own folder. */
  directory: string;
  /** What follows the last dot of its name; absent if there is none. */
  extension?: string;
  /** Size in bytes. */
  size_bytes: number;
  /** When it was last modified. */
  modified_at: Timestamp;
  /** When this entry was read. */
  indexed_at: Timestamp;
  /** Whether its content is not text. */
  is_binary: boolean;
  /** Whether it is a symbolic link. */
  is_symlink: boolean;
  /** Whether its name suggests that it contains secrets, such as `.env`. */
  is_sensitive: boolean;
  /** Whether git tracks it. */
  git_tracked: boolean;
  /** Whether git ignores it; always false in results from the index, which leaves such files out. */
  git_ignored: boolean;
}

/** One entry of a folder. */
export interface FileListEntry {
  /** Its name without the path. */
  name: string;
  /** Whether it is a file or a folder. */
  type: EntryType;
  /** Size of a file in bytes; absent for a folder. */
  size?: number;
  /** When it was last modified; absent if the file system does not say. */
  modified?: Timestamp;
  /** Number of entries directly in a folder; absent for a file. */
  children_count?: number;
}

/** Parameters of `file/list`. */
export interface FileListParams {
  /** Path of the folder, relative to the workspace's folder; the workspace's folder itself if absent. */
  path?: string;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Most entries to return; as many as fit into 768 KiB if absent. */
  limit?: number;
  /** Entries to skip; 0 if absent. */
  offset?: number;
}

/** The entries of a folder, folders first. Hidden ones are left out, as are `node_modules`, `__pycache__` and `vendor`. */
export interface FileListResult {
  /** Path of the folder, relative to the workspace's folder. */
  path: string;
  /** The entries of this page. */
  entries: FileListEntry[];
  /** Number of entries on all pages. */
  total_count: number;
}

/** What files are sorted by. */
export type FileSort =
  /** By name without the path; the default. */
  | "name"
  /** By size in bytes. */
  | "size"
  /** By time of the last modification. */
  | "modified"
  /** By path, relative to the workspace's folder. */
  | "path";

/** Parameters of `workspace/files/list`. */
export interface FilesListParams {
  /** Id of the workspace, from `workspace/list`. */
  workspace_id: string;
  /** Path of the folder, relative to the workspace's folder; the workspace's folder itself if absent. */
  directory?: string;
  /** Most files to return: 1 to 500, default 100. Folders are not counted. */
  limit?: number;
  /** Files to skip; 0 if absent. */
  offset?: number;
  /** Whether to include names that begin with a dot; false if absent. */
  include_hidden?: boolean;
}

/** A page of a folder's files, and all of its folders that fit. */
export interface FilesListResult {
  /** Path of the folder, relative to the workspace's folder. */
  directory: string;
  /** The files of this page, by name. */
  files: FileInfo[];
  /** The folders in it; not paged. */
  directories: DirInfo[];
  /** Number of files on all pages. */
  total_files: number;
  /** Number of folders in it. */
  total_directories: number;
  /** Which part of the files this page contains. */
  pagination: FilesPage;
}

/** Which part of the files a page contains. */
export interface FilesPage {
  /** Most files that the page could have. */
  limit: number;
  /** Files before this page. */
  offset: number;
  /** Whether there are files after this page. */
  has_more: boolean;
}

/** More than 64 files changed at once, or changes were missed: list the files again. */
export interface FilesRescanned {
  /** Id of the workspace. */
  workspace_id: string;
  /** Number of files that changed. */
  changed_count: number;
  /** Why single changes are not reported, for people. */
  reason: string;
  /** When it was sent. */
  timestamp: Timestamp;
}

/** The clients that have the session on their screen. */
export interface FocusResult {
  /** Id of the workspace. */
  workspace_id: string;
  /** Id of the session. */
  session_id: string;
  /** Ids of the other clients that watch it or have it on their screen. */
  other_viewers: string[];
  /** Number of those clients, including this one. */
  viewer_count: number;
  /** Always true; a failure is an error. */
  success: boolean;
}

/** What may be done to the files of a folder. */
export type FolderAccess =
  /** They may be listed and read. */
  | "read"
  /** They may also be written, made and removed. */
  | "write";

/** A folder whose files may be used. */
export interface FolderGrant {
  /** The absolute path of the folder. */
  path: string;
  /** What may be done to the files below it. */
  access: FolderAccess;
}

/** The point at which a session was forked from another one. */
export interface Forked {
  /** The session it was forked from. */
  session_id: SessionId;
  /** `seq` of the last event of that session that both have in common. */
  seq: number;
  /** Tasks that the other session had had by then. */
  tasks: number;
  /** Messages that the other session had by then. */
  messages: number;
}

/** The gateway's endpoint. */
export interface GatewayEndpoint {
  /** The address that is listened on; absent if only the local socket is. */
  listen?: string;
  /** The path of the endpoint. */
  mcpPath: string;
  /** Whether every enabled service that starts with the daemon can be used. */
  healthy: boolean;
  /** The namespaces of those that cannot, or that do not answer as they should. */
  degraded: string[];
}

/** How a program reaches the gateway. */
export type GatewayTransport =
  /** It starts `roost gateway serve --stdio`; no token is needed. */
  | "stdio"
  /** It sends requests to the daemon, with a token from the variable `ROOST_TOKEN`. */
  | "http";

/** A local branch, or a remote's branch as of the last fetch. */
export interface GitBranch {
  /** Its name; for a remote's branch with the remote's name before it, such as `origin/main`. */
  name: string;
  /** Whether it is checked out. */
  is_current: boolean;
  /** Whether it is a remote's branch, as of the last fetch. */
  is_remote: boolean;
  /** Its upstream, such as `origin/main`; absent if it has none. */
  upstream?: string;
  /** Commits that the upstream does not have; 0 without an upstream. */
  ahead: number;
  /** Commits that only the upstream has; 0 without an upstream. */
  behind: number;
}

/** Another branch is checked out, by a client or by anybody else. */
export interface GitBranchChanged {
  /** Id of the workspace. */
  workspace_id: string;
  /** The branch before; `HEAD` if it was detached. */
  from_branch: string;
  /** The branch that is checked out now. */
  to_branch: string;
  /** When it was noticed. */
  timestamp: Timestamp;
  /** The cursor after this event; pass it as `after` to resume. */
  cursor?: string;
}

/** `git.branch.changed`: another branch was checked out, by a client or by anybody else. */
export interface GitBranchChangedPayload {
  /** The workspace whose repository it is. */
  workspace_id: WorkspaceId;
  /** The branch before; `HEAD` if none was checked out. */
  from_branch: string;
  /** The branch that is checked out now. */
  to_branch: string;
  /** The session that did it; always absent in this version. */
  session_id?: SessionId;
}

/** Parameters of `git/branch/delete`. */
export interface GitBranchDeleteParams {
  /** Name of the local branch. */
  branch: string;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Whether to delete it even if some of its commits are merged nowhere else; false if absent. */
  force?: boolean;
  /** Whether to delete it on its remote, too; false if absent. */
  delete_remote?: boolean;
}

/** The branch is deleted. */
export interface GitBranchDeleteResult {
  /** Always true; a failure to delete it here is an error. */
  success: boolean;
  /** Name of the branch. */
  branch: string;
  /** The result for people. */
  message: string;
  /** Whether it was also deleted on its remote. */
  deleted_remote: boolean;
  /** Why it could not be deleted on its remote; absent if it was, or was not requested. The local branch is gone all the same. */
  remote_error?: string;
}

/** The branches of a repository. */
export interface GitBranchesResult {
  /** The branch that is checked out; empty if the HEAD is detached. */
  current: string;
  /** Its upstream; absent if it has none. */
  upstream?: string;
  /** Commits that the upstream does not have; 0 without an upstream. */
  ahead: number;
  /** Commits that only the upstream has; 0 without an upstream. */
  behind: number;
  /** Local branches first, then those of the remotes; fewer if the answer would exceed 768 KiB. */
  branches: GitBranch[];
}

/** Parameters of `git/checkout`. */
export interface GitCheckoutParams {
  /** Name of the branch. A branch that only a remote has is created here with that upstream. */
  branch: string;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Whether to create the branch at the current commit; false if absent. */
  create?: boolean;
}

/** The branch is checked out. */
export interface GitCheckoutResult {
  /** Always true; a failure is an error. */
  success: boolean;
  /** The branch that is checked out now. */
  branch: string;
  /** The branch before; `HEAD` if it was detached. */
  from_branch: string;
  /** The result for people. */
  message: string;
}

/** A commit, with the refs that point to it. */
export interface GitCommit {
  /** Its full id. */
  sha: string;
  /** Its id, abbreviated so that it is unique. */
  short_sha: string;
  /** Name of the author. */
  author: string;
  /** E-mail address of the author. */
  author_email: string;
  /** Time of the commit. */
  date: Timestamp;
  /** That time for people, such as `2 hours ago`. */
  relative_date: string;
  /** First line of the message. */
  subject: string;
  /** The message without its first line; absent if there is no more. */
  body?: string;
  /** Full ids of its parents, the first parent first. */
  parent_shas: string[];
  /** Whether it has more than one parent. */
  is_merge: boolean;
  /** The branches and tags that point to it. */
  refs: GitRef[];
  /** Its place in the graph; absent unless `graph` was requested. */
  graph_position?: GitGraphPosition;
}

/** Parameters of `git/commit`, which commits what is in the index. */
export interface GitCommitParams {
  /** The commit message. */
  message: string;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Whether to push the branch afterwards; false if absent. */
  push?: boolean;
  /** A session of this workspace to name in a trailer of the message; no trailer if absent. */
  session_id?: string;
}

/** The commit was made. */
export interface GitCommitResult {
  /** Always true; a failure is an error. */
  success: boolean;
  /** Abbreviated id of the commit. */
  sha: string;
  /** First line of its message. */
  message: string;
  /** Number of files that it changes. */
  files_committed: number;
  /** Whether it was also pushed. */
  pushed: boolean;
  /** Why the push failed; absent if it succeeded or was not requested. The commit stays. */
  push_error?: string;
}

/** The diff of a file, after it changed. Sent for up to 8 files that changed together. */
export interface GitDiff {
  /** Id of the workspace. */
  workspace_id: string;
  /** Path, relative to the workspace's folder. */
  file: string;
  /** The same as `file`, by the name that some clients read. */
  path: string;
  /** The unified diff as `git diff` writes it, at most 64 KiB. */
  diff: string;
  /** Lines added, in what is shown. */
  additions: number;
  /** Lines deleted, in what is shown. */
  deletions: number;
  /** Whether it compares the index with the last commit. */
  is_staged: boolean;
  /** Whether the file is new. */
  is_new_file: boolean;
  /** The same as `is_new_file`, by the name that some clients read. */
  is_new: boolean;
  /** Whether the diff was cut. */
  is_truncated: boolean;
  /** When it was sent. */
  timestamp: Timestamp;
}

/** Parameters of `git/diff`. */
export interface GitDiffParams {
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Path of the file or folder; every changed file if absent or empty. */
  path?: string;
  /** True compares the index with the last commit, false the files with the index. If absent, both for all files; for one file the first of false and true that has changes. */
  staged?: boolean;
}

/** The diff of the file that was named, or of every changed file. */
export interface GitDiffResult {
  /** The file that was named; empty if none was. */
  path: string;
  /** Its unified diff; empty if no file was named. */
  diff: string;
  /** Whether it compares the index with the last commit. */
  is_staged: boolean;
  /** Whether the file is new. */
  is_new: boolean;
  /** Whether it is not text. */
  is_binary: boolean;
  /** Whether this diff, or one in `diffs`, was cut. */
  is_truncated: boolean;
  /** The diff of every changed file; absent if one was named. */
  diffs?: GitFileDiff[];
}

/** The files are as they were in the index. */
export interface GitDiscardResult {
  /** Always true; a failure is an error. */
  success: boolean;
  /** Paths of the files that were restored or deleted. */
  discarded: string[];
}

/** Parameters of `git/fetch`. */
export interface GitFetchParams {
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Name of the remote; `origin` if absent. */
  remote?: string;
  /** Whether to remove branches here that the remote no longer has; false if absent. */
  prune?: boolean;
}

/** The result of a fetch. */
export interface GitFetchResult {
  /** Always true; a failure is an error. */
  success: boolean;
  /** Git's own output, for people. */
  message: string;
  /** Names of the remote's branches that moved. */
  updated_refs: string[];
  /** Names of the remote's branches that are new. */
  new_branches: string[];
  /** Names of the remote's branches that were removed here; empty unless `prune` was requested. */
  pruned_branches: string[];
  /** Number of new commits. */
  new_commits: number;
}

/** A changed file. */
export interface GitFile {
  /** Path, relative to the workspace's folder. */
  path: string;
  /** One letter as in `git status`: `M`, `A`, `D`, `R`, `C` or `T`; `?` for untracked, `!` for a conflict. */
  status: string;
  /** Lines added; absent if it is not text or too many files changed to count. */
  additions?: number;
  /** Lines deleted; absent if it is not text or too many files changed to count. */
  deletions?: number;
  /** Path before it was renamed or copied; absent if it was not. */
  old_path?: string;
  /** True if the name is not UTF-8; absent otherwise. `path` then shows it with replacement characters and cannot be used: name its folder instead. */
  not_utf8?: boolean;
}

/** The diff of one file. */
export interface GitFileDiff {
  /** Path, relative to the workspace's folder. */
  path: string;
  /** The unified diff as `git diff` writes it; empty if there was no room for it. */
  diff: string;
  /** Whether it compares the index with the last commit. */
  is_staged: boolean;
  /** Whether the file is new. */
  is_new: boolean;
  /** Whether it is not text; the diff then only says that it differs. */
  is_binary: boolean;
  /** Whether the diff was cut. */
  is_truncated: boolean;
  /** Lines added, in what is shown. */
  additions: number;
  /** Lines deleted, in what is shown. */
  deletions: number;
}

/** A line of the graph, from one commit's row to the row below. */
export interface GitGraphLine {
  /** Column in this row, from 0. */
  from_column: number;
  /** Column in the row below, from 0. */
  to_column: number;
  /** `straight`, `merge_left`, `merge_right`, `branch_left`, `branch_right` or `pass`. */
  type: string;
}

/** The place of a commit in the graph. */
export interface GitGraphPosition {
  /** Its column, from 0. */
  column: number;
  /** The lines from its row to the row below. */
  lines: GitGraphLine[];
}

/** Parameters of `git/init`, for a workspace whose folder is not a repository yet. */
export interface GitInitParams {
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Name of the first branch; `main` if absent. */
  initial_branch?: string;
  /** Whether to commit all files that are there; false if absent. */
  initial_commit?: boolean;
  /** Message of that commit; `Initial commit` if absent. */
  commit_message?: string;
}

/** The folder is now a repository. */
export interface GitInitResult {
  /** Always true; a failure is an error. */
  success: boolean;
  /** The result for people. */
  message: string;
  /** Name of its branch. */
  branch: string;
  /** Abbreviated id of the first commit; absent if none was made. */
  commit_sha?: string;
  /** Files in the first commit; absent if none was made. */
  files_committed?: number;
}

/** Parameters of `git/log`. */
export interface GitLogParams {
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Most commits to return: 1 to 500, default 50. */
  limit?: number;
  /** Commits to skip, at most 100000; 0 if absent. */
  skip?: number;
  /** Branch, tag or commit to start from; what is checked out if absent. */
  branch?: string;
  /** Only commits that changed this file or folder; all if absent. */
  path?: string;
  /** Whether to compute the columns and lines of a graph; false if absent. */
  graph?: boolean;
  /** Only commits whose author's name or e-mail address contains this; all if absent. */
  author?: string;
  /** Only commits after this time, in any form that git reads; all if absent. */
  since?: string;
  /** Only commits before this time, in any form that git reads; all if absent. */
  until?: string;
}

/** A page of commits. */
export interface GitLogResult {
  /** The commits, newest first. */
  commits: GitCommit[];
  /** Number of commits on all pages. */
  total_count: number;
  /** Whether there are more commits after these. */
  has_more: boolean;
  /** Number of columns in the graph; 0 without one. */
  max_columns: number;
}

/** Parameters of `git/merge`. */
export interface GitMergeParams {
  /** Branch, tag or commit to merge into what is checked out. */
  branch: string;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Whether to make a merge commit even if a fast-forward is possible; false if absent. */
  no_ff?: boolean;
  /** Message of the merge commit; git's own if absent. */
  message?: string;
}

/** The result of a merge, or of applying or dropping a stash. */
export interface GitMergeResult {
  /** False if conflicts have to be resolved first. */
  success: boolean;
  /** Git's own output, for people. */
  message: string;
  /** Full id of the commit that is checked out now. */
  commit_sha: string;
  /** Whether files have conflicts. */
  has_conflicts: boolean;
  /** Files with conflicts; empty if there are none. */
  conflicted_files: string[];
}

/** A git operation for a client ended, by whichever client. */
export interface GitOperationCompleted {
  /** Id of the workspace. */
  workspace_id: string;
  /** Name of the operation, such as `commit` or `stash/pop`. */
  operation: string;
  /** False if it failed, or if conflicts have to be resolved first. */
  success: boolean;
  /** When it ended. */
  timestamp: Timestamp;
  /** The result for people, at most 2 KiB; absent if there is nothing to say. */
  message?: string;
  /** Why it failed, at most 2 KiB; absent if it did not. */
  error?: string;
  /** Full id of the commit that it made; absent if it made none. */
  sha?: string;
  /** The branch that it changed or used; absent if it concerned none. */
  branch?: string;
  /** How many paths or files it changed; absent if it does not count them. */
  files_affected?: number;
  /** Commits that were sent to the remote; only for a push. */
  commits_pushed?: number;
  /** Commits that came from the remote; only for a pull or fetch. */
  commits_pulled?: number;
  /** Files with conflicts, at most 100; absent if there are none. */
  conflicted_files?: string[];
  /** The cursor after this event; pass it as `after` to resume. */
  cursor?: string;
}

/** `git.operation.completed`: a git operation for a client ended. */
export interface GitOperationCompletedPayload {
  /** The workspace whose repository it was. */
  workspace_id: WorkspaceId;
  /** Name of the operation, such as `commit` or `stash/pop`. */
  operation: string;
  /** False if it failed, or if conflicts have to be resolved first. */
  success: boolean;
  /** The result for people, at most 2 KiB; absent if there is nothing to say. */
  message?: string;
  /** Why it failed, at most 2 KiB; absent if it did not. */
  error?: string;
  /** The commit that it made; absent if it made none. */
  sha?: string;
  /** The branch that it changed or used; absent if it concerned none. */
  branch?: string;
  /** How many paths or files it changed; absent if it does not count them. */
  files_affected?: number;
  /** Commits that were sent to the remote; only for a push. */
  commits_pushed?: number;
  /** Commits that came from the remote; only for a pull or fetch. */
  commits_pulled?: number;
  /** Files with conflicts, at most 100; absent if there are none. */
  conflicted_files?: string[];
}

/** Progress of a push, pull or fetch, at most every 250 ms for one phase. */
export interface GitOperationProgress {
  /** Id of the workspace. */
  workspace_id: string;
  /** Name of the operation, such as `push`. */
  operation: string;
  /** Git's name for the current phase, such as `Writing objects`. */
  phase: string;
  /** When it was sent. */
  timestamp: Timestamp;
  /** Progress of this phase in percent, from 0 to 100; absent if git does not say. */
  percent?: number;
}

/** Parameters that select a workspace's repository. */
export interface GitParams {
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
}

/** Parameters of `git/stage`, `git/unstage` and `git/discard`. */
export interface GitPathsParams {
  /** Paths of files and folders, relative to the workspace's folder and taken literally; at least one. `.` is everything; an empty path is refused. */
  paths: string[];
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
}

/** Parameters of `git/pull`. */
export interface GitPullParams {
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Whether to rebase the local commits instead of merging; false if absent. */
  rebase?: boolean;
}

/** The result of a pull. */
export interface GitPullResult {
  /** False if conflicts have to be resolved first. */
  success: boolean;
  /** Git's own output, for people. */
  message: string;
  /** Number of new commits. */
  commits_pulled: number;
  /** Number of files that changed. */
  files_changed: number;
  /** Files with conflicts; empty if there are none. */
  conflicted_files: string[];
}

/** Parameters of `git/push`. */
export interface GitPushParams {
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Whether to overwrite the remote's branch, unless it changed since the last fetch; false if absent. */
  force?: boolean;
  /** Whether to make the pushed branch the upstream; false if absent. */
  set_upstream?: boolean;
  /** Name of the remote; the branch's own if absent. */
  remote?: string;
  /** Name of the branch; the one that is checked out if absent. */
  branch?: string;
}

/** The branch is pushed. */
export interface GitPushResult {
  /** Always true; a failure is an error. */
  success: boolean;
  /** Git's own output, for people. */
  message: string;
  /** Commits that the remote did not have, as of the last fetch. */
  commits_pushed: number;
  /** Always true, by the name that `git/commit` has for it. */
  pushed: boolean;
  /** Whether the upstream was set. */
  upstream_set: boolean;
  /** The upstream that was set; absent if none was. */
  upstream?: string;
}

/** A branch or tag that points to a commit. */
export interface GitRef {
  /** Its name, such as `main` or `origin/main`. */
  name: string;
  /** `head`, `local_branch`, `remote_branch` or `tag`. */
  type: string;
}

/** A remote of the repository. */
export interface GitRemote {
  /** Its name, such as `origin`. */
  name: string;
  /** The address to fetch from, without a password. */
  fetch_url: string;
  /** The address to push to, without a password. */
  push_url: string;
  /** The service, judged by the address: `github`, `gitlab`, `bitbucket` or `custom`. */
  provider: string;
  /** Names of its branches, as of the last fetch. */
  tracking_branches: string[];
}

/** Parameters of `git/remote/add`. */
export interface GitRemoteAddParams {
  /** Name for the remote, such as `origin`. */
  name: string;
  /** Its address. A path on this machine needs the local socket or the scope `admin`. */
  url: string;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Whether to fetch its branches at once; false if absent. */
  fetch?: boolean;
}

/** The remote is added. */
export interface GitRemoteAddResult {
  /** Always true; a failure is an error. */
  success: boolean;
  /** The result for people. */
  message: string;
  /** The new remote, with its branches if they were fetched. */
  remote: GitRemote;
  /** Names of its branches; absent unless they were fetched. */
  fetched_branches?: string[];
  /** Why the fetch failed; absent if it succeeded or was not requested. The remote stays. */
  fetch_error?: string;
}

/** The remotes of a repository. */
export interface GitRemoteListResult {
  /** All remotes that the repository has. */
  remotes: GitRemote[];
}

/** Parameters of `git/remote/remove`. */
export interface GitRemoteParams {
  /** Name of the remote. */
  name: string;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
}

/** The changes are in the index. */
export interface GitStageResult {
  /** Always true; a failure is an error. */
  success: boolean;
  /** The paths from the parameters. */
  staged: string[];
}

/** A stash: changes that were put aside. */
export interface GitStash {
  /** Its position; 0 is the newest. */
  index: number;
  /** Its name, such as `stash@{0}`. */
  name: string;
  /** The branch that it was made on; empty if the HEAD was detached. */
  branch: string;
  /** Its description, without the branch. */
  message: string;
}

/** Parameters of `git/stash/apply`. */
export interface GitStashApplyParams {
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Position of the stash; 0, the newest, if absent. */
  index?: number;
  /** Whether to forget the stash once it is applied, as `git/stash/pop` does; false if absent. */
  pop?: boolean;
}

/** Parameters of `git/stash/pop` and `git/stash/drop`. */
export interface GitStashIndexParams {
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Position of the stash; 0, the newest, if absent. */
  index?: number;
}

/** The stashes of a repository. */
export interface GitStashListResult {
  /** The stashes, newest first; fewer if the answer would exceed 768 KiB. */
  stashes: GitStash[];
  /** Number of all stashes. */
  count: number;
}

/** Parameters of `git/stash`. */
export interface GitStashParams {
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Description of the stash; git's own if absent. */
  message?: string;
  /** Whether to stash untracked files, too; false if absent. */
  include_untracked?: boolean;
}

/** The changes are stashed. */
export interface GitStashResult {
  /** Always true; a failure is an error. */
  success: boolean;
  /** Description of the stash. */
  message: string;
  /** Name of the stash, such as `stash@{0}`. */
  name: string;
}

/** The state of a repository in numbers, with the files that changed. */
export interface GitStateResult {
  /** Whether the workspace's folder is a repository. */
  is_git_repo: boolean;
  /** Whether it has at least one commit. */
  has_commits: boolean;
  /** `no_git`, `git_initialized` (no commit yet), `no_remote`, `no_push` (no upstream), `synced`, `diverged` or `conflict`. */
  state: string;
  /** The branch that is checked out; empty if the HEAD is detached. */
  branch: string;
  /** The branch's upstream, such as `origin/main`; empty if it has none. */
  upstream: string;
  /** Commits that the upstream does not have. */
  ahead: number;
  /** Commits that only the upstream has. */
  behind: number;
  /** Number of changes in the index. */
  staged_count: number;
  /** Number of changes that are not in the index. */
  unstaged_count: number;
  /** Number of files that git does not track. */
  untracked_count: number;
  /** Whether files have merge conflicts. */
  has_conflicts: boolean;
  /** Changes in the index, as in `git/status`. */
  staged: GitFile[];
  /** Changes that are not in the index. */
  unstaged: GitFile[];
  /** Files that git does not track. */
  untracked: GitFile[];
  /** Files with merge conflicts. */
  conflicted: GitFile[];
  /** Number of files left out because the answer would exceed 768 KiB; absent if none were. */
  omitted?: number;
  /** The remotes; empty if there are none. */
  remotes: GitRemote[];
  /** Whether there is a remote. */
  has_remote: boolean;
  /** Name of the first remote; empty if there is none. */
  remote: string;
  /** Whether the branch has an upstream. */
  has_upstream: boolean;
  /** Name of the workspace's folder. */
  repo_name: string;
  /** The workspace's folder, absolute. */
  repo_root: string;
}

/** The state of a workspace's repository, after it changed or the client subscribed. */
export interface GitStatusChanged {
  /** Id of the workspace. */
  workspace_id: string;
  /** The branch that is checked out; empty if the HEAD is detached. */
  branch: string;
  /** Commits that the upstream does not have. */
  ahead: number;
  /** Commits that only the upstream has. */
  behind: number;
  /** Number of changes in the index. */
  staged_count: number;
  /** Number of changes that are not in the index. */
  unstaged_count: number;
  /** Number of files that git does not track. */
  untracked_count: number;
  /** Whether files have merge conflicts. */
  has_conflicts: boolean;
  /** Paths of all these files, as many as fit into 64 KiB. */
  changed_files: string[];
  /** When it was sent. */
  timestamp: Timestamp;
}

/** The state of a working copy, file by file. */
export interface GitStatusResult {
  /** The branch that is checked out; empty if the HEAD is detached. */
  branch: string;
  /** The branch's upstream, such as `origin/main`; absent if it has none. */
  upstream?: string;
  /** Commits that the upstream does not have. */
  ahead: number;
  /** Commits that only the upstream has. */
  behind: number;
  /** Changes in the index, which the next commit will contain. */
  staged: GitFile[];
  /** Changes that are not in the index. */
  unstaged: GitFile[];
  /** Files that git does not track. */
  untracked: GitFile[];
  /** Files with merge conflicts. */
  conflicted: GitFile[];
  /** Whether there is nothing to commit, stage or resolve. */
  is_clean: boolean;
  /** Number of files left out because the answer would exceed 768 KiB; absent if none were. */
  omitted?: number;
  /** Name of the workspace's folder. */
  repo_name: string;
  /** The workspace's folder, absolute. */
  repo_root: string;
}

/** The changes are no longer in the index. */
export interface GitUnstageResult {
  /** Always true; a failure is an error. */
  success: boolean;
  /** The paths from the parameters. */
  unstaged: string[];
}

/** Parameters of `git/upstream/set`. */
export interface GitUpstreamParams {
  /** Name of the local branch. */
  branch: string;
  /** The upstream to set, such as `origin/main`. */
  upstream: string;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
}

/** Parameters of `repository/grep/cancel`. Cancelling a search that has ended is no error. */
export interface GrepCancelParams {
  /** Id of the search. */
  grep_id: string;
}

/** A `repository/grep` with `stream` ended. */
export interface GrepCompleted {
  /** Id of the search. */
  grep_id: string;
  /** Number of lines with a match. */
  total_matches: number;
  /** Number of files with a match. */
  matched_files: number;
  /** Number of files that were searched. */
  searched_files: number;
  /** Whether there are more matches than the limit. */
  truncated: boolean;
  /** Whether it was cancelled before its end. */
  cancelled: boolean;
  /** Time it took in milliseconds. */
  elapsed_ms: number;
  /** When it was sent. */
  timestamp: Timestamp;
}

/** The matches in one file. */
export interface GrepFile {
  /** Path, relative to the workspace's folder. */
  path: string;
  /** The lines with a match and the context around them, in order. */
  lines: GrepLine[];
  /** Number of those lines that have a match. */
  match_count: number;
  /** Whether the file has more matches than `limit_per_file`. */
  truncated: boolean;
}

/** A line of a file. */
export interface GrepLine {
  /** Number of the line, from 1. */
  line: number;
  /** The line, or of a long one the part around its first match. */
  text: string;
  /** The matches in `text`; empty for a line of context. */
  matches: GrepSpan[];
  /** Whether the line is longer than `text`. */
  truncated: boolean;
}

/** Parameters of `repository/grep`. */
export interface GrepParams {
  /** The text to find, or a regular expression with `regex`. An empty one is refused. */
  pattern: string;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Whether `pattern` is a regular expression; false if absent. */
  regex?: boolean;
  /** Whether upper and lower case differ. If absent, they differ if the pattern has upper case. */
  case_sensitive?: boolean;
  /** Whether to match only whole words; false if absent. */
  whole_words?: boolean;
  /** Only files below this folder, relative to the workspace's folder; all if absent. */
  directory?: string;
  /** Only files with these extensions; all if absent. */
  extensions?: string[];
  /** Only files that git tracks; false if absent. */
  git_tracked_only?: boolean;
  /** Lines to show before and after each match: at most 20, default 0. */
  context_lines?: number;
  /** Most lines with a match: 1 to 10000, default 1000. */
  limit?: number;
  /** Most lines with a match in one file: 1 to 10000, default 100. */
  limit_per_file?: number;
  /** Whether to answer at once and send what is found as `grep_results` events; false if absent. Needs a connection. */
  stream?: boolean;
}

/** The result of a search in files, or that it has started. */
export interface GrepResult {
  /** Id of the search, for `repository/grep/cancel`. */
  grep_id: string;
  /** `started` if the matches come as events, else `completed`. */
  status: string;
  /** The files with matches, by path; empty if they come as events. */
  files: GrepFile[];
  /** Number of lines with a match; 0 if they come as events. */
  total_matches: number;
  /** Number of files with a match; 0 if they come as events. */
  matched_files: number;
  /** Number of files that were searched; 0 if the matches come as events. */
  searched_files: number;
  /** Whether there are more matches than `limit`, or than fit into 768 KiB. */
  truncated: boolean;
  /** Time it took in milliseconds; 0 if the matches come as events. */
  elapsed_ms: number;
}

/** Matches of a `repository/grep` with `stream`; more may follow. */
export interface GrepResults {
  /** Id of the search. */
  grep_id: string;
  /** Files with matches, by path; they follow those of the events before. */
  files: GrepFile[];
  /** When it was sent. */
  timestamp: Timestamp;
}

/** The position of a match in its line, in bytes. */
export interface GrepSpan {
  /** First byte of the match, from 0 in `text`. */
  start: number;
  /** The byte after its last. */
  end: number;
}

/** What the last look at a service found. */
export type Health =
  /** Nobody has looked yet, or it does not run. */
  | "UNKNOWN"
  /** It answered the last probe, and in time. */
  | "HEALTHY"
  /** It answers some requests and fails others. */
  | "DEGRADED"
  /** It did not answer in time. */
  | "TIMEOUT"
  /** It refused our credentials. */
  | "UNAUTHORIZED"
  /** No connection can be made, or it broke. */
  | "UNREACHABLE";

/** Whether the daemon works. */
export interface HealthResult {
  /** `ok`, or `stalled` while events cannot be stored. */
  status: string;
  /** Whether the status is `ok`. */
  healthy: boolean;
  /** Seconds since the daemon started. */
  uptime_seconds: number;
}

/** Sent every 30 seconds, so that both sides notice a broken connection. */
export interface Heartbeat {
  /** Time of the daemon's clock. */
  server_time: Timestamp;
  /** Counts the heartbeats of this run of the daemon, over all connections. */
  sequence: number;
  /** State of the default agent: `idle`, `running` or `waiting`. */
  claude_status: string;
  /** Seconds since the daemon started. */
  uptime_seconds: number;
  /** When it was sent: the same as `server_time`. */
  timestamp?: Timestamp;
}

/** Why a tool is held back. */
export type HeldBackReason =
  /** Nobody has approved it yet. */
  | "new"
  /** It has changed since it was approved. */
  | "changed";

/** A tool that is held back. */
export interface HeldBackTool {
  /** Its name, as the service knows it. */
  tool: string;
  /** Why it is held back. */
  state: HeldBackReason;
  /** What was approved; absent for a new one. */
  approved?: Record<string, unknown>;
  /** What it is now. */
  current: Record<string, unknown>;
}

/** One session of a workspace. */
export interface HistoryItem {
  /** Id of the session, by the name under which it is read in a workspace's `sessions`. */
  id: string;
  /** The same as `id`. */
  session_id: string;
  /** Id of the workspace. */
  workspace_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** Its title; `(session)` if it has none yet. */
  summary: string;
  /** Messages in its history; always 0 for the source `history`, because the runtime does not count them. */
  message_count: number;
  /** When it last changed. */
  last_updated: Timestamp;
  /** Its working directory, absolute. */
  project_path: string;
  /** `running` if it has a process or a task, else `historical`. */
  status: string;
  /** Who has its record. */
  source: KeptBy;
  /** When it was created; for the source `history` the same as `last_updated`. */
  started_at: Timestamp;
  /** The same as `last_updated`, by the name that some clients read. */
  last_active: Timestamp;
  /** Ids of the clients that watch it or have it on their screen. */
  viewers: string[];
}

/** Parameters of `workspace/session/history`. */
export interface HistoryParams {
  /** Id of the workspace, from `workspace/list`. */
  workspace_id: string;
  /** Most sessions to return: 1 to 500, default 50. */
  limit?: number;
  /** Sessions to skip; 0 if absent. */
  offset?: number;
  /** Only sessions of the runtime with this id; all if absent. */
  agent_type?: string;
}

/** A page of a workspace's sessions, last changed first. */
export interface HistoryResult {
  /** The sessions of this page; fewer than `limit` if they would exceed 768 KiB. */
  sessions: HistoryItem[];
  /** Number of sessions on all pages. */
  total: number;
  /** Which runtimes could not be asked for their sessions, and why; absent if all could. */
  notices?: string[];
}

/** What a hook is told about a tool call. */
export type HookDecision =
  /** Neither yes nor no: the runtime asks for leave in its own way, which leads through Roost's policy and, where that says so, to a person. */
  | "ask";

/** Parameters of `repository/index/rebuild`. */
export interface IndexRebuildParams {
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Accepted and ignored: while the index is being built, a second build would change nothing. */
  force?: boolean;
}

/** The answer to a request for a rebuild. */
export interface IndexRebuildResult {
  /** Whether a rebuild was started. */
  status: RebuildWord;
  /** The result for people. */
  message: string;
}

/** The state of a workspace's index. */
export interface IndexStatusResult {
  /** The state in one word. */
  status: IndexWord;
  /** Files in the index. */
  total_files: number;
  /** The same as `total_files`, because files are never indexed in part. */
  indexed_files: number;
  /** Size of those files together, in bytes. */
  total_size_bytes: number;
  /** When all files were last read; absent before the first time. */
  last_full_scan?: Timestamp;
  /** When the index last changed; absent before the first time. */
  last_update?: Timestamp;
  /** The same as `last_update`, by the name that some clients read. */
  last_indexed_at?: Timestamp;
  /** Memory that the index uses, in bytes. */
  database_size_bytes: number;
  /** The same as `database_size_bytes`, by the name that some clients read. */
  index_size_bytes: number;
  /** Whether the workspace is in a git repository. */
  is_git_repo: boolean;
  /** 1 if the index is ready, else 0. */
  progress: number;
  /** Whether a file watcher keeps it up to date. */
  is_live: boolean;
  /** Files that are left out because their names are not UTF-8. */
  unnamed_files: number;
  /** Why the index could not be built; absent if it could. */
  error_message?: string;
}

/** The state of an index. */
export type IndexWord =
  /** It was not built yet; asking for its status builds it. */
  | "initializing"
  /** It is being built. */
  | "indexing"
  /** It can be searched. */
  | "ready"
  /** It could not be built; see `error_message`. */
  | "error";

/** Parameters of `initialize`. Each is understood in snake case and in camel case. */
export interface InitializeParams {
  /** The version that the client speaks. No version is refused: the answer says which one is spoken. */
  protocol_version?: string;
  /** Name and version of the client; ignored in this version. */
  client_info?: ClientInfo;
  /** What the client can do. `notifications` with `agent_message_delta` in it asks for that event; the rest is ignored. */
  capabilities?: unknown;
  /** Working directory of the client; ignored in this version. */
  root_path?: string;
}

/** What the server is and can do. */
export interface InitializeResult {
  /** The version that will be spoken: `1.0`. */
  protocolVersion: string;
  /** Name and version of the server. */
  serverInfo: ServerInfo;
  /** The same, for clients that look for it in snake case. */
  server_info: ServerInfo;
  /** What the server can do. */
  capabilities: ServerCapabilities;
  /** Id of this connection, as in `viewers` and `answered_by`. */
  clientId: string;
}

/** Whether approvals and questions may wait for a person while a task runs. */
export type InteractionMode =
  /** They wait until somebody answers or they expire. */
  | "interactive"
  /** Nobody answers: what would be asked is denied at once. */
  | "non_interactive";

/** What a service offers in numbers. */
export interface InterfaceSummary {
  /** Names the interface: the same for the same definitions. */
  interfaceRevision: string;
  /** When it was listed. */
  introspectedAt: Timestamp;
  /** Number of tools. */
  tools: number;
  /** Number of tools that are held back until somebody approves them. */
  heldBack: number;
  /** Number of resources. */
  resources: number;
  /** Number of prompts. */
  prompts: number;
}

/** How much of the user's own home a runtime shares. */
export type IsolationLevel =
  /** It uses the user's own home and XDG directories, with the user's logins. */
  | "shared"
  /** It has directories of its credential namespace, which stay between sessions. */
  | "namespaced"
  /** It has directories of its own session, which are removed at the end. */
  | "ephemeral";

/** Who has the record of a session. */
export type KeptBy =
  /** Roost: it is in the log. */
  | "managed"
  /** Only its runtime: it was begun with the runtime's own command. The first prompt makes it `managed`. */
  | "history";

/** How much of a workspace is written in one language. */
export interface LanguageStats {
  /** Name of the language, judged by the files' extensions. */
  language: string;
  /** Number of files. */
  files: number;
  /** Number of lines. */
  lines: number;
  /** Size in bytes. */
  bytes: number;
  /** Share of the bytes in percent, from 0 to 100. */
  percentage: number;
}

/** Where a service is in its life. */
export type Lifecycle =
  /** It is declared and has never been started. */
  | "REGISTERED"
  /** A connection is being made, or a module compiled. */
  | "STARTING"
  /** The handshake is done: its tools can be called. */
  | "RUNNING"
  /** Somebody stopped it, and calls that are under way are being ended. */
  | "STOPPING"
  /** It does not run, because somebody stopped it or because its policy restarts nothing. */
  | "STOPPED"
  /** It ended unexpectedly or could not be reached; it may be started again by its policy. */
  | "CRASHED"
  /** It failed too often. Only a person brings it back. */
  | "QUARANTINED";

/** One block of a `claude_log` line. Fields that do not belong to its type are absent. */
export interface LineBlock {
  /** `text`, `thinking`, `tool_use` or `tool_result`. */
  type: string;
  /** The text, or the text of a result. */
  text?: string;
  /** The tool as the runtime names it; only for `tool_use`. */
  tool_name?: string;
  /** Roost's id of the tool call. */
  tool_id?: string;
  /** The tool's arguments as JSON text; only for `tool_use`. */
  tool_input?: string;
}

/** What a change does to a line. */
export type LineChange =
  /** Unchanged, shown as context. */
  | "context"
  /** Only in the file after the change. */
  | "added"
  /** Only in the file before the change. */
  | "removed";

/** A remembered answer, with the id by which it is removed. */
export interface ListedRule {
  /** Id for `rule/remove`, such as `rule_12ab34cd56ef`. An answer about the same calls in the same place gets the same id. */
  rule_id: string;
  /** The calls that it decides, in words for people. */
  covers: string;
  /** When the answer was given. */
  made_at: Timestamp;
  /** The rule itself: where it applies, what it decides and who gave the answer. */
  rule: RememberedRule;
}

/** Parameters of `log/read`. */
export interface LogReadParams {
  /** Id of the session, from `session/start` or `session/list`. */
  session_id: string;
  /** Return events after this `seq`; 0 if absent, which is the beginning. */
  after_seq?: number;
  /** Return the last events before this `seq` instead, for a screen that scrolls back. A number beyond the end, such as 9007199254740991, is the end. */
  before_seq?: number;
  /** Only events of these types, such as `plan.updated`; needs `before_seq`. All if absent or empty. */
  types?: string[];
  /** Most events to return: 1 to 10000, default 1000. Fewer are returned if they would exceed 768 KiB. */
  limit?: number;
}

/** A page of a session's events. */
export interface LogReadResult {
  /** The events in order, as they are stored. */
  events: NormalizedEvent[];
  /** `seq` of the last event here, or `after_seq` if there is none. Pass it as `after_seq` for the next page. */
  last_seq: number;
  /** Whether there are more events after these; with `before_seq`, before these. */
  has_more: boolean;
}

/** The stream that a line belongs to. */
export type LogStream =
  /** The agent's output. */
  | "stdout"
  /** Diagnostics of the runtime or of Roost. */
  | "stderr";

/** A declared service. */
export interface Manifest {
  /** The version of this format: always `clarity.runtime/v1`. */
  apiVersion: string;
  /** What the document declares: always `MCPService`. */
  kind: string;
  /** What identifies and describes it. */
  metadata: ServiceMetadata;
  /** How it is reached and kept running. */
  spec: ServiceSpec;
}

/** `mcp.budget_exceeded`: a run has used up what it may. A hosted agent's task is stopped, or a person is asked; others are denied their next tool calls. Recorded again, with `raised`, when a person gave the run as much again. */
export interface McpBudgetExceededPayload {
  /** The run; for a hosted agent the id of its session. */
  run_id: RunId;
  /** What it has used up. */
  budget: BudgetKind;
  /** How much it has used. */
  spent: number;
  /** How much it may use. */
  limit: number;
  /** Whether a person then gave the run as much again as every limit says; absent if not. */
  raised?: boolean;
}

/** An MCP server of a session: a program that its runtime starts (`command`), or an address (`url`). */
export interface McpServerParams {
  /** Unique within the session; runtimes make it part of the names of the server's tools. */
  name: string;
  /** The program, which speaks MCP on its stdin and stdout. */
  command?: string;
  /** Its arguments; none if absent. */
  args?: string[];
  /** Variables for the program. No answer and no event shows their values. */
  env?: Record<string, Secret>;
  /** The endpoint of a server that speaks "streamable HTTP". */
  url?: string;
  /** Headers for every request to it. No answer and no event shows their values. */
  headers?: Record<string, Secret>;
}

/** Which roles a runtime can take in the Model Context Protocol. */
export type McpSupport =
  /** It does not speak MCP. */
  | "none"
  /** It calls tools of MCP servers. */
  | "client_only"
  /** It offers its own tools as an MCP server. */
  | "server_only"
  /** It is both client and server. */
  | "both";

/** `mcp.tool_called`: a tool call through the MCP gateway is over, or was denied. One event per call. */
export interface McpToolCalledPayload {
  /** On whose behalf: `local`, `device:<id>` or `session:<id>`. */
  principal: string;
  /** What the client calls itself, not verified; absent if it does not say. */
  client?: string;
  /** The service that runs the tool; absent for the gateway's own tools. */
  service_id?: ServiceId;
  /** The name under which the client sees the tool. */
  tool: string;
  /** The name by which the service knows the tool. */
  routed_tool: string;
  /** True if the service gave a result that is no error. */
  success: boolean;
  /** Why not, without arguments or results; absent after a success. */
  error?: string;
  /** The evaluation that decided: the policy's, or a person's answer. */
  policy: ToolPolicyEvaluation;
  /** Microseconds from the permit to the answer; 0 for a call that was denied. */
  duration_us: number;
  /** Bytes of the arguments. */
  request_bytes: number;
  /** Bytes of the answer; 0 for a call that was denied. */
  response_bytes: number;
  /** The session that shows the call; absent if no session does. */
  session_id?: SessionId;
  /** The call in that session. */
  tool_call_id?: ToolCallId;
  /** The run that the client names; absent if it names none, and for a hosted agent, whose session is its run. */
  run_id?: RunId;
  /** The trace that the client named in `traceparent`; absent if it named none. */
  trace_id?: string;
  /** The client's span within that trace. */
  parent_span_id?: string;
  /** The arguments; absent unless the configuration asks for them. */
  arguments?: unknown;
}

/** A transport of the Model Context Protocol. */
export type McpTransport =
  /** Standard input and output of a child process. */
  | "stdio"
  /** Server-sent events over HTTP. */
  | "sse"
  /** Streamable HTTP, which replaces SSE. */
  | "http";

/** One message of a session's history. */
export interface Message {
  /** Position in the session, strictly increasing; in a forked session it counts on from the other one. */
  id: number;
  /** The session that was asked for, also for messages that it has from another one. */
  session_id: SessionId;
  /** Who it comes from. */
  type: Speaker;
  /** Unique id, the same in the history, in the `claude_message` event and in its pieces, `agent_message_delta`. */
  uuid: string;
  /** When it was recorded. */
  timestamp: Timestamp;
  /** Role and content, in the shape of Claude's API. */
  message: Said;
  /** Whether it summarizes a context that became too long; always false for sessions in Roost's log. */
  is_context_compaction: boolean;
  /** Whether it is not meant to be shown; always false for sessions in Roost's log. */
  is_meta: boolean;
}

/** One block of a message's content. */
export type MessageBlock =
  /** Text. Code is fenced with its language; images and artifacts are named in brackets. */
  | { type: "text"; text: string }
  /** What the agent thought before it went on. */
  | { type: "thinking"; text: string }
  /** A tool call of the agent, or a question to the user. */
  | { type: "tool_use"; tool_name: string; tool_id: string; tool_input: Record<string, unknown> }
  /** The result of a tool call, or how a question ended. */
  | { type: "tool_result"; tool_use_id: string; content: string; is_error: boolean };

/** Parameters of `session/messages`. */
export interface MessagesParams {
  /** Id of the session; the runtime's own id is understood, too. */
  session_id: string;
  /** The workspace that the session must belong to; any if absent. */
  workspace_id?: string;
  /** Id of the runtime that the session must have; any if absent. */
  agent_type?: string;
  /** Most messages to return: 1 to 500, default 50. */
  limit?: number;
  /** Messages to skip, counted in `order`; 0 if absent. */
  offset?: number;
  /** The order in which to count and return; `asc` if absent. */
  order?: Order;
}

/** A page of messages. It is shorter than `limit` if it would exceed 768 KiB. */
export interface MessagesResult {
  /** Id of the session. */
  session_id: string;
  /** The messages of this page, in the order that was requested. */
  messages: Message[];
  /** Number of messages on all pages. */
  total: number;
  /** The limit that was applied. */
  limit: number;
  /** The messages that were skipped. */
  offset: number;
  /** Whether there are more messages after these. */
  has_more: boolean;
  /** Time it took in milliseconds. */
  query_time_ms: number;
}

/** How much a session may do without asking. */
export type Mode =
  /** Reads run; every other call is denied. */
  | "plan"
  /** Reads run; every other call asks first. */
  | "ask"
  /** Reads and edits inside the workspace run; every other call asks first. */
  | "accept_edits"
  /** Reads, writes and network run; dangerous calls ask first. */
  | "auto"
  /** Every call runs without asking. */
  | "yolo";

/** `model.input`: the complete input that was sent to the runtime for a task. */
export interface ModelInputPayload {
  /** The input as JSON, with secrets in `runtime_config` removed; absent if it could not be stored. */
  input_ref?: ArtifactRef;
  /** `sha256:<hex>` of the canonical JSON of the input. */
  input_hash: string;
  /** Which part of the transcript the input contains. */
  context_window: ContextWindow;
  /** The files that the runtime reads by itself, by path and hash; absent if the list could not be stored. */
  implicit_sources_ref?: ArtifactRef;
}

/** `model.output.completed`: a finished answer; the deltas before it are then obsolete. */
export interface ModelOutputCompletedPayload {
  /** The answer's blocks in order. */
  content: AssistantContentBlock[];
}

/** What a piece of output belongs to. */
export type ModelOutputDeltaKind =
  /** The agent's answer. */
  | "text_delta"
  /** The arguments of a tool call while the model writes them. */
  | "json_delta"
  /** Source code in the answer. */
  | "code_delta"
  /** The agent's reasoning, which is repeated nowhere else (not in the seed). */
  | "reasoning_delta"
  /** Output of a kind that the adapter does not know. */
  | "unknown_delta";

/** `model.output.delta`: a piece of output while the model writes it. `model.output.completed` repeats answers as a whole. */
export interface ModelOutputDeltaPayload {
  /** What the piece belongs to. */
  kind: ModelOutputDeltaKind;
  /** The block to append the piece to; unique within the task. */
  block_id: string;
  /** The text to append, as it came from the runtime. */
  delta: string;
  /** The tool call whose arguments these are; only for `json_delta`. */
  tool_call_id?: ToolCallId;
  /** Language tag; only for `code_delta`, and only if the runtime gave one. */
  language?: string;
}

/** Parameters of methods that take none. */
export type NoParams = Record<string, never>;

/** One durable fact, in the same shape in the log and on the wire. */
export type NormalizedEvent = {
  /** Version of the payload shapes; 1 in this version. */
  schema_version: number;
  /** Position in the session's stream: 1 for the first event, without gaps. */
  seq: number;
  /** When it happened, by the daemon's clock. */
  time: Timestamp;
  /** The session, task and request that it belongs to. */
  trace: Trace;
  /** The runtime that it comes from. */
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
  /** `service.manifest_applied` */
  | { type: "service.manifest_applied"; payload: ServiceManifestAppliedPayload }
  /** `service.state_changed` */
  | { type: "service.state_changed"; payload: ServiceStateChangedPayload }
  /** `service.interface_refreshed` */
  | { type: "service.interface_refreshed"; payload: ServiceInterfaceRefreshedPayload }
  /** `service.tools_approved` */
  | { type: "service.tools_approved"; payload: ServiceToolsApprovedPayload }
  /** `service.removed` */
  | { type: "service.removed"; payload: ServiceRemovedPayload }
  /** `mcp.tool_called` */
  | { type: "mcp.tool_called"; payload: McpToolCalledPayload }
  /** `mcp.budget_exceeded` */
  | { type: "mcp.budget_exceeded"; payload: McpBudgetExceededPayload }
  /** `task.steered` */
  | { type: "task.steered"; payload: TaskSteeredPayload }
);

/** How important a notice is. */
export type NoticeLevel =
  /** Harmless, such as a line on stderr. */
  | "info"
  /** Unexpected, such as a protocol message that Roost does not know. */
  | "warning"
  /** Something failed, such as a message that could not be read. */
  | "error";

/** Where a notice comes from. */
export type NoticeSource =
  /** A line on the runtime's stdout that is not part of its protocol. */
  | "stdout"
  /** A line on the runtime's stderr. */
  | "stderr"
  /** A protocol message without an event of its own; the message is in `runtime.raw`. */
  | "protocol"
  /** Roost's engine, about the session. */
  | "engine";

/** The task that runs now. */
export interface OpenTask {
  /** Id of the task. */
  task_id: TaskId;
  /** `seq` of its `task.started` event. */
  first_seq: number;
  /** When it started. */
  started_at: Timestamp;
}

/** The order of a page of messages. */
export type Order =
  /** Oldest first; the default. */
  | "asc"
  /** Newest first, for a screen that scrolls back. */
  | "desc";

/** The output stream of a tool that runs a program. */
export type OutputStream =
  /** Standard output, or the only stream of a runtime that does not tell them apart. */
  | "stdout"
  /** Standard error, where the runtime reports it apart. */
  | "stderr";

/** Parameters of `pair/create`. */
export interface PairParams {
  /** What the new device may do; `operate` if absent. At most the scope of the caller. */
  scope?: Scope;
}

/** What a device needs to be paired: the content of the QR code, and more. */
export interface PairResult {
  /** Address of the WebSocket. */
  ws: string;
  /** Base address for HTTP requests. */
  http: string;
  /** Id of this run of the daemon; changes with every start. */
  session: string;
  /** Name of the default workspace. */
  repo: string;
  /** Pairing token, good for one `POST /api/auth/exchange`. */
  token: string;
  /** When the pairing token expires. */
  token_expires_at: Timestamp;
  /** Six digits to type instead of the token, for `POST /api/pair/code`; good for one device. */
  code: string;
  /** When the code expires: 10 minutes after it was made. Making another code ends it at once. */
  code_expires_at: Timestamp;
  /** Address that a phone's camera opens: the pairing page with the code filled in; absent if only this machine can reach the daemon. */
  link?: string;
  /** Address of a page on this machine that shows the QR code; it opens once. */
  page: string;
  /** SHA-256 fingerprint of the certificate; absent unless it is self-signed. */
  fingerprint?: string;
}

/** `pairing.locked`: an address sent too many wrong pairing codes, and none of its tries counts until another code is shown. */
export interface PairingLockedPayload {
  /** The address that the codes came from; for IPv6 its network. */
  address: string;
  /** Wrong codes from this address since the code was shown. */
  wrong_tries: number;
  /** True if wrong codes from all addresses together have also made the code itself invalid. */
  code_withdrawn: boolean;
}

/** The content of a `claude_log` line. */
export interface ParsedLine {
  /** Kind of line: `user`, `assistant`, `system` or `result` (the end of a task). */
  type: string;
  /** The blocks in order; empty for `system` and `result`. */
  content: LineBlock[];
  /** Id of the session; absent for usage, because clients take it for a new session. */
  session_id?: string;
  /** Why the turn ends; `tool_use` for a line with tool calls. Absent otherwise. */
  stop_reason?: string;
  /** The model that wrote it; absent if unknown. */
  model?: string;
  /** Whether it is thinking; absent for `system` and `result`. */
  is_thinking?: boolean;
  /** Whether it summarizes a context that became too long; always false where present. */
  is_context_compaction?: boolean;
  /** Output tokens; only for usage. */
  output_tokens?: number;
  /** Cost in US dollars; only for usage, and only if the runtime reports it. */
  cost_usd?: number;
}

/** One open approval or question: a row of the table that `permission/pending` lists. */
export interface Pending {
  /** The session that cannot go on until this is answered. */
  session_id: SessionId;
  /** The task that asked; absent if the event named none. */
  task_id?: TaskId;
  /** When the event that opened it was recorded. */
  asked_at: Timestamp;
  /** The approval or question itself, as its event carried it. */
  ask: PendingAsk;
}

/** What a session waits for: an approval or an answer. */
export type PendingAsk =
  /** A tool call that needs to be allowed or denied; answer it with `permission/respond`. */
  | { approval: ApprovalRequestedPayload }
  /** A question from the agent; answer it with `session/respond`. */
  | { question: QuestionAskedPayload };

/** Whether an approval or a question is open. */
export type PendingKind =
  /** A tool call waits to be allowed or denied. */
  | "approval"
  /** A question waits for its answer. */
  | "question";

/** Parameters of `permission/pending`. */
export interface PendingParams {
  /** Only what waits in this session; in all sessions if absent. */
  session_id?: string;
}

/** An approval or question that waits for an answer. */
export interface PendingRequest {
  /** The id that an answer must name. */
  tool_use_id: string;
  /** Id of the session that waits. */
  session_id: string;
  /** The session's workspace; empty if its folder belongs to none. */
  workspace_id: string;
  /** The tool as the runtime names it; `AskUserQuestion` for a question. */
  tool_name: string;
  /** The tool's arguments; for a question `question` and `fields`. */
  tool_input: unknown;
  /** When it was asked. */
  created_at: Timestamp;
  /** Id of the session's runtime. */
  agent_type: string;
  /** The approval or question with everything that its event carried. */
  pending: Pending;
}

/** What waits for an answer, oldest first. */
export interface PendingResult {
  /** The approvals and questions; fewer than `count` if they would exceed 768 KiB. */
  requests: PendingRequest[];
  /** Number of all that wait. */
  count: number;
}

/** The answer to an approval. */
export type PermissionDecision =
  /** The call may run. For a question: it is answered. */
  | "allow"
  /** The call may not run. For a question: it is declined. */
  | "deny";

/** The seed's three permission modes, which events carry as `permission_mode` beside the finer `mode`. */
export type PermissionMode =
  /** Ask before anything that is not a read. */
  | "ask"
  /** Run safe tools without asking. */
  | "auto"
  /** Run every tool without asking. */
  | "yolo";

/** Who decides whether a tool may run. */
export type PermissionModel =
  /** Roost alone; the runtime follows. */
  | "codesdk"
  /** The runtime alone; Roost is not asked. */
  | "runtime"
  /** Both: the runtime asks Roost about the calls that it does not decide itself. */
  | "hybrid";

/** One answer to offer for an approval. */
export interface PermissionOption {
  /** `allow_once`, `allow_session` or `deny`. */
  key: string;
  /** The text to show. */
  label: string;
  /** Whether it is selected; `allow_once` until somebody moves the selection with `session/input`. */
  selected: boolean;
  /** Which calls the answer would cover; only for `allow_session`. */
  description?: string;
}

/** Parameters of `permission/request`, which a hook inside an agent calls before a tool runs. */
export interface PermissionRequestParams {
  /** Id of the agent's own session. */
  session_id: string;
  /** The tool as the runtime names it. */
  tool_name: string;
  /** The runtime's id of the tool call. */
  tool_use_id: string;
}

/** What the hook has to tell its runtime. */
export interface PermissionRequestResult {
  /** Always `ask`: a hook is given no decision. */
  decision: HookDecision;
  /** Why, for people. */
  message: string;
}

/** Parameters of `permission/respond`. */
export interface PermissionRespondParams {
  /** Id of the approval or question, from `pty_permission` or `permission/pending`. */
  tool_use_id: string;
  /** Whether the call may run. */
  decision: PermissionDecision;
  /** How long the answer applies; `once` if absent. Ignored with `updated_input`, which applies once. */
  scope?: ApprovalScope;
  /** The session; needed only if the id is open in several sessions. */
  session_id?: string;
  /** Why the call is denied, for the agent to read; absent means no reason. */
  reason?: string;
  /** Arguments to run the tool with instead of its own; for a question its answers. Absent means unchanged. */
  updated_input?: unknown;
  /** The attempt that the client saw; the answer is refused if there is another one by now. Not checked if absent. */
  attempt?: number;
  /** The `input_hash` that the client saw; the answer is refused if the input is another by now. Not checked if absent. */
  input_hash?: string;
  /** A text that the client makes up. Sent again with the same key, the same answer succeeds again instead of failing. */
  key?: string;
}

/** Numbers about remembered answers and open approvals. */
export interface PermissionStats {
  /** Sessions that have remembered answers of their own. */
  active_sessions: number;
  /** Remembered answers of all scopes. */
  total_patterns: number;
  /** Approvals and questions that wait for an answer. */
  pending_requests: number;
}

/** One step of a plan. */
export interface PlanEntry {
  /** The step in the agent's words. */
  content: string;
  /** The step's rank; `medium` if the runtime has none. */
  priority: PlanPriority;
  /** The step's progress, as the agent reports it. */
  status: PlanStatus;
}

/** How important the agent considers a step. */
export type PlanPriority =
  /** The agent ranks it first. */
  | "high"
  /** The usual rank, and that of runtimes that have no priorities. */
  | "medium"
  /** The agent ranks it last. */
  | "low";

/** How far the agent is with a step. */
export type PlanStatus =
  /** The agent has not begun it. */
  | "pending"
  /** The agent is working on it. */
  | "in_progress"
  /** The agent says that it is finished. */
  | "completed";

/** `plan.updated`: the complete plan, which replaces the one before. */
export interface PlanUpdatedPayload {
  /** All steps in order. */
  entries: PlanEntry[];
}

/** The final decision about a call. */
export type PolicyDecision =
  /** The call may run. */
  | "allow"
  /** The call may not run. */
  | "deny";

/** What one layer decides about a call. */
export type PolicyResult =
  /** The call may run, as far as this layer is concerned. */
  | "allow"
  /** The call may not run. */
  | "deny"
  /** A person must decide. */
  | "ask";

/** A layer of the policy that judges a tool call. */
export type PolicySource =
  /** The rules of the runtime itself. */
  | "runtime"
  /** The rules of Roost; `codesdk` is the seed's word for the host. */
  | "codesdk"
  /** A person who was asked. */
  | "user";

/** Whether a person can be asked while the prompt runs. */
export type Presence =
  /** Approvals and questions wait until some client answers. */
  | "present"
  /** Nobody answers: what would be asked is denied at once. */
  | "nobody";

/** What becomes of a prompt while a task runs. */
export type PromptDelivery =
  /** It waits until the task has ended. */
  | "queue"
  /** The running task gets it. It waits if the runtime cannot take it now, or if it is more than plain text. */
  | "steer";

/** A prompt that waits in a session's queue: `prompt_` and 32 hex digits. */
export type PromptId = string;

/** An image in a prompt: either `data`, or over the local socket `path`. */
export interface PromptImage {
  /** The image file in base64, at most 10 MiB decoded. */
  data?: string;
  /** Path of the image file; only over the local socket. */
  path?: string;
  /** Media type; refused if the bytes are of another one. If absent, the bytes decide. */
  media_type?: string;
  /** File name to show; made from the path or the media type if absent. */
  name?: string;
}

/** An approval is needed; answer it with `permission/respond`. Sent again when its selection moves. */
export interface PtyPermission {
  /** Roost's id of the tool call. */
  tool_use_id: string;
  /** What kind of call it is, judged by its arguments: `bash_command`, `write_file`, `edit_file`, `delete_file`, `read_file`, `mcp_tool` or `tool_use`. */
  type: string;
  /** The command, file or address, at most 500 characters; the arguments if there is none. */
  target: string;
  /** A sentence that says what would be done. */
  description: string;
  /** What would be done in detail, at most 4000 characters: the command with all arguments, the diff or the new content. */
  preview: string;
  /** The answers to offer. `allow_session` is missing if the answer can only apply once. */
  options: PermissionOption[];
  /** The attempt at this call, to be sent back with the answer; a retry has a higher one. */
  attempt: number;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** An approval or question is no longer open. */
export interface PtyPermissionResolved {
  /** Id of the approval or question. */
  tool_use_id: string;
  /** The client that answered, else why it ended: see `ApprovalEnd` and `QuestionOutcome`. */
  resolved_by: string;
  /** The decision; for a question `allow` if it was answered. */
  decision: PermissionDecision;
  /** How long the decision applies; absent for a question. */
  scope?: ApprovalScope;
  /** Who answered; absent if nobody did. */
  answered_by?: Answerer;
  /** The reason that was given; absent if there was none. */
  reason?: string;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** What the agent is busy with, for as long as it works. Not stored, and not sent while something waits. */
export interface PtySpinner {
  /** Symbol and message in one. */
  text: string;
  /** A symbol that clients know as a spinner. */
  symbol: string;
  /** What it does, such as `Working…` or `Bash…`. */
  message: string;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** What a terminal with the agent would show now. */
export interface PtyState {
  /** The new state. */
  state: TerminalState;
  /** Whether a client can send something: an answer or a prompt. */
  waiting_for_input: boolean;
  /** Kind of the call that needs approval, as `type` of `pty_permission`; absent if the state is another, and after an answer while another approval waits. */
  prompt_type?: string;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** `question.asked`: the agent asks the user and waits; answer with `session/respond`. */
export interface QuestionAskedPayload {
  /** The id that an answer must name. */
  question_id: QuestionId;
  /** The question's text. */
  message: string;
  /** The fields of the form to fill in, in order. */
  fields: QuestionField[];
  /** The tool call by which the agent asked; absent if its runtime has no such call. */
  tool_call_id?: ToolCallId;
}

/** One field of a question's form. */
export interface QuestionField {
  /** The key of this field in `answers`. */
  id: string;
  /** The text to show. */
  label: string;
  /** The choices. If empty, the answer is free text. */
  options?: QuestionOption[];
  /** Whether several choices may be selected; false if absent. */
  multiple?: boolean;
  /** Whether an answer must contain this field; false if absent. */
  required?: boolean;
}

/** A question that a runtime asked the user: `q_` and 32 hex digits. */
export type QuestionId = string;

/** One choice that a question offers. */
export interface QuestionOption {
  /** The value to send back. */
  value: string;
  /** The text to show. */
  label: string;
  /** An explanation to show beside the label; absent if the agent gave none. */
  description?: string;
}

/** How a question ended. */
export type QuestionOutcome =
  /** A client answered it. */
  | "answered"
  /** A client refused to answer, or no client could be asked. */
  | "declined"
  /** The task ended while it was open. */
  | "cancelled";

/** `question.resolved`: the question is no longer open. */
export interface QuestionResolvedPayload {
  /** The question that ended. */
  question_id: QuestionId;
  /** Whether it was answered. */
  outcome: QuestionOutcome;
  /** The answers: values by field id. Empty unless `outcome` is `answered`. */
  answers?: Record<string, string[]>;
  /** Who answered; absent if nobody did. */
  answered_by?: Answerer;
  /** Why it was not answered; absent if it was, or if no reason was given. */
  reason?: string;
  /** What the session still waits for after this, an approval before a question; absent if for nothing, and in events of older versions (not in the seed). */
  still_waits_for?: PendingKind;
}

/** A prompt that waits for the running task to end. */
export interface QueuedPrompt {
  /** Id of the prompt, as in the result of `session/send`. */
  prompt_id: PromptId;
  /** The prompt as it was sent. */
  message: TranscriptMessage;
  /** True if it no longer starts by itself, because the session was closed, the daemon restarted or the session's mode changed while it waited; false if absent. */
  held?: boolean;
}

/** Whether a rebuild was started. */
export type RebuildWord =
  /** It was started and runs in the background; see `repository/index/status`. */
  | "started"
  /** The index was already being built. */
  | "already_indexing";

/** A call of one of a service's tools. */
export interface RecentCall {
  /** When it ended. */
  at: Timestamp;
  /** What happened, for people. */
  message: string;
  /** The tool, whether it succeeded, and more; never its arguments. */
  data: Record<string, unknown>;
}

/** A remembered answer: matching calls are decided by it without asking. */
export interface RememberedRule {
  /** How far it applies; never `once`. */
  scope: ApprovalScope;
  /** The answer that matching calls get. */
  decision: PolicyDecision;
  /** The calls that it decides. */
  pattern: CallPattern;
  /** The session it applies to; present only for the scope `session`. */
  session_id?: SessionId;
  /** The root of the workspace it applies to; present only for the scope `workspace`. */
  workspace?: string;
  /** The client that gave the answer; absent in events of older versions. */
  by?: Answerer;
}

/** How a remote server speaks HTTP. */
export type RemoteTransport =
  /** One endpoint that answers each request, at once or as a stream. */
  | "streamable_http"
  /** The transport of 2024: a stream of events, and a second address for requests. */
  | "sse_http";

/** A file in the index. */
export interface RepositoryFile {
  /** Path, relative to the workspace's folder. */
  path: string;
  /** Name without the path. */
  name: string;
  /** Path of the folder that contains it; empty for the workspace's own folder. */
  directory: string;
  /** What follows the last dot of its name; absent if there is none. */
  extension?: string;
  /** Size in bytes. */
  size_bytes: number;
  /** When it was last modified. */
  modified_at: Timestamp;
  /** When this entry was read. */
  indexed_at: Timestamp;
  /** Whether its content is not text. */
  is_binary: boolean;
  /** Whether it is a symbolic link. */
  is_symlink: boolean;
  /** Whether its name suggests that it contains secrets, such as `.env`. */
  is_sensitive: boolean;
  /** Whether git tracks it. */
  git_tracked: boolean;
  /** Whether git ignores it; always false in results from the index, which leaves such files out. */
  git_ignored: boolean;
  /** Number of lines; absent if they were not counted yet or it is not text. */
  line_count?: number;
  /** How well it matches the query, from 0 to 1; absent outside a search. */
  match_score?: number;
}

/** A folder in the index. */
export interface RepositoryFolder {
  /** Path, relative to the workspace's folder. */
  path: string;
  /** Name without the path. */
  name: string;
  /** Files in it and in its subfolders. */
  file_count: number;
  /** Folders directly in it. */
  folder_count: number;
  /** Size of those files together, in bytes. */
  total_size_bytes: number;
  /** When the newest of those files was modified. */
  last_modified: Timestamp;
}

/** Parameters of `repository/files/list`. */
export interface RepositoryListParams {
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Path of the folder, relative to the workspace's folder; the workspace's folder itself if absent. */
  directory?: string;
  /** Whether to include the files of its subfolders; false if absent. */
  recursive?: boolean;
  /** Most files to return: 1 to 1000, default 100. Folders are not counted. */
  limit?: number;
  /** Files to skip; 0 if absent. */
  offset?: number;
  /** What to sort by; `name` if absent. */
  sort_by?: FileSort;
  /** The direction of the order; `asc` if absent. */
  sort_order?: SortOrder;
  /** Only files with these extensions; all if absent. */
  extensions?: string[];
  /** Only files of at least this size in bytes; all if absent. */
  min_size?: number;
  /** Only files of at most this size in bytes; all if absent. */
  max_size?: number;
}

/** A page of a folder's files, and its folders. */
export interface RepositoryListResult {
  /** Path of the folder, relative to the workspace's folder. */
  directory: string;
  /** The files of this page, in the order that was requested. */
  files: RepositoryFile[];
  /** The folders in it, at most 1000; not paged. */
  directories: RepositoryFolder[];
  /** Number of files on all pages. */
  total_files: number;
  /** Number of folders in it. */
  total_directories: number;
  /** Which part of the files this page contains. */
  pagination: FilesPage;
}

/** Parameters that select a workspace's index. */
export interface RepositoryParams {
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
}

/** Numbers about a workspace's files. */
export interface RepositoryStats {
  /** Number of files. */
  total_files: number;
  /** Number of folders. */
  total_directories: number;
  /** Size of all files together, in bytes. */
  total_size_bytes: number;
  /** Number of lines in all text files. */
  total_lines: number;
  /** Number of files by extension, for the 20 most frequent ones. */
  files_by_extension: Record<string, unknown>;
  /** The 10 largest files. */
  largest_files: RepositoryFile[];
  /** The 10 files that were modified last. */
  recently_modified: RepositoryFile[];
  /** Number of files that git tracks. */
  git_tracked_files: number;
  /** Always 0, because the index leaves out what git ignores. */
  git_ignored_files: number;
  /** Number of files that are not text. */
  binary_files: number;
  /** Number of files whose names suggest that they contain secrets. */
  sensitive_files: number;
  /** The languages, the one with the most bytes first. */
  languages: LanguageStats[];
}

/** One request to a runtime: `req_` and 32 hex digits. */
export type RequestId = string;

/** How the runtime answered a request. */
export type RequestStatus =
  /** With a result. */
  | "ok"
  /** With an error. */
  | "error";

/** Whether a service that has ended is started again. */
export type RestartMode =
  /** It stays as it ended. */
  | "never"
  /** It is started again if it failed. */
  | "on-failure"
  /** It is started again however it ended. */
  | "always";

/** What happens when a service ends unexpectedly. */
export interface RestartPolicy {
  /** Whether it is started again. */
  mode: RestartMode;
  /** How many restarts within the window are too many. */
  maxRestarts: number;
  /** The window in seconds. */
  windowSeconds: number;
}

/** How an ended session is continued. */
export type ResumeModel =
  /** The runtime reloads the conversation by its own id. */
  | "native"
  /** Roost sends the conversation again, from its transcript. */
  | "reconstruct"
  /** It cannot be continued. */
  | "none";

/** Result of `rule/list`. */
export interface RuleListResult {
  /** All remembered answers, the oldest first. */
  rules: ListedRule[];
}

/** Parameters of `rule/remove`. */
export interface RuleRemoveParams {
  /** Id of the rule, from `rule/list`. */
  rule_id: string;
}

/** `rule.removed`: a remembered answer was removed, so the calls that it decided are asked about again. */
export interface RuleRemovedPayload {
  /** Id of the rule, as `rule/list` gave it. */
  rule_id: string;
  /** The rule as it was. */
  rule: RememberedRule;
  /** The client that removed it. */
  removed_by: Answerer;
}

/** Runs of agents in numbers. */
export interface RunCounts {
  /** All of them that are kept. */
  totalRuns: number;
  /** Those whose agent works. */
  running: number;
  /** Those whose agent waits for somebody or something. */
  waiting: number;
  /** Those that ended well. */
  completed: number;
  /** Those that ended with an error. */
  failed: number;
  /** Those that somebody ended. */
  cancelled: number;
}

/** Something that happened in a run. */
export interface RunEvent {
  /** Its number: in the daemon's own stream for what was reported, in the session's for a hosted agent. */
  seq: number;
  /** When it was recorded. */
  at: Timestamp;
  /** Such as `agent.run_started`. */
  kind: string;
  /** The service that the agent belongs to; absent if it belongs to none. */
  serviceId?: ServiceId;
  /** How serious it is. */
  level: EventLevel;
  /** One line for people. */
  message: string;
  /** What was told besides, with the run, the step and the agent as `runId`, `stepId` and `agent`. */
  data: Record<string, unknown>;
}

/** Parameters of `run/events`. */
export interface RunEventsParams {
  /** The run; all of them if absent. The id of a hosted session is the id of its run. */
  run_id?: string;
  /** Most events, 1 to 2000; 200 if absent. */
  limit?: number;
}

/** The last events of a run or of all, in order of time. */
export interface RunEventsResult {
  /** The run that was asked for; absent if none was. */
  runId?: RunId;
  /** The events, the latest last. */
  items: RunEvent[];
}

/** A run of an agent, as whoever orchestrates it names it. */
export type RunId = string;

/** Parameters of `run/list`. */
export interface RunListParams {
  /** Most runs, 1 to 2000; 100 if absent. */
  limit?: number;
}

/** Runs, the one that changed last first. */
export interface RunListResult {
  /** The runs: those that clients report, and every hosted session. */
  items: RunSummary[];
}

/** Parameters of `run/message`. */
export interface RunMessageParams {
  /** The run; the id of a hosted session is the id of its run. */
  run_id: string;
  /** What is said, at most 64 KiB. */
  message: string;
  /** Who says it; `user` if absent, which is whom the agent answers. */
  role?: RunMessageRole;
}

/** The message is recorded. */
export interface RunMessageResult {
  /** True in every answer; a failure is an error. */
  ok: boolean;
  /** The run that it was for. */
  runId: RunId;
  /** What the agent answered; absent if nobody answers here, or later, as a hosted session does. */
  reply?: string;
}

/** Who says something in a run. */
export type RunMessageRole =
  /** A person, whom the agent answers. */
  | "user"
  /** The agent itself. */
  | "assistant"
  /** Somebody who looks after both. */
  | "system";

/** Whether a prompt starts a new session or continues one. */
export type RunMode =
  /** Start a new session. */
  | "new"
  /** Continue a session. */
  | "continue";

/** Parameters of `run/report`. */
export interface RunReportParams {
  /** The events, at most 10,000. Each has a `kind` that begins with `agent.`, and most kinds need a `run_id`. */
  events: (Record<string, unknown>)[];
  /** Names this report, so that it is recorded once however often it is sent; an event may have a key of its own. */
  idempotency_key?: string;
}

/** The events are recorded, now or before under the same key. */
export interface RunReportResult {
  /** True in every answer; a failure is an error. */
  ok: boolean;
  /** Number of events that are recorded. */
  accepted: number;
}

/** Where a run is. */
export type RunStatus =
  /** It is known and has not begun. */
  | "queued"
  /** Its agent works. */
  | "running"
  /** Its agent waits for somebody or something. */
  | "waiting"
  /** It has ended well. */
  | "completed"
  /** It has ended with an error. */
  | "failed"
  /** Somebody ended it. */
  | "cancelled";

/** What the events of a run add up to; shown to clients by [`RunSummary::shown`]. */
export interface RunSummary {
  /** As its client named it. */
  runId: RunId;
  /** The agent that works in it. */
  agent?: string;
  /** The service that the agent belongs to. */
  serviceId?: ServiceId;
  /** What started it. */
  trigger: Trigger;
  /** What was told about the trigger. */
  triggerContext?: Record<string, unknown>;
  /** The event that caused it. */
  causationId?: string;
  /** What it belongs together with. */
  correlationId?: string;
  /** The run that handed over to it. */
  parentRunId?: string;
  /** The agent that handed over to it. */
  fromAgentId?: string;
  /** Where it is. */
  status: RunStatus;
  /** When its first event came. */
  startedAt: Timestamp;
  /** When its last event came. */
  updatedAt: Timestamp;
  /** When it ended. */
  completedAt?: Timestamp;
  /** What it waits for. */
  waitingReason?: string;
  /** Why it failed. */
  failureReason?: string;
  /** How many different steps were told of. */
  stepCount: number;
  /** How often it handed over. */
  handoffCount: number;
  /** How many tools were called. */
  toolCallCount: number;
  /** How often a model was called. */
  llmCallCount: number;
  /** How many events were told. */
  eventCount: number;
  /** The tokens that models read, as far as was told. */
  inputTokens: number;
  /** The tokens that models wrote, as far as was told. */
  outputTokens: number;
  /** What models cost, in US dollars, as far as was told. */
  costUsd: number;
  /** The step that was begun last and is not over. */
  currentStepId?: string;
  /** The kind of the last event. */
  lastEventKind: string;
  /** The message of the last event. */
  lastEventMessage: string;
}

/** Whether a runtime can be used on this machine. */
export interface RuntimeAvailability {
  /** Whether its program was found. */
  installed: boolean;
  /** Version that the program reports; absent if it reports none. */
  version?: string;
  /** Whether its user is logged in, as far as can be told without the network. */
  loggedIn: boolean;
  /** The login in words: `yes, by a key`, `yes, by an account`, `yes`, `not needed`, `no` or `unknown`. */
  login?: string;
  /** Why it cannot be used and what to do about it; absent if it can. */
  reason?: string;
  /** What to know although it can be used, such as a version that Roost was not tested with. */
  note?: string;
}

/** What a runtime can do, as observed in tests rather than as its vendor advertises it. */
export interface RuntimeCapabilities {
  /** Whether output arrives in deltas while the model writes. */
  supportsStreaming: boolean;
  /** Whether tool calls are reported as events. */
  supportsToolCalls: boolean;
  /** Whether several tool calls can be open at the same time. */
  supportsParallelToolCalls: boolean;
  /** A running task can be stopped. */
  supportsStop: boolean;
  /** Whether prompts can carry artifacts such as images. */
  supportsArtifacts: boolean;
  /** Whether new sessions can be created. */
  supportsSessionCreate: boolean;
  /** Whether the runtime itself can continue an ended session; in the registry also if Roost can, see `resumeModel`. */
  supportsSessionResume: boolean;
  /** Whether it reports token usage (`usage.reported`). */
  supportsUsageReporting: boolean;
  /** Whether it works without a terminal and without anybody to ask. */
  supportsNonInteractive: boolean;
  /** Most tool calls that one task can have open at once, at least 1; absent if there is no known limit. */
  maxOutstandingToolCalls?: number;
  /** How its user logs in. */
  authModel: AuthModel;
  /** Who runs its tools. */
  toolExecutionModel: ToolExecutionModel;
  /** Who decides whether its tools may run. */
  permissionModel: PermissionModel;
  /** Where it keeps its state. */
  stateModel: RuntimeStateModel;
  /** How an ended session is continued. */
  resumeModel: ResumeModel;
  /** Whether a tool call may be repeated after a resume. */
  toolReplaySafety: ToolReplaySafety;
  /** Its roles in MCP. */
  mcpSupport: McpSupport;
  /** The MCP transports that it supports; absent if unknown. */
  mcpTransports?: McpTransport[];
  /** What it guarantees when a task is stopped. */
  cancellationModel: CancellationModel;
  /** Where it can run. */
  supportedIsolationModes: RuntimeIsolationMode[];
  /** Where Roost runs it unless configured otherwise. */
  recommendedIsolationMode: RuntimeIsolationMode;
}

/** One runtime in the registry: an agent that sessions can run on. */
export interface RuntimeEntry {
  /** The value for `agent_type`, such as `claude`; never changes. */
  id: string;
  /** Name to show, such as `Claude Code`. */
  displayName: string;
  /** Whether this host lets clients use it; for devices `disabled` also if it is not installed. */
  status: RuntimeStatus;
  /** Where a client lists its sessions. */
  sessionListSource: SessionListSource;
  /** Where a client reads its messages. */
  sessionMessagesSource: SessionSource;
  /** Where a client watches its sessions. */
  sessionWatchSource: SessionSource;
  /** Whether a client should call `workspace/session/activate` before it resumes a session; true for `claude`, where cdev's clients do so. Roost itself does not need it. */
  requiresWorkspaceActivationOnResume: boolean;
  /** Whether a client should wait for `session_id_resolved` after it made a session; true for `claude`, where cdev's clients do so. Roost's ids are permanent from the first moment. */
  requiresSessionResolutionOnNewSession: boolean;
  /** Whether a session can go on after its process ended; the same as `supportsSessionResume` of its capabilities. */
  supportsResume: boolean;
  /** Whether it asks the user questions (`question.asked`). */
  supportsInteractiveQuestions: boolean;
  /** Whether it asks for permission before it runs tools. */
  supportsPermissions: boolean;
  /** The methods to call for its sessions. */
  methods: RuntimeMethods;
  /** What it can do, in seed 001's terms. */
  capabilities: RuntimeCapabilities;
  /** Whether it can be used on this machine now; absent if nobody has checked yet. */
  availability?: RuntimeAvailability;
}

/** Where a runtime runs. */
export type RuntimeIsolationMode =
  /** Inside the daemon's own process. */
  | "in_process"
  /** In a child process with its own environment. */
  | "subprocess"
  /** On a server that is already running. */
  | "server_side";

/** The method to call for each operation. The same for all of Roost's runtimes. */
export interface RuntimeMethods {
  /** Lists the sessions of a workspace. */
  history: string;
  /** Reads a session's messages. */
  messages: string;
  /** Starts sending a session's events to this client. */
  watch: string;
  /** Stops sending a session's events to this client. */
  unwatch: string;
  /** Creates a session or attaches to one. */
  start: string;
  /** Sends a prompt. */
  send: string;
  /** Stops a task or the whole session. */
  stop: string;
  /** Types text or a key. */
  input: string;
  /** Answers an approval or a question. */
  respond: string;
  /** Reads a session's current state. */
  state: string;
}

export type RuntimeName =
  | "claude-agent-sdk" | "codex-sdk" | "gemini-cli-core" | "opencode-server" | "demo" | "mcp" | "host"
  | string;

/** `runtime.notice`: output outside the protocol, and messages that have no event type of their own. */
export interface RuntimeNoticePayload {
  /** How important it is. */
  level: NoticeLevel;
  /** Where it comes from. */
  source: NoticeSource;
  /** The line or message, for people. */
  message: string;
}

/** This run of the daemon. */
export interface RuntimeProcess {
  /** Version of Roost. */
  version: string;
  /** The id of the daemon's process. */
  pid: number;
  /** Seconds since it started. */
  uptimeSeconds: number;
}

/** The runtime that an event comes from, and what was known of it at that time. */
export interface RuntimeRef {
  /** The runtime, or `host` for the daemon's own events. */
  name: RuntimeName;
  /** The model in use; absent until the runtime has named one. */
  model?: string;
  /** The runtime's own id for the session; absent until the runtime has told it. */
  runtime_session_id?: RuntimeSessionId;
  /** The runtime's own message, present where the normalized payload loses some of it. */
  raw?: unknown;
}

/** All runtimes, from the adapters that are registered and the server's policy. */
export interface RuntimeRegistry {
  /** Version of this shape; `1.0` in this version. */
  schemaVersion: string;
  /** When it was put together; availability may have changed since. */
  generatedAt: Timestamp;
  /** The runtime that is used if a client names none. */
  defaultRuntime: string;
  /** How clients say which runtime a call is for. */
  routing: RuntimeRouting;
  /** All registered runtimes, including those that are disabled or not installed. */
  runtimes: RuntimeEntry[];
}

/** `runtime.request.completed`: the runtime answered a request. */
export interface RuntimeRequestCompletedPayload {
  /** The request, as in `runtime.request.started`. */
  request_id: RequestId;
  /** The method's name in the runtime's own protocol. */
  method: string;
  /** Whether it answered with a result or an error. */
  status: RequestStatus;
  /** Time from request to answer, in milliseconds. */
  duration_ms: number;
}

/** `runtime.request.started`: Roost sent a request to the runtime. */
export interface RuntimeRequestStartedPayload {
  /** The same id stands in `runtime.request.completed`. */
  request_id: RequestId;
  /** The method's name in the runtime's own protocol. */
  method: string;
}

/** How clients say which runtime a call is for. */
export interface RuntimeRouting {
  /** Name of the parameter that selects the runtime: `agent_type`. */
  agentTypeField: string;
  /** The runtime that is used if the parameter is absent. */
  defaultAgentType: string;
  /** The methods on which clients should send the parameter. */
  requiredOnMethods: string[];
}

/** A runtime's own id for a session; an alias of the [`SessionId`], never a key of ours. */
export type RuntimeSessionId = string;

/** Where a runtime keeps its state. */
export type RuntimeStateModel =
  /** In memory; lost when its process ends. */
  | "in_process"
  /** In files on this machine. */
  | "local_disk"
  /** On a server. */
  | "server_side"
  /** In more than one of these places. */
  | "hybrid"
  /** The runtime does not say. */
  | "unknown";

/** Whether this host lets clients use a runtime; set in `roost.toml`. */
export type RuntimeStatus =
  /** It may be used. */
  | "active"
  /** It may be used, and its behaviour may still change. */
  | "preview"
  /** It may be used for now, but clients should move to another runtime. */
  | "deprecated"
  /** It may not be used, whatever a client's screen offers. */
  | "disabled";

/** The content of a message, in the shape of Claude's API. */
export interface Said {
  /** Who it comes from; the same as `type` of the message. */
  role: Speaker;
  /** The content in order; at least one block. */
  content: Block[];
  /** The model that wrote it; only for messages of the agent, and only if it is known. */
  model?: string;
  /** Why the agent stopped writing: `tool_use` for a tool call, `error` for a failed task; absent for all others. */
  stop_reason?: string;
}

/** What a client may do. Each scope includes those before it. */
export type Scope =
  /** Read everything, change nothing. */
  | "observe"
  /** Also prompt, stop and answer agents, and change repositories. */
  | "operate"
  /** Also manage devices, pairing and the daemon itself. */
  | "admin";

/** Parameters of `repository/search/cancel`. */
export interface SearchCancelParams {
  /** Id of the search. */
  search_id: string;
}

/** A place in a session where all words of a search occur. */
export interface SearchHit {
  /** Id of the session. */
  session_id: string;
  /** Number of the event in its session. */
  seq: number;
  /** When it happened. */
  time: Timestamp;
  /** What it was found in. */
  kind: SearchHitKind;
  /** The words around the first one that was found, on one line; `…` where something is left out. */
  excerpt: string;
}

/** What a hit was found in. */
export type SearchHitKind =
  /** What somebody said to the agent. */
  | "prompt"
  /** What the agent said. */
  | "answer"
  /** The name or the arguments of a tool call. */
  | "tool_call";

/** How a query is compared with a file's path. */
export type SearchMode =
  /** All characters of the query occur in this order anywhere in the path. */
  | "fuzzy"
  /** The query occurs unchanged anywhere in the path. */
  | "exact"
  /** The name or the path begins with the query. */
  | "prefix"
  /** The file has this extension. */
  | "extension";

/** Parameters of `repository/search` and `repository/search/start`. */
export interface SearchParams {
  /** The text to search for, at most 1000 characters. */
  query: string;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** How to compare; `fuzzy` if absent. */
  mode?: SearchMode;
  /** Most files to return: 1 to 500, default 50. */
  limit?: number;
  /** Files to skip; 0 if absent. */
  offset?: number;
  /** Only files with these extensions; all if absent. */
  extensions?: string[];
  /** Whether to leave out files that are not text; true if absent. */
  exclude_binaries?: boolean;
  /** Only files that git tracks; false if absent. */
  git_tracked_only?: boolean;
  /** Only files of at least this size in bytes; all if absent. */
  min_size?: number;
  /** Only files of at most this size in bytes; all if absent. */
  max_size?: number;
}

/** The files that match, best first. */
export interface SearchResult {
  /** The query from the parameters. */
  query: string;
  /** How it was compared. */
  mode: SearchMode;
  /** The files of this page. */
  results: RepositoryFile[];
  /** Number of files that match, on all pages. */
  total: number;
  /** Whether there are more files after these. */
  has_more: boolean;
  /** Time it took in milliseconds. */
  elapsed_ms: number;
}

/** Results of an interactive search that `repository/search/start` began. */
export interface SearchResults {
  /** Id of the search. */
  search_id: string;
  /** The text that they match, which may not be the latest one. */
  query: string;
  /** How it was compared. */
  mode: SearchMode;
  /** The files of the page that was requested, best first. */
  results: RepositoryFile[];
  /** Number of files that match. */
  total: number;
  /** Whether there are more files than these. */
  has_more: boolean;
  /** Time it took in milliseconds. */
  elapsed_ms: number;
  /** When it was sent. */
  timestamp: Timestamp;
}

/** An interactive search has started. Results come as `search_results` events, now and after every change. */
export interface SearchStarted {
  /** Id of the search, for `repository/search/update` and `repository/search/cancel`. */
  search_id: string;
  /** Always `started`; a failure is an error. */
  status: string;
}

/** Parameters of `repository/search/update`. */
export interface SearchUpdateParams {
  /** Id of the search. */
  search_id: string;
  /** The new text to search for, at most 1000 characters. */
  query: string;
}

/** A text that is passed on but never shown: `Debug` hides it, and it must not reach events, logs or errors. */
export type Secret = string;

/** Whether a reference can be used now. */
export interface SecretCheck {
  /** The reference as it was given. */
  authRef: string;
  /** `legacy_env`, `env`, `file`, `header_env` or `keyring`; absent if it is no reference. */
  provider?: string;
  /** Enough of what it leads to for somebody who knows it. */
  target: string;
  /** The same text, under the name by which older clients look for it. */
  redactedTarget: string;
  /** Whether the secret is there and can be sent. */
  valid: boolean;
  /** Why not; empty if it can. */
  issues: string[];
  /** The headers in which it would be sent. */
  headerKeys: string[];
  /** `environment`, `file` or `keyring`. */
  source: string;
}

/** A secret was deleted. */
export interface SecretDeleted {
  /** The reference as it was given. */
  authRef: string;
  /** The provider that keeps it: `file` or `keyring`. */
  provider: string;
  /** Its path within the folder of secrets, or its name in the keyring. */
  path: string;
  /** True in every answer; a failure is an error. */
  deleted: boolean;
}

/** The secrets that are kept in files. */
export interface SecretListResult {
  /** Number of secrets. */
  count: number;
  /** The secrets by path, at most 500. */
  items: StoredSecret[];
}

/** Parameters of methods about one secret. */
export interface SecretParams {
  /** A reference: `env:VARIABLE`, `file:RELATIVE/PATH`, `keyring:NAME`, `header_env:Header-Name:VARIABLE`, or a plain name. */
  auth_ref: string;
}

/** A form of references. */
export interface SecretProvider {
  /** `legacy_env`, `env`, `file`, `header_env` or `keyring`. */
  name: string;
  /** Whether it can be used. */
  supported: boolean;
  /** Why it cannot be used; absent if it can. */
  issue?: string;
}

/** The forms of references, and the folder of secrets. */
export interface SecretProvidersResult {
  /** Every form that a reference may have. */
  providers: SecretProvider[];
  /** The folder of secrets. */
  fileRoot: string;
  /** Whether the folder exists; it is made for the first secret. */
  fileRootExists: boolean;
}

/** Parameters of `secret/set`. */
export interface SecretSetParams {
  /** A reference to a file or to the keyring: `file:RELATIVE/PATH` or `keyring:NAME`. */
  auth_ref: string;
  /** The secret: one line of text. */
  secret: Secret;
}

/** A secret was written. */
export interface SecretWritten {
  /** The reference as it was given. */
  authRef: string;
  /** The provider that keeps it: `file` or `keyring`. */
  provider: string;
  /** Its path within the folder of secrets, or its name in the keyring. */
  path: string;
  /** True in every answer; a failure is an error. */
  written: boolean;
}

/** What the server can do. In the maps, an operation that is absent cannot be used. */
export interface ServerCapabilities {
  /** Operations on agents, such as `run` and `sessionWatch`. */
  agent: Record<string, boolean>;
  /** Operations on git, such as `commit`. */
  git: Record<string, boolean>;
  /** Operations on files: `get` and `list`. */
  file: Record<string, boolean>;
  /** Operations on the index of files, such as `search`. */
  repository: Record<string, boolean>;
  /** Names of all events that may be sent, without the prefix `event/`. */
  notifications: string[];
  /** Ids of the runtimes, the values for `agent_type`. */
  supportedAgents: string[];
  /** Everything about the runtimes (seed 000), including whether they can be used now. */
  runtimeRegistry: RuntimeRegistry;
}

/** Name and version of the server. */
export interface ServerInfo {
  /** Always `cdev`, the name that clients of that protocol expect. */
  name: string;
  /** Version of Roost. */
  version: string;
}

/** Parameters of `service/apply`. */
export interface ServiceApplyParams {
  /** The manifest, as `schemas/mcp-service-v1.schema.json` has it. */
  manifest: Record<string, unknown>;
}

/** Parameters of `service/approve`. */
export interface ServiceApproveParams {
  /** Id of the service. */
  service_id: string;
  /** Names of the tools, as the service knows them; all that are held back if absent. */
  tools?: string[];
  /** The `interfaceRevision` that was looked at: refused if the service offers something else by now. What is offered now if absent. */
  revision?: string;
}

/** Services in numbers. */
export interface ServiceCounts {
  /** All of them. */
  total: number;
  /** Those that offer tools only. */
  mcpServices: number;
  /** Those that are agents. */
  agentServices: number;
  /** Those that run. */
  running: number;
  /** Those that run and offer tools only. */
  runningMcp: number;
  /** Those that run and are agents. */
  runningAgent: number;
  /** Those that run badly, or crashed. */
  degraded: number;
  /** Those that are stopped or were never started. */
  stopped: number;
  /** Those that are quarantined. */
  quarantined: number;
  /** Those that run on this machine, as programs or modules. */
  local: number;
  /** Those that are elsewhere. */
  remote: number;
  /** Those here that offer tools only. */
  localMcp: number;
  /** Those elsewhere that offer tools only. */
  remoteMcp: number;
  /** Those here that are agents. */
  localAgent: number;
  /** Those elsewhere that are agents. */
  remoteAgent: number;
}

/** A service from every side. */
export interface ServiceDetails {
  /** Id of the service. */
  serviceId: ServiceId;
  /** The service in short. */
  summary: ServiceSummary;
  /** Everything about it. */
  service: ServiceRecord;
  /** What it offers. */
  interface: ServiceInterface;
  /** The last lines of its log. */
  logs: string[];
  /** What happened to it last. */
  events: AuditRecord[];
  /** Its last calls. */
  recentCalls: RecentCall[];
}

/** Parameters of `service/details`. */
export interface ServiceDetailsParams {
  /** Id of the service. */
  service_id: string;
  /** Most lines of its log, 1 to 2000; 50 if absent. */
  log_limit?: number;
  /** Most records, 1 to 2000; 100 if absent. */
  event_limit?: number;
  /** Most calls, 1 to 2000; 20 if absent. */
  call_limit?: number;
}

/** Parameters of `service/events`. */
export interface ServiceEventsParams {
  /** Id of the service. */
  service_id: string;
  /** Most records to return, 1 to 2000; 200 if absent. */
  limit?: number;
}

/** What happened to a service. */
export interface ServiceEventsResult {
  /** Id of the service. */
  serviceId: ServiceId;
  /** The records, the oldest first. */
  items: AuditRecord[];
}

/** A service of the MCP gateway: `svc_` and 12 hex digits. */
export type ServiceId = string;

/** What a service offers. */
export interface ServiceInterface {
  /** Id of the service. */
  serviceId: ServiceId;
  /** Names the interface; absent until it was listed. */
  interfaceRevision?: string;
  /** When it was listed; absent until then. */
  introspectedAt?: Timestamp;
  /** The tools as the service defines them. */
  tools: unknown[];
  /** The resources as the service defines them. */
  resources: unknown[];
  /** The templates of addresses as the service defines them. */
  resourceTemplates: unknown[];
  /** The prompts as the service defines them. */
  prompts: unknown[];
  /** What is odd about it, for people. */
  problems: string[];
}

/** `service.interface_refreshed`: what a service offers was listed and is not what it was. */
export interface ServiceInterfaceRefreshedPayload {
  /** The service that was listed. */
  service_id: ServiceId;
  /** Names this interface: the same for the same definitions. */
  revision: string;
  /** The number of its tools. */
  tools: number;
  /** The number of its resources. */
  resources: number;
  /** The number of its prompts. */
  prompts: number;
  /** The tools that are held back, because nobody has approved them as they are; at most 100 names. */
  held_back?: string[];
}

/** What a service offers, listed just now. */
export interface ServiceIntrospectResult {
  /** What it offers. */
  interface: ServiceInterface;
}

/** Result of `service/list`. */
export interface ServiceListResult {
  /** The services, ordered by namespace. */
  items: ServiceSummary[];
}

/** A login that waits for its person. */
export interface ServiceLogin {
  /** Names it in `service/login/finish`. */
  loginId: string;
  /** The address that the person opens in a browser. */
  url: string;
}

/** Parameters of `service/login/finish`. */
export interface ServiceLoginFinishParams {
  /** Id of the service. */
  service_id: string;
  /** The id that `service/login` gave. */
  login_id: string;
  /** The whole address to which the browser was sent back. */
  redirected_to: string;
}

/** Parameters of `service/login`. */
export interface ServiceLoginParams {
  /** Id of the service. */
  service_id: string;
  /** Where the browser is sent when its person has agreed: an address on the person's own machine. */
  redirect_uri: string;
  /** The client that was registered by hand at the service's login; else Roost registers itself. */
  client_id?: string;
  /** The secret of that client, if it has one. */
  client_secret?: Secret;
  /** The address of a document that describes this client, for logins that read it instead of a registration. Not beside `client_id`. */
  client_metadata_url?: string;
  /** The rights that are asked for; what the service wants if absent. */
  scopes?: string[];
}

/** Parameters of `service/logs`. */
export interface ServiceLogsParams {
  /** Id of the service. */
  service_id: string;
  /** Most lines to return, 1 to 2000; 200 if absent. */
  limit?: number;
  /** Only lines after the one of this number, which is `last` of an earlier answer; 0 if absent. */
  after?: number;
  /** True waits up to 25 seconds for a line after `after`; false if absent. */
  follow?: boolean;
}

/** Lines of a service's log. */
export interface ServiceLogsResult {
  /** Id of the service. */
  serviceId: ServiceId;
  /** The lines as `[time] text`, the oldest first. */
  lines: string[];
  /** The number of the newest line, to go on after it. */
  last: number;
}

/** `service.manifest_applied`: a service was declared, or declared anew. */
export interface ServiceManifestAppliedPayload {
  /** The service that was declared. */
  service_id: ServiceId;
  /** 1 for the first manifest of the service, one more for each further one. */
  version: number;
  /** The name that its tools begin with. */
  namespace: string;
  /** Whether it may be started. */
  enabled: boolean;
}

/** What identifies and describes a service. */
export interface ServiceMetadata {
  /** Where it comes from: a source file, or the endpoint of a remote service. */
  sourceFile: string;
  /** Its name, from which its namespace follows unless one is given. */
  module: string;
  /** Whether it offers tools only or is an agent, too. */
  serviceType: ServiceType;
  /** Given by whoever declares it; else it is derived. */
  serviceId?: ServiceId;
  /** A name for people. */
  displayName?: string;
  /** The folder that a local service belongs to. */
  workspaceRoot?: string;
  /** The version as its author counts. */
  version?: string;
  /** The SHA-256 that a local artifact must have, in hex. */
  artifactSha256?: string;
  /** When it was first applied; set by the registry. */
  createdAt?: string;
  /** When it was last applied; set by the registry. */
  updatedAt?: string;
  /** The description of an agent, as the schema has it. */
  agent?: Record<string, unknown>;
}

/** What runs or answers for a service. */
export type ServiceOrigin =
  /** A wasm module that runs in the daemon. */
  | { type: "local_wasm"; wasmPath: string; entry: string; args?: string[]; env?: ServiceVariable[]; limits?: WasmLimits; capabilities?: WasmCapabilities }
  /** A server elsewhere. */
  | { type: "remote_mcp"; endpoint: string; transport: RemoteTransport; authRef?: string; timeoutMs?: number; allowedTools?: string[]; maxPayloadBytes?: number; maxConcurrency?: number }
  /** A program that speaks MCP on its standard input and output. */
  | { type: "stdio_mcp"; command: string; args?: string[]; cwd?: string; env?: ServiceVariable[]; timeoutMs?: number; allowedTools?: string[]; maxPayloadBytes?: number; maxConcurrency?: number };

/** Parameters of methods about one service. */
export interface ServiceParams {
  /** Id of the service: `svc_` and 12 hex digits. */
  service_id: string;
}

/** What happens when a service ends, and what a call may take. */
export interface ServicePolicy {
  /** What happens when it ends unexpectedly. */
  restart: RestartPolicy;
  /** What a call may take; absent for a wasm module. */
  remote?: CallLimits;
}

/** Everything about a service. Values of variables in its manifest are shown to callers with the scope `admin` only. */
export interface ServiceRecord {
  /** Id of the service. */
  serviceId: ServiceId;
  /** 1 for the first manifest, one more for each further one. */
  version: number;
  /** What was applied last. */
  manifest: Manifest;
  /** How it is now. */
  runtime: ServiceRuntime;
  /** What it offers; absent until it was listed. */
  interfaceSnapshot?: ServiceInterface;
  /** The tools that are held back until somebody approves them. */
  heldBack: HeldBackTool[];
}

/** Parameters of `service/remove`. */
export interface ServiceRemoveParams {
  /** Id of the service. */
  service_id: string;
  /** Whether its compiled module is deleted, too, if it lies in a `.clarity/build` folder below the daemon's; no if absent. */
  cleanup_artifacts?: boolean;
}

/** A service is gone. */
export interface ServiceRemoved {
  /** Always true; a failure is an error. */
  removed: boolean;
  /** Whether its compiled module was deleted. */
  artifactRemoved: boolean;
  /** The id that it had. */
  serviceId: ServiceId;
}

/** `service.removed`: a service is no longer declared. */
export interface ServiceRemovedPayload {
  /** The id that it had. */
  service_id: ServiceId;
  /** The name that its tools began with. */
  namespace: string;
}

/** Result of the methods that answer with one service. */
export interface ServiceResult {
  /** Everything about it. */
  service: ServiceRecord;
  /** What of an applied manifest has no effect here; absent if everything has. */
  warnings?: string[];
}

/** How a service is now. */
export interface ServiceRuntime {
  /** Where it is in its life. */
  lifecycle: Lifecycle;
  /** What the last look at it found. */
  health: Health;
  /** Whether it may be started. */
  enabled: boolean;
  /** Whether it starts with the daemon. */
  autostart: boolean;
  /** Seconds since it runs; 0 if it does not. */
  uptimeSeconds: number;
  /** How often it was started again by itself since somebody started it. */
  restartCount: number;
  /** What is being done to start it; absent unless it starts and that takes its time. */
  progress?: string;
  /** Why it last failed; absent if it runs well. */
  lastError?: string;
  /** When it last answered; absent if it never did. */
  lastHeartbeatAt?: Timestamp;
  /** When it is tried again by itself; absent if it is not. */
  nextAttemptAt?: Timestamp;
}

/** How a service is reached and kept running. */
export interface ServiceSpec {
  /** What runs or answers. */
  origin: ServiceOrigin;
  /** A disabled service is kept and never started. */
  enabled: boolean;
  /** Whether it starts with the daemon. */
  autostart: boolean;
  /** What happens when it ends unexpectedly. */
  restartPolicy: RestartPolicy;
  /** The policy that its calls pass. */
  policyRef: string;
  /** The prefix of its tools; the module's name unless given. */
  toolNamespace?: string;
}

/** `service.state_changed`: where a service is in its life, or what was found of its health, has changed. */
export interface ServiceStateChangedPayload {
  /** The service whose state changed. */
  service_id: ServiceId;
  /** Where it was before. */
  before: Lifecycle;
  /** Where it is now. */
  lifecycle: Lifecycle;
  /** What the last look at it found. */
  health: Health;
  /** Why it last failed, at most 2 KiB; absent if it runs well. */
  error?: string;
  /** When it is tried again by itself; absent if it is not. */
  next_attempt?: Timestamp;
  /** How often it was started again by itself since somebody started it. */
  restart_count: number;
}

/** A service in short. */
export interface ServiceSummary {
  /** Id of the service. */
  serviceId: ServiceId;
  /** Name for people; absent if none was given. */
  displayName?: string;
  /** The name that its tools begin with. */
  namespace: string;
  /** Where it comes from: a source file, or the endpoint of a remote service. */
  sourceFile: string;
  /** The module's name, from its manifest. */
  module: string;
  /** Whether it offers tools only or is an agent, too. */
  serviceType: ServiceType;
  /** The description of an agent; absent for others. */
  agent?: Record<string, unknown>;
  /** `local_wasm`, `remote_mcp` or `stdio_mcp`. */
  originType: string;
  /** Where it is in its life. */
  lifecycle: Lifecycle;
  /** What the last look at it found. */
  health: Health;
  /** Seconds since it runs; 0 if it does not. */
  uptimeSeconds: number;
  /** How often it was started again by itself since somebody started it. */
  restartCount: number;
  /** Why it last failed; absent if it runs well. */
  lastError?: string;
  /** When it is tried again by itself; absent if it is not. */
  nextAttemptAt?: Timestamp;
  /** What happens when it ends, and what a call may take. */
  policy: ServicePolicy;
  /** What it offers in numbers; absent until it was listed. */
  interface?: InterfaceSummary;
}

/** `service.tools_approved`: tools of a service are offered as they are defined now. */
export interface ServiceToolsApprovedPayload {
  /** The service that has the tools. */
  service_id: ServiceId;
  /** The approved tools; at most 100 names. */
  tools: string[];
  /** The number of all tools that were approved. */
  count: number;
  /** Who approved them; absent if they were approved because they were new. */
  approved_by?: string;
}

/** What a service is. */
export type ServiceType =
  /** It offers tools, resources and prompts. */
  | "mcp"
  /** It also works by itself, on triggers. */
  | "agent";

/** A variable in a service's environment, with its value or where the value is kept. */
export interface ServiceVariable {
  /** The variable's name. */
  name: string;
  /** The value as it is. */
  value?: string;
  /** Where a secret value is kept; it wins over `value`. */
  secretRef?: string;
}

/** `session.closed`: the session's process and resources are gone. */
export interface SessionClosedPayload {
  /** What ended it, for people: a stop, the idle timeout, an exit or a restart. */
  reason: string;
}

/** `session.created`: the settings of a new session. */
export interface SessionCreatedPayload {
  /** Version of the runtime contract that it was created under; `1` in this version. */
  contract_version: string;
  /** The runtime that runs it; never changes. */
  runtime: RuntimeName;
  /** The working directory, absolute; never changes. */
  cwd: string;
  /** Name of the set of logins and runtime state that it uses; `default` unless named. */
  credential_namespace: string;
  /** Title for lists; absent until somebody or the first prompt gives one. */
  title?: string;
  /** The model that was requested; absent means the runtime's default. */
  model?: string;
  /** The mode in the seed's three words. */
  permission_mode: PermissionMode;
  /** The mode in Roost's five words; counts where the two differ. */
  mode: Mode;
  /** The workspace it was created in; absent if its folder belongs to none. */
  workspace_id?: WorkspaceId;
  /** How much of the user's home the runtime shares; absent means the runtime's configured default. */
  isolation?: IsolationLevel;
  /** Names of the extra environment variables that a client gave it; the values are in no event. */
  env?: string[];
  /** Names of its own MCP servers; how they are reached may hold secrets and is in no event (not in the seed). */
  mcp_servers?: string[];
  /** The runtime's own settings, passed on unchanged to the runtime; secrets are removed here. */
  runtime_config?: Record<string, unknown>;
  /** `sha256:<hex>` of those settings with their secrets, to notice changes. */
  runtime_config_hash?: string;
  /** Present if the conversation began outside Roost. */
  adopted?: Adopted;
  /** Present if it was forked from another session. */
  forked?: Forked;
}

/** A session was closed, or the daemon is going down. */
export interface SessionEnd {
  /** Id of the session; the id of the daemon's run if it goes down. */
  session_id: string;
  /** Why it ended; `shutdown` if the daemon goes down. */
  reason: string;
  /** When it ended. */
  timestamp: Timestamp;
  /** The session's workspace; absent if it has none or the daemon goes down. */
  workspace_id?: string;
  /** Id of the session's runtime; absent if the daemon goes down. */
  agent_type?: string;
  /** The cursor after this event; absent if the daemon goes down. */
  cursor?: string;
}

/** Parameters of `session/fork`. */
export interface SessionForkParams {
  /** The session to fork. One that only its runtime has becomes a session of Roost first. */
  session_id: string;
  /** The workspace that the session must belong to; any if absent. */
  workspace_id?: string;
  /** A folder outside the workspaces in which to look for the session; needs the scope `admin`. */
  cwd?: string;
  /** Id of the runtime that the session must have; any if absent. */
  agent_type?: string;
  /** Title of the new session, at most 1 KiB; that of the other one if absent. */
  title?: string;
  /** How much the new session may do without asking; as much as the other one if absent. */
  permission_mode?: AnyMode;
  /** True is the same as the `permission_mode` `yolo`, and wins over it. */
  yolo_mode?: boolean;
}

/** A session: a plain UUID (v7), or for an adopted session an id that follows from its runtime's. Never changes. */
export type SessionId = string;

/** A task failed before the runtime had told its own id for the session. */
export interface SessionIdFailed {
  /** Id of the session. */
  temporary_id: string;
  /** `claude_exited` if the runtime's process ended, else `error`. */
  reason: string;
  /** What happened, for people. */
  message: string;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** The runtime has told its own id for the session. The id that clients use does not change. */
export interface SessionIdResolved {
  /** Id of the session. */
  temporary_id: string;
  /** The same, because ids never change. */
  real_id: string;
  /** Always empty; read the session with `session/messages`. */
  session_file: string;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** One session in a list. */
export interface SessionInfo {
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** Its title; `(session)` if it has none yet. */
  summary: string;
  /** The first line of the first prompt, or the title; absent if there is neither. */
  first_prompt?: string;
  /** Tasks that it has had. */
  task_count: number;
  /** Messages in its history; always 0 for the source `history`, because the runtime does not count them. */
  message_count: number;
  /** When it was created; for the source `history` the same as `last_updated`. */
  start_time: Timestamp;
  /** When it last changed. */
  last_updated: Timestamp;
  /** `running` if it has a process or a task, else `historical`. */
  status: string;
  /** Who has its record. */
  source: KeptBy;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** Its working directory, absolute. */
  project_path: string;
  /** Its model; absent means the runtime's default. */
  model?: string;
  /** How much its model thinks; absent if its runtime has no such setting. */
  thought_level?: ThoughtLevel;
  /** Whether a running task takes messages, see `delivery` of `session/send`. */
  steers: boolean;
  /** Ids of the clients that watch it or have it on their screen. */
  viewers: string[];
  /** Its complete record. */
  record: SessionRecord;
}

/** Parameters of `session/input`: `key`, or if that is absent, `input`.  While an approval waits, `up` and `down` move the selection among its options and `enter` takes the selected one. A key never answers another approval than the one that this client was shown. */
export interface SessionInputParams {
  /** Id of the session, from `session/start` or `session/list`. */
  session_id: string;
  /** Text, or the name of a key. While something waits it answers: the number or key of an option, a word such as `yes`, or for a question its text. Otherwise text is a prompt. */
  input?: string;
  /** Name of a key, such as `up`, `enter` or `escape` (deny, or stop if nothing waits). Keys that mean nothing here do nothing; an unknown one is refused. */
  key?: string;
  /** The approval or question that is meant; needed if several wait. */
  tool_use_id?: string;
  /** Id of the runtime that the session must have; any if absent. */
  agent_type?: string;
}

/** The input was accepted. */
export interface SessionInputResult {
  /** Always `sent`; a failure is an error. */
  status: string;
  /** The key that it was understood as; absent for text. */
  key?: string;
  /** Id of the session's runtime. */
  agent_type: string;
}

/** Another client has begun to watch the session. Its own fields are also in `payload`, because a phone takes an object with a `session_id` beside them for another event. */
export interface SessionJoined {
  /** Id of the session. */
  session_id: string;
  /** Id of the client that came. */
  joining_client_id: string;
  /** Ids of the others that watch it, at most 16. */
  other_viewers: string[];
  /** Number of clients that watch it. */
  viewer_count: number;
  /** `joining_client_id`, `other_viewers` and `viewer_count` once more. */
  payload: Record<string, unknown>;
  /** When it was sent. */
  timestamp: Timestamp;
  /** The session's workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** Id of the session's runtime; absent if only the runtime keeps the session. */
  agent_type?: string;
}

/** Another client no longer watches the session. Its own fields are also in `payload`, as in `session_joined`. */
export interface SessionLeft {
  /** Id of the session. */
  session_id: string;
  /** Id of the client that left. */
  leaving_client_id: string;
  /** Ids of those that still watch it, at most 16. */
  remaining_viewers: string[];
  /** Number of clients that still watch it. */
  viewer_count: number;
  /** `leaving_client_id`, `remaining_viewers` and `viewer_count` once more. */
  payload: Record<string, unknown>;
  /** When it was sent. */
  timestamp: Timestamp;
  /** The session's workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** Id of the session's runtime; absent if only the runtime keeps the session. */
  agent_type?: string;
}

/** Parameters of `session/list`. */
export interface SessionListParams {
  /** Only sessions of the runtime with this id; all if absent. */
  agent_type?: string;
  /** Only sessions of this workspace; all if absent. */
  workspace_id?: string;
  /** Only sessions that work in this folder; all if absent. A folder outside the workspaces needs the scope `admin`. */
  cwd?: string;
  /** Only sessions that Roost has, or only those that runtimes have; both if absent. */
  source?: KeptBy;
  /** Most sessions to return: 1 to 500, default 50. */
  limit?: number;
  /** Sessions to skip; 0 if absent. */
  offset?: number;
}

/** A page of sessions, last changed first. It is shorter than `limit` if it would exceed 768 KiB. */
export interface SessionListResult {
  /** The sessions of this page. */
  sessions: SessionInfo[];
  /** Number of sessions on all pages. */
  total: number;
  /** Which runtimes could not be asked for their sessions, and why; absent if all could. */
  notices?: string[];
}

/** Where a client lists the sessions of a runtime. */
export type SessionListSource =
  /** With the method for a workspace's history; always so in Roost. */
  | "workspaceHistory"
  /** With a method of the runtime's own. */
  | "runtimeScoped";

/** Parameters that select a session. */
export interface SessionParams {
  /** Id of the session, from `session/start` or `session/list`. */
  session_id: string;
  /** Id of the runtime that the session must have; any if absent. */
  agent_type?: string;
}

/** The current state of a session: the sum of its events and nothing else. */
export interface SessionRecord {
  /** Id of the session; never changes. */
  session_id: SessionId;
  /** The runtime that runs it; never changes. */
  runtime: RuntimeName;
  /** Where it is in its lifecycle. */
  status: SessionStatus;
  /** Its working directory, absolute; never changes. */
  cwd: string;
  /** Name of the set of logins and runtime state that it uses. */
  credential_namespace: string;
  /** How much it may do without asking. */
  mode: Mode;
  /** Title for lists: the one that was given, else the first line of the first prompt. Absent before that. */
  title?: string;
  /** The model in use; absent means the runtime's default. */
  model?: string;
  /** The runtime's own id for it; absent until the runtime has told it. */
  runtime_session_id?: RuntimeSessionId;
  /** When it was created. */
  created_at: Timestamp;
  /** Time of the last change to the session or end of a task; not of every event. */
  updated_at: Timestamp;
  /** The running task; absent if none runs. */
  open_task?: OpenTask;
  /** How the last task ended; absent before the first one ended. */
  last_outcome?: TaskOutcome;
  /** Why the last task failed, if it did. */
  failure?: string;
  /** Tasks that it has had, including the running one. */
  tasks: number;
  /** What it has used up so far. */
  usage?: SessionUsage;
  /** Messages in its history, including those from before it was adopted or forked. */
  messages: number;
  /** Messages of its runtime that Roost did not understand. Each is in the log unchanged. */
  unknown_messages?: number;
  /** Whether it was removed from lists with `session/delete`; the next prompt lists it again. */
  hidden?: boolean;
  /** Prompts that wait for the running task to end, in order. */
  queue?: QueuedPrompt[];
  /** The workspace it was created in; absent if its folder belongs to none. */
  workspace_id?: WorkspaceId;
  /** How much of the user's home the runtime shares; absent means the runtime's configured default. */
  isolation?: IsolationLevel;
  /** Names of the extra environment variables that a client gave it; the values are shown to nobody. */
  env?: string[];
  /** Names of its own MCP servers, which a client gave it. */
  mcp_servers?: string[];
  /** The runtime's own settings, passed on without interpretation; secrets are removed here. */
  runtime_config?: Record<string, unknown>;
  /** `sha256:<hex>` of those settings with their secrets, to notice changes. */
  runtime_config_hash?: string;
  /** Present if the conversation began outside Roost. */
  adopted?: Adopted;
  /** Present if it was forked from another session. */
  forked?: Forked;
}

/** Parameters of `session/respond`. */
export interface SessionRespondParams {
  /** Id of the session, from `session/start` or `session/list`. */
  session_id: string;
  /** Which kind to answer if `id` is absent. */
  type: AskKind;
  /** The answer. For an approval a word such as `yes`, `no`, `allow_once`, `allow_session` or `deny`; any other word denies, and is the reason. For a question the text, or an object with values by field id or label. */
  response: unknown;
  /** Id of the approval or question; the oldest of that kind if absent. */
  id?: string;
  /** Id of the runtime that the session must have; any if absent. */
  agent_type?: string;
}

/** Parameters of `session/search`. */
export interface SessionSearchParams {
  /** Words, of which each must occur in the same prompt, answer or tool call; upper and lower case are the same. */
  query: string;
  /** Most hits: 1 to 100, default 20. */
  limit?: number;
  /** Sessions to skip, the latest first: `next_offset` of the call before; 0 if absent. */
  offset?: number;
}

/** What `session/search` found in a bounded part of the log. */
export interface SessionSearchResult {
  /** The hits, those of the latest session first and of each session the latest; three of a session at most. */
  hits: SearchHit[];
  /** Number of sessions that this call looked at. */
  searched: number;
  /** `offset` of the call that goes on; absent if all sessions were looked at. */
  next_offset?: number;
}

/** Parameters of `session/send`. */
export interface SessionSendParams {
  /** The prompt's text. */
  prompt: string;
  /** The session to prompt; if absent, `mode` decides. One that only its runtime has becomes a session of Roost. */
  session_id?: string;
  /** The workspace in which to create or find the session; required without `session_id`. */
  workspace_id?: string;
  /** Without `session_id`: a new session, or the one that `session/start` would attach to. `new` if absent. */
  mode?: RunMode;
  /** How much it may do without asking from this prompt on; `ask` for a new session, unchanged for another if absent. */
  permission_mode?: AnyMode;
  /** True is the same as the `permission_mode` `yolo`, and wins over it. */
  yolo_mode?: boolean;
  /** Id of the runtime for a new session, such as `claude`; the registry's default if absent. An existing session must have it. */
  agent_type?: string;
  /** Whether a person can be asked while the prompt runs; `present` if absent. */
  approver?: Presence;
  /** Model to use from this prompt on, at most 1 KiB; unchanged if absent. */
  model?: string;
  /** Images for the prompt: png, jpeg, gif or webp, at most 5 of 10 MiB each. Refused if the runtime takes none. */
  images?: PromptImage[];
  /** Files that the prompt refers to, at most 50: paths below the session's folder, over the local socket any path. */
  files?: string[];
  /** What becomes of it while another task runs; `queue` if absent. */
  delivery?: PromptDelivery;
  /** A text that the client makes up, at most 1 KiB. Sent again with the same key, because no answer came, the prompt is the one that was sent before, as long as the daemon runs. */
  key?: string;
}

/** The prompt was accepted. */
export interface SessionSendResult {
  /** Always `sent`; see `delivery`. */
  status: string;
  /** Id of the session that got the prompt. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** Whether the session was created for this prompt. */
  auto_created: boolean;
  /** `started`, `queued` behind a running task, or `steered`: the running task got it. */
  delivery: string;
  /** The task that the prompt became, or that got it; absent if it was queued. */
  task_id?: string;
  /** Id of the prompt in the session's queue; absent if it was started. */
  prompt_id?: string;
}

/** Where a client reads or watches a session of a runtime. */
export type SessionSource =
  /** With the methods of the session's workspace; always so in Roost. */
  | "workspaceScoped"
  /** With methods of the runtime's own. */
  | "runtimeScoped";

/** A session was created. Also sent after `initialize`, with the daemon's own id, for clients that wait for it. */
export interface SessionStart {
  /** The session's working directory, absolute. */
  repo_path: string;
  /** Name of that folder. */
  repo_name: string;
  /** Version of the runtime contract that it was created under; Roost's version in the one after `initialize`. */
  agent_version: string;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** Parameters of `session/start`. `env`, `isolation`, `credential_namespace`, `worktree`, `mcp_servers` and `runtime_config` are refused for a session that exists. */
export interface SessionStartParams {
  /** The workspace to work in; required unless `session_id` or `cwd` is given. */
  workspace_id?: string;
  /** The folder to work in. Outside of workspaces and `workspaces.roots` it needs the scope `admin`. */
  cwd?: string;
  /** The session to attach to. One that only its runtime has becomes a session of Roost. */
  session_id?: string;
  /** Which session to use if `session_id` is absent; `attach` if absent. */
  mode?: StartMode;
  /** How much it may do without asking; `ask` for a new session if absent. An existing one changes with its next task. */
  permission_mode?: AnyMode;
  /** True is the same as the `permission_mode` `yolo`, and wins over it. */
  yolo_mode?: boolean;
  /** Id of the runtime for a new session, such as `claude`; the registry's default if absent. An existing session must have it. */
  agent_type?: string;
  /** Whether a new session gets a git worktree and branch of its own; false if absent. Needs `workspace_id`. */
  worktree?: boolean;
  /** Title for lists, at most 1 KiB; the first line of the first prompt if absent. */
  title?: string;
  /** Model to use, at most 1 KiB; the runtime's default if absent. An existing session changes with its next task. */
  model?: string;
  /** How much the model thinks: one of the `levels` that `session/get` lists for the session. Only for a session that exists, which changes with its next task; a new one takes it in `runtime_config`. */
  thought_level?: string;
  /** The runtime's own settings, at most 64 KiB, passed on without interpretation. */
  runtime_config?: Record<string, unknown>;
  /** Extra environment variables for the runtime. No answer and no event shows their values. */
  env?: Record<string, Secret>;
  /** How much of the user's home the runtime shares. If absent, the configured default; `namespaced` with a `credential_namespace`. */
  isolation?: IsolationLevel;
  /** Name of the set of logins to use, 1 to 200 characters; `default` if absent. */
  credential_namespace?: string;
  /** MCP servers of a new session, besides those of the host. One that its runtime cannot use is refused. */
  mcp_servers?: McpServerParams[];
}

/** The session that was created, forked or attached to. If something waits in it, its events are sent again. */
export interface SessionStartResult {
  /** Id of the session; never changes. */
  session_id: string;
  /** The same as `session_id`. */
  id: string;
  /** Its workspace; empty if its folder belongs to none. */
  workspace_id: string;
  /** `starting` for a new session, else `attached`. */
  status: string;
  /** `started` or `forked` for a new session, `existing` for the workspace's running one, else `attached`. */
  outcome: string;
  /** `managed` for a session that is new or has a process, else `history`. */
  source: string;
  /** Id of its runtime. */
  agent_type: string;
  /** The result for people. */
  message: string;
  /** Whether an approval or question waits for an answer in it. */
  has_pending_permission: boolean;
  /** Kind of the approval that waits, as `type` of `pty_permission`; absent if none waits. */
  pending_permission_type?: string;
  /** What that call is about, as `target` of `pty_permission`; absent if none waits. */
  pending_permission_target?: string;
  /** Its working directory, absolute. */
  project_path: string;
  /** When it was created. */
  started_at: Timestamp;
  /** When it last changed. */
  last_active: Timestamp;
}

/** The current state of a session. It has every field that some client reads, hence the repetitions. */
export interface SessionState {
  /** Id of the session. */
  id: string;
  /** The same as `id`. */
  session_id: string;
  /** Its workspace; empty if its folder belongs to none. */
  workspace_id: string;
  /** `starting` before the first prompt, `running`, `stopping`, `stopped`, or `error` if it ended with a failed task. */
  status: string;
  /** Its working directory, absolute. */
  project_path: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it was created. */
  started_at: Timestamp;
  /** When it last changed. */
  last_active: Timestamp;
  /** The same as `last_active`. */
  last_updated: Timestamp;
  /** Present if the last task failed; the `task.failed` event says why. */
  error?: string;
  /** `idle`, `running`, or `waiting` for an answer. */
  claude_state: string;
  /** The runtime's own id for it; empty until the runtime has told it. */
  claude_session_id: string;
  /** Whether a task is running. */
  is_running: boolean;
  /** Whether an approval or question waits for an answer. */
  waiting_for_input: boolean;
  /** Id of the oldest that waits; absent if nothing does. */
  pending_tool_use_id?: string;
  /** Its tool as the runtime names it, `AskUserQuestion` for a question; absent if nothing waits. */
  pending_tool_name?: string;
  /** Its title; `(session)` if it has none yet. */
  summary: string;
  /** Messages in its history. */
  message_count: number;
  /** How much it may do without asking: `plan`, `ask`, `accept_edits`, `auto` or `yolo`. */
  mode: string;
  /** Its model; absent means the runtime's default. */
  model?: string;
  /** Prompts that wait for the running task to end, in order. */
  queue: QueuedPrompt[];
  /** Ids of the clients that watch it or have it on their screen. */
  viewers: string[];
}

/** The lifecycle of a session (seed 002). */
export type SessionStatus =
  /** It exists but was never prompted; no process runs. */
  | "created"
  /** It has been prompted; its process may be running. */
  | "active"
  /** Its process is being stopped. */
  | "ending"
  /** Its process and resources are gone. The next prompt resumes it. */
  | "closed";

/** Parameters of `session/stop`. */
export interface SessionStopParams {
  /** Id of the session, from `session/start` or `session/list`. */
  session_id: string;
  /** What to stop; `session` if absent. */
  what?: StopWhat;
  /** Id of a queued prompt, from `session/send`: it is removed from the queue, and nothing is stopped. */
  prompt_id?: string;
  /** Why, for the record; `stopped by a client` if absent. */
  reason?: string;
  /** Id of the runtime that the session must have; any if absent. */
  agent_type?: string;
}

/** The task or session is stopped. */
export interface SessionStopResult {
  /** Always true, also if no task was running. */
  success: boolean;
  /** The result for people. */
  message: string;
  /** Id of the session's runtime. */
  agent_type: string;
  /** How the task ended; absent if none was running. */
  outcome?: TaskOutcome;
}

/** A session's task was stopped. */
export interface SessionStopped {
  /** Id of the client that stopped it; absent if no client did. */
  stopped_by?: string;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** `session.updated`: what changed about a session. An absent field is unchanged. */
export interface SessionUpdatedPayload {
  /** The new status. */
  status?: SessionStatus;
  /** The new title. */
  title?: string;
  /** The new model, from the next task on. */
  model?: string;
  /** The new mode, from the next task on. */
  mode?: Mode;
  /** The runtime's own settings after a change, without their secrets, from the next task on. */
  runtime_config?: Record<string, unknown>;
  /** The hash of the settings with their secrets; there if `runtime_config` is. */
  runtime_config_hash?: string;
  /** The runtime's own id for the session, once it is known. */
  runtime_session_id?: RuntimeSessionId;
  /** The complete queue of waiting prompts after the change. */
  queue?: QueuedPrompt[];
  /** True if it was removed from lists with `session/delete`, false if it is listed again. */
  hidden?: boolean;
  /** The reason for the change, if there is one to tell. */
  reason?: string;
}

/** What a session has used up, as far as its runtime reports it. */
export interface SessionUsage {
  /** Tool calls that its agent made, those that were denied included. */
  tool_calls?: number;
  /** Reports of usage, which a runtime makes for each model call or for each task. */
  model_calls?: number;
  /** Tokens that models read, those from a cache included. */
  input_tokens?: number;
  /** Tokens that models wrote. */
  output_tokens?: number;
  /** What models cost, in US dollars. */
  cost_usd?: number;
}

/** This client now watches a session. */
export interface SessionWatchStarted {
  /** Id of the session. */
  session_id: string;
  /** Always true; `session_watch_stopped` has false. */
  watching: boolean;
  /** When it was sent. */
  timestamp: Timestamp;
}

/** This client no longer watches a session. */
export interface SessionWatchStopped {
  /** Id of the session. */
  session_id: string;
  /** Always false; `session_watch_started` has true. */
  watching: boolean;
  /** When it was sent. */
  timestamp: Timestamp;
  /** Why it stopped; `client_request` after `session/unwatch`. */
  reason?: string;
}

/** A command that a prompt to a runtime may begin with. It stands for a longer text, or for something that the runtime does. */
export interface SlashCommand {
  /** What is typed, with its first character: `/review`, or `$name` for a skill of Codex's. */
  name: string;
  /** What it is for, in the words of its file; absent if the file has none. */
  description?: string;
  /** Where it comes from. */
  origin: CommandOrigin;
}

/** The direction in which files are sorted. */
export type SortOrder =
  /** Smallest, oldest or first in the alphabet first. */
  | "asc"
  /** Largest, newest or last in the alphabet first. */
  | "desc";

/** Who a message comes from. As in Claude's own records, a tool's result comes from the user. */
export type Speaker =
  /** The person, or a tool that returns its result to the agent. */
  | "user"
  /** The agent; also for the message that a failed task ends with. */
  | "assistant"
  /** Instructions that stand before the conversation. */
  | "system";

/** Which session `session/start` uses if no `session_id` is given. */
export type StartMode =
  /** The workspace's current session, else one that is running, else the latest; a new one if there is none. */
  | "attach"
  /** A new one. */
  | "new";

/** The state of the daemon and its default agent. It has every field that some client reads, hence the repetitions. */
export interface StatusResult {
  /** The running or latest session of the default workspace; empty if there is none. */
  session_id: string;
  /** Id of this run of the daemon; changes with every start. */
  agent_session_id: string;
  /** State of that session: `idle`, `running`, or `waiting` for an answer. */
  claude_state: string;
  /** The same as `claude_state`. */
  agent_state: string;
  /** Id of the runtime that is used if a call names none. */
  agent_type: string;
  /** Version of Roost. */
  version: string;
  /** The same as `version`. */
  agent_version: string;
  /** Clients that are connected now. */
  connected_clients: number;
  /** The default workspace's folder, absolute; empty if there is no workspace. */
  repo_path: string;
  /** Name of the default workspace; empty if there is none. */
  repo_name: string;
  /** Seconds since the daemon started. */
  uptime_seconds: number;
  /** Whether file changes are reported; always true. */
  watcher_enabled: boolean;
  /** Whether git can be used; always true. */
  git_enabled: boolean;
  /** Whether the default workspace is a git repository. */
  is_git_repo: boolean;
  /** Number of tasks that are running, in all sessions. */
  running_tasks: number;
  /** Number of approvals and questions that wait for an answer, in all sessions. */
  pending: number;
  /** This run of the daemon. */
  runtime: RuntimeProcess;
  /** The gateway's endpoint. */
  gateway: GatewayEndpoint;
  /** The gateway's own tools. */
  systemTools: SystemTools;
  /** The services in numbers. */
  summary: ServiceCounts;
  /** The runs of agents in numbers, those of hosted sessions included. */
  agents: RunCounts;
  /** The services in short. */
  services: ServiceSummary[];
  /** When this was put together. */
  lastUpdated: Timestamp;
}

/** What was done, in one word. */
export interface StatusWord {
  /** `stopped` after a stop, `sent` after input, `responded` after an answer. */
  status: string;
  /** Id of the session's runtime. */
  agent_type?: string;
}

/** What `session/stop` stops. */
export type StopWhat =
  /** The running task, then the process. The next prompt resumes the session. */
  | "session"
  /** Only the running task; the process stays ready. */
  | "task";

/** A secret that is kept in a file. */
export interface StoredSecret {
  /** The reference that a manifest may use. */
  authRef: string;
  /** Its path within the folder of secrets. */
  relativePath: string;
}

/** Everything of a turn has been sent. Its names come from clients that read a file. */
export interface StreamReadComplete {
  /** Always 1, whatever the number of messages. */
  messages_emitted: number;
  /** `seq` of the turn's last event. */
  file_offset: number;
  /** The same as `file_offset`. */
  file_size: number;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** This client gets the events of every workspace. */
export interface SubscribeAllResult {
  /** Always true; a failure is an error. */
  success: boolean;
  /** Always false, because no workspace is left out. */
  is_filtering: boolean;
}

/** Parameters of `events/subscribe`. A second subscription of the same format replaces the first. */
export interface SubscribeParams {
  /** The form of the events; `cdev` if absent. */
  format?: EventFormat;
  /** The cursor after which to resume, or `beginning` for the oldest event that is still stored. If absent, only new events are sent. */
  after?: string;
  /** Resume after the cursor that `events/ack` stored under this name, 1 to 100 characters. `after` wins; without a stored cursor only new events are sent. */
  name?: string;
  /** Only events with these names; all if absent or empty, except `agent_message_delta`, which must be named. */
  types?: string[];
  /** Only events of these sessions; all if absent or empty. */
  sessions?: string[];
  /** Only events of these workspaces; all if absent or empty. */
  workspaces?: string[];
  /** Whether events named `claude_…` are called `agent_…`; false if absent. Only for the format `cdev`. */
  neutral_names?: boolean;
}

/** The workspaces whose events this client gets, after a change. */
export interface SubscribeResult {
  /** Always true; a failure is an error. */
  success: boolean;
  /** The workspace from the parameters. */
  workspace_id: string;
  /** Ids of all workspaces that it subscribed to; empty means all workspaces. */
  subscribed: string[];
}

/** The workspaces whose events this client gets. */
export interface SubscriptionsResult {
  /** Ids of the workspaces that it subscribed to; empty means all workspaces. */
  workspaces: string[];
  /** Whether events of other workspaces are left out. */
  is_filtering: boolean;
  /** Number of those ids. */
  count: number;
}

/** The call succeeded, and there is nothing more to return. */
export interface Success {
  /** Always true; a failure is an error. */
  success: boolean;
}

/** A tool of the gateway itself. */
export interface SystemTool {
  /** The name that clients call. */
  name: string;
  /** What it does. */
  description: string;
}

/** The gateway's own tools of one namespace. */
export interface SystemToolGroup {
  /** How many there are. */
  count: number;
  /** Each of them. */
  items: SystemTool[];
}

/** The gateway's own tools, all together and by namespace. */
export interface SystemTools {
  /** How many there are. */
  count: number;
  /** All of them, under the names that clients call. */
  items: SystemTool[];
  /** Those named `runtime__*`. */
  runtime: SystemToolGroup;
  /** Those named `clarity__*`. */
  clarity: SystemToolGroup;
}

/** `task.completed`: the agent finished its turn. */
export interface TaskCompletedPayload {
  /** Why it ended, in the runtime's word (`end_turn`, `max_tokens`, …). */
  reason: string;
}

/** Why a task failed, for programs to act on and for people to read. */
export interface TaskError {
  /** The kind of failure, for programs. */
  code: FailureCode;
  /** What happened, to what, and what to do about it; for people. */
  message: string;
  /** Whether the same prompt may succeed if it is sent again. */
  retryable: boolean;
  /** The runtime that failed; absent if none was involved. */
  runtime?: RuntimeName;
  /** The last lines that the runtime wrote to stderr; absent if there were none. */
  stderr_tail?: string;
  /** The runtime's own error object, unchanged; absent if it sent none. */
  raw?: unknown;
}

/** `task.failed`: the task ended with an error. */
export interface TaskFailedPayload {
  /** What happened, in one sentence for people. */
  reason: string;
  /** What happened, for programs. */
  error: TaskError;
}

/** A task failed. */
export interface TaskFault {
  /** The kind of failure: a `FailureCode`, such as `RUNTIME_EXITED`. */
  code: string;
  /** What happened, for people. */
  message: string;
  /** `retryable`, and where there is one, `stderr_tail`: see `TaskError`. */
  details: Record<string, unknown>;
  /** Id of the request to the runtime; absent if it belongs to none. */
  request_id?: string;
  /** Id of the session. */
  session_id: string;
  /** Id of its runtime. */
  agent_type: string;
  /** When it happened. */
  timestamp: Timestamp;
  /** Its workspace; absent if its folder belongs to none. */
  workspace_id?: string;
  /** The cursor after this event, to resume with `after`; absent for events that are not stored. */
  cursor?: string;
}

/** One prompt and everything the runtime did about it: `task_` and 32 hex digits. */
export type TaskId = string;

/** How a task ended. */
export type TaskOutcome =
  /** The agent finished its turn. */
  | "completed"
  /** It ended with an error; the `task.failed` event has the reason. */
  | "failed"
  /** A client or the end of the session stopped it. */
  | "stopped";

/** `task.started`: the new messages only, never the compiled history. */
export interface TaskStartedPayload {
  /** The prompt's messages; the history is in earlier events. */
  messages: TranscriptMessage[];
  /** The mode in the seed's three words. */
  permission_mode: PermissionMode;
  /** The mode in Roost's five words; counts where the two differ. */
  mode: Mode;
  /** Whether approvals and questions may wait for a person, or are denied at once. */
  interaction_mode: InteractionMode;
  /** The queued prompt that became this task; absent if it did not wait. */
  prompt_id?: PromptId;
}

/** `task.steered`: the user said something to a task that runs, and its runtime took it. */
export interface TaskSteeredPayload {
  /** What the user said. */
  message: TranscriptMessage;
}

/** `task.stopped`: somebody stopped the task before its end. */
export interface TaskStoppedPayload {
  /** The reason given with the stop, for people. */
  reason: string;
  /** The client that stopped it; absent if the host or the runtime did. */
  stopped_by?: Answerer;
}

/** What a terminal with the agent would show. */
export type TerminalState =
  /** The agent is working. */
  | "thinking"
  /** An approval waits for an answer. */
  | "permission"
  /** A question waits for an answer. */
  | "question"
  /** The agent waits for a prompt. */
  | "idle"
  /** The last task failed. */
  | "error";

/** How much the model of a session thinks before it answers. */
export interface ThoughtLevel {
  /** The name of the runtime's own setting for it, as in `runtime_config`. */
  setting: string;
  /** The level of the session; absent means the runtime's default. */
  current?: string;
  /** The levels that can be chosen. */
  levels: string[];
}

export type Timestamp = string;

/** `tool.call.approved`: the call may run, by policy or because a person allowed it. */
export interface ToolCallApprovedPayload {
  /** Roost's id for the call, the same over all attempts. */
  tool_call_id: ToolCallId;
  /** The runtime's own id for the call; absent if it has none. */
  runtime_tool_call_id?: string;
  /** Counts attempts at the same call from 1: a replay or retry has the next number. */
  attempt: number;
  /** `sha256:<hex>` of the canonical JSON of the input, even where the event shows it shortened. */
  input_hash: string;
}

/** `tool.call.completed`: the tool ended, with success or not. */
export interface ToolCallCompletedPayload {
  /** Roost's id for the call, the same over all attempts. */
  tool_call_id: ToolCallId;
  /** The runtime's own id for the call; absent if it has none. */
  runtime_tool_call_id?: string;
  /** Counts attempts at the same call from 1: a replay or retry has the next number. */
  attempt: number;
  /** `sha256:<hex>` of the canonical JSON of the input, even where the event shows it shortened. */
  input_hash: string;
  /** The tool as the runtime names it. */
  name: string;
  /** Whether Roost or the runtime ran it. */
  executed_by: ToolExecutedBy;
  /** The environment it ran in. */
  execution_env: ToolExecutionEnv;
  /** The mode, rules and answers that allowed it. */
  policy_snapshot: ToolPolicySnapshot;
  /** The limits of its sandbox; absent if it had none or the runtime does not say. */
  sandbox?: ToolSandboxSummary;
  /** The complete result; absent if `result_preview` is complete. */
  result_ref?: ArtifactRef;
  /** The result, or if that is above 8 KiB, its first 512 characters. */
  result_preview?: unknown;
  /** True if the tool failed; absent if the runtime does not say. */
  is_error?: boolean;
}

/** `tool.call.denied`: the call will not run. */
export interface ToolCallDeniedPayload {
  /** Roost's id for the call, the same over all attempts. */
  tool_call_id: ToolCallId;
  /** The runtime's own id for the call; absent if it has none. */
  runtime_tool_call_id?: string;
  /** Counts attempts at the same call from 1: a replay or retry has the next number. */
  attempt: number;
  /** `sha256:<hex>` of the canonical JSON of the input, even where the event shows it shortened. */
  input_hash: string;
  /** The tool as the runtime names it. */
  name: string;
  /** The reason that the runtime was given. */
  reason: string;
  /** The mode, rules and answers that led to the decision. */
  policy_snapshot: ToolPolicySnapshot;
}

/** A tool call to draw. */
export interface ToolCallElement {
  /** The tool as the runtime names it. */
  tool: string;
  /** Roost's id of the call. */
  tool_id: string;
  /** One line that says what the call does, such as `Bash(ls)`. */
  display: string;
  /** Its arguments as text; a value that is not a string is JSON. */
  params: Record<string, string>;
  /** How far it is. */
  status: CallStatus;
  /** Time from request to result in milliseconds, including the wait for approval; absent while it runs. */
  duration_ms?: number;
}

/** A tool call in Roost, the same over all attempts: `tc_` and 32 hex digits. */
export type ToolCallId = string;

/** `tool.call.policy_evaluated`: the result of one layer of the policy. */
export interface ToolCallPolicyEvaluatedPayload {
  /** Roost's id for the call, the same over all attempts. */
  tool_call_id: ToolCallId;
  /** The runtime's own id for the call; absent if it has none. */
  runtime_tool_call_id?: string;
  /** Counts attempts at the same call from 1: a replay or retry has the next number. */
  attempt: number;
  /** `sha256:<hex>` of the canonical JSON of the input, even where the event shows it shortened. */
  input_hash: string;
  /** The layer that judged. */
  source: PolicySource;
  /** What it decided; a later layer may be stricter. */
  result: PolicyResult;
  /** Name of the rule that matched; absent if none has a name. */
  rule?: string;
}

/** `tool.call.requested`: the agent wants to run a tool. Nothing runs yet. */
export interface ToolCallRequestedPayload {
  /** Roost's id for the call, the same over all attempts. */
  tool_call_id: ToolCallId;
  /** The runtime's own id for the call; absent if it has none. */
  runtime_tool_call_id?: string;
  /** Counts attempts at the same call from 1: a replay or retry has the next number. */
  attempt: number;
  /** `sha256:<hex>` of the canonical JSON of the input, even where the event shows it shortened. */
  input_hash: string;
  /** The tool as the runtime names it. */
  name: string;
  /** The tool's arguments. Above 8 KiB they are shortened here, and `input_ref` has them in full. */
  input: unknown;
  /** The complete arguments; absent if `input` is complete. */
  input_ref?: ArtifactRef;
  /** The agent's own description of the call, not verified. */
  title?: string;
  /** What the runtime says the tool does; absent if it does not say. */
  kind?: ToolKind;
}

/** `tool.call.started`: the tool is running. */
export interface ToolCallStartedPayload {
  /** Roost's id for the call, the same over all attempts. */
  tool_call_id: ToolCallId;
  /** The runtime's own id for the call; absent if it has none. */
  runtime_tool_call_id?: string;
  /** Counts attempts at the same call from 1: a replay or retry has the next number. */
  attempt: number;
  /** `sha256:<hex>` of the canonical JSON of the input, even where the event shows it shortened. */
  input_hash: string;
}

/** How much harm a tool call can do, the least first. A call that does several things has the worst class of them. */
export type ToolClass =
  /** Only reads, so no mode asks about it. */
  | "read-only"
  /** Changes files, or runs a program of which nothing worse is known. */
  | "write"
  /** Sends something to, or fetches something from, another machine. */
  | "network"
  /** Cannot be undone, reaches beyond the workspace, or is not known. */
  | "dangerous";

/** Who ran a tool. `codesdk` is the seed's word for the host. */
export type ToolExecutedBy =
  /** Roost, on the host. */
  | "codesdk"
  /** The runtime itself. */
  | "runtime";

/** Where a tool ran. `codesdk` is the seed's word for the host. */
export type ToolExecutionEnv =
  /** In a container that the host started. */
  | "codesdk_docker"
  /** On the host, started by Roost. */
  | "codesdk_host"
  /** Inside the runtime or as its child. */
  | "runtime_internal"
  /** The runtime does not say. */
  | "unknown";

/** Who runs the tools that an agent calls. */
export type ToolExecutionModel =
  /** MCP servers outside the runtime. */
  | "external_mcp"
  /** The runtime itself. */
  | "runtime_internal"
  /** The runtime runs its own tools and calls those of MCP servers. */
  | "hybrid";

/** What a tool does, according to its runtime. The policy does not rely on it. */
export type ToolKind =
  /** Reads files or other data. */
  | "read"
  /** Creates or changes a file. */
  | "edit"
  /** Deletes a file. */
  | "delete"
  /** Moves or renames a file. */
  | "move"
  /** Searches files or the web. */
  | "search"
  /** Runs a command or code. */
  | "execute"
  /** Only reasons; it touches nothing. */
  | "think"
  /** Fetches from the network. */
  | "fetch"
  /** Changes the session's mode, for example leaves plan mode. */
  | "switch_mode"
  /** Anything else, or unknown. */
  | "other";

/** `tool.output.completed`: the complete output of a tool; the deltas before it are then obsolete. */
export interface ToolOutputCompletedPayload {
  /** Roost's id for the call, the same over all attempts. */
  tool_call_id: ToolCallId;
  /** The runtime's own id for the call; absent if it has none. */
  runtime_tool_call_id?: string;
  /** Counts attempts at the same call from 1: a replay or retry has the next number. */
  attempt: number;
  /** `sha256:<hex>` of the canonical JSON of the input, even where the event shows it shortened. */
  input_hash: string;
  /** Everything on standard output; absent if the runtime does not report it. */
  stdout?: string;
  /** Everything on standard error; absent if the runtime does not report it apart. */
  stderr?: string;
}

/** `tool.output.delta`: output of a tool while it runs. */
export interface ToolOutputDeltaPayload {
  /** Roost's id for the call, the same over all attempts. */
  tool_call_id: ToolCallId;
  /** The runtime's own id for the call; absent if it has none. */
  runtime_tool_call_id?: string;
  /** Counts attempts at the same call from 1: a replay or retry has the next number. */
  attempt: number;
  /** `sha256:<hex>` of the canonical JSON of the input, even where the event shows it shortened. */
  input_hash: string;
  /** The stream that it was written to. */
  stream: OutputStream;
  /** The text to append. */
  delta: string;
}

/** What one layer of the policy decided about a tool call. */
export interface ToolPolicyEvaluation {
  /** The layer that decided. */
  source: PolicySource;
  /** What it decided. */
  result: PolicyResult;
  /** Name of the rule that matched; absent if none has a name. */
  rule?: string;
}

/** The policy as it stood when a tool call was decided. */
export interface ToolPolicySnapshot {
  /** The session's mode in the seed's three words. */
  permission_mode?: PermissionMode;
  /** The session's mode in Roost's five words. */
  mode?: Mode;
  /** The final decision. */
  decision: PolicyDecision;
  /** The decision of every layer, in the order in which they were asked. */
  sources: ToolPolicyEvaluation[];
}

/** Whether a tool call may be repeated after a resume. */
export type ToolReplaySafety =
  /** Running it again is harmless. */
  | "safe_replay"
  /** It must be approved again. */
  | "requires_reapproval"
  /** The runtime does not say. */
  | "unknown";

/** The result of a tool call to draw. */
export interface ToolResultElement {
  /** The `tool_id` of the call. */
  tool_call_id: string;
  /** The tool as the runtime names it. */
  tool_name: string;
  /** True if the tool failed or the call was denied. */
  is_error: boolean;
  /** `DENIED` if the call was denied; absent otherwise. */
  error_code?: string;
  /** The result's first line, cut to 80 characters. */
  summary: string;
  /** The result as text, cut at 64 KiB. */
  full_content: string;
  /** Number of lines in `full_content`. */
  line_count: number;
  /** Whether `full_content` has more than `summary`. */
  expandable: boolean;
  /** Whether the result has more than `full_content`. */
  truncated: boolean;
}

/** The limits of the sandbox that a tool ran in. A field is absent if it is unknown. */
export interface ToolSandboxSummary {
  /** Whether it could use the network. */
  network?: boolean;
  /** Time limit in milliseconds. */
  timeout_ms?: number;
  /** Paths of the disk that it could see. */
  mounts?: string[];
}

/** What a call does or reaches, as far as two calls are compared. */
export type Touches =
  /** A program with exactly these arguments. If the last word is `*`, any further arguments match. Variables that are set for the program come first, as `NAME=value`. */
  | { command: string[] }
  /** Each of these commands, alone or in one line. */
  | { commands: string[][] }
  /** Files that match this glob, relative to the workspace's root. */
  | { file: string }
  /** A host name, or `*.domain` for every host below that domain. */
  | { host: string }
  /** Only an input with this hash (`sha256:<hex>` of its canonical JSON). */
  | { exact: string };

/** What an event belongs to: its session and, where there is one, the task and request that caused it. */
export interface Trace {
  /** The session whose stream holds the event; `host` for events of the daemon itself. */
  session_id: SessionId;
  /** The task during which it happened; absent for events between tasks. */
  task_id?: TaskId;
  /** The request to the runtime that it answers or belongs to; absent for all other events. */
  request_id?: RequestId;
  /** The client that caused it; absent if no client did. */
  client_id?: ClientId;
  /** The person behind that client; absent if unknown. */
  user_id?: UserId;
}

/** One block of a transcript message: those that an agent's answer has, and those of prompts and tool calls. */
export type TranscriptContentBlock =
  /** Text as the person or the agent wrote it. */
  | { type: "text"; text: string }
  /** Source code that the runtime marks as such instead of fencing it in text. */
  | { type: "code"; code: string; language?: string }
  /** Something too big or too binary to show inline. */
  | { type: "artifact_ref"; artifact_id: ArtifactId; name?: string; content_type?: string }
  /** An image in a prompt; its bytes are an artifact. */
  | { type: "image"; artifact_id: ArtifactId; media_type: string; name?: string }
  /** A file that the prompt refers to; the agent reads it itself. */
  | { type: "file_ref"; path: string }
  /** The agent calls a tool; the result follows in a `tool_result` block with the same `tool_call_id`. */
  | { type: "tool_use"; tool_call_id: ToolCallId; name: string; input: unknown }
  /** The result of a tool call. */
  | { type: "tool_result"; tool_call_id: ToolCallId; result: unknown; is_error?: boolean };

/** One message of a transcript: a role and its content in order. */
export interface TranscriptMessage {
  /** Who the message comes from. */
  role: TranscriptRole;
  /** The blocks in the order in which they were said. */
  content: TranscriptContentBlock[];
}

/** Who a transcript message comes from. */
export type TranscriptRole =
  /** Instructions that stand before the conversation. */
  | "system"
  /** The person, or the client that prompts for them. */
  | "user"
  /** The agent: its text and the tool calls that it makes. */
  | "assistant"
  /** The result of a tool call. */
  | "tool";

/** A folder or file in a tree. */
export interface TreeNode {
  /** Path, relative to the workspace's folder. */
  path: string;
  /** Name without the path. */
  name: string;
  /** Whether it is a file or a folder. */
  type: EntryType;
  /** The entries of a folder; absent for a file, and for a folder below `depth`. */
  children?: TreeNode[];
  /** Size of a file in bytes; absent for a folder. */
  size_bytes?: number;
  /** What follows the last dot of a file's name; absent if there is none. */
  extension?: string;
  /** Files in a folder and its subfolders; absent for a file. */
  file_count?: number;
  /** Size of those files together, in bytes; absent for a file. */
  total_size_bytes?: number;
}

/** Parameters of `repository/files/tree`. */
export interface TreeParams {
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Path of the top folder, relative to the workspace's folder; the workspace's folder itself if absent. */
  path?: string;
  /** Levels of folders to open: at most 10, default 2. */
  depth?: number;
  /** Whether to include names that begin with a dot; false if absent. */
  include_hidden?: boolean;
}

/** A tree of folders. Its top is there twice: its fields at this level, and again as `root`. */
export interface TreeResult {
  /** Path, relative to the workspace's folder. */
  path: string;
  /** Name without the path. */
  name: string;
  /** Whether it is a file or a folder. */
  type: EntryType;
  /** The entries of a folder; absent for a file, and for a folder below `depth`. */
  children?: TreeNode[];
  /** Size of a file in bytes; absent for a folder. */
  size_bytes?: number;
  /** What follows the last dot of a file's name; absent if there is none. */
  extension?: string;
  /** Files in a folder and its subfolders; absent for a file. */
  file_count?: number;
  /** Size of those files together, in bytes; absent for a file. */
  total_size_bytes?: number;
  /** The top folder again, for clients that read it here. */
  root: TreeNode;
  /** Number of nodes in the tree. */
  total_nodes: number;
  /** Whether the tree is as deep as `depth` allows, so that there may be more below it. */
  max_depth_reached: boolean;
  /** Whether nodes are missing because there are more than 2500 or they would exceed 768 KiB. */
  truncated: boolean;
}

/** What started a run. */
export type Trigger =
  /** A schedule of its service came due. */
  | "timer"
  /** Something happened elsewhere. */
  | "event"
  /** A client asked for it. */
  | "api"
  /** Another agent handed over to it. */
  | "a2a"
  /** No event has told yet. */
  | "unknown";

/** Retention removed events of a session before they could be sent. Those from `resume_at` on follow. */
export interface Truncated {
  /** Id of the session. */
  session_id: string;
  /** `seq` of the first event that is still stored. */
  resume_at: number;
  /** When it was sent. */
  timestamp: Timestamp;
}

/** Parameters of `events/unsubscribe`. */
export interface UnsubscribeParams {
  /** The format whose subscription ends; both if absent. */
  format?: EventFormat;
}

/** Parameters of `session/unwatch`. Without a `session_id`, one watched session that matches the others ends. */
export interface UnwatchParams {
  /** Id of the session, from `session/start` or `session/list`. */
  session_id?: string;
  /** Only a session of this workspace; any if absent. */
  workspace_id?: string;
  /** Only a session of this runtime; any if absent. */
  agent_type?: string;
}

/** `usage.reported`: token usage in one shape for every runtime. A field is absent if the runtime does not report it. */
export interface UsageReportedPayload {
  /** Input tokens, including those read from a cache. */
  input_tokens?: number;
  /** Those input tokens that were read from a cache. */
  cached_input_tokens?: number;
  /** Output tokens, including reasoning. */
  output_tokens?: number;
  /** Those output tokens that were reasoning. */
  reasoning_tokens?: number;
  /** Cost in US dollars, as reported by the runtime. */
  cost_usd?: number;
  /** How much of the context window is in use now. */
  context?: ContextFill;
}

/** The person or device behind a client. */
export type UserId = string;

/** A device that waits for somebody to let it in. */
export interface WaitingDevice {
  /** Id of its request, for `device/approve`. */
  request_id: string;
  /** The address that it connects from; empty if unknown. */
  remote_addr: string;
  /** What it calls itself in HTTP; empty if it says nothing. */
  user_agent: string;
  /** The name that it gave itself; absent if it gave none. */
  name?: string;
  /** When it first asked. */
  created_at: Timestamp;
  /** When its request lapses. */
  expires_at: Timestamp;
}

/** The devices that wait; none unless `security.require_pairing_approval` is set. */
export interface WaitingDevicesResult {
  /** The devices, by id of their requests. */
  pending: WaitingDevice[];
  /** Number of devices. */
  count: number;
}

/** One choice of a question. */
export interface WaitingOption {
  /** The text to show, and to send back. */
  label: string;
  /** An explanation to show beside the label; absent if the agent gave none. */
  description?: string;
}

/** What a wasm module may do outside of its own memory; nothing unless named.  A manifest says with it what a module wants, the server's policy what any module may have. */
export interface WasmCapabilities {
  /** The models that it may call; `*` at the end of a name stands for any rest. */
  models?: string[];
  /** The hosts that it may reach over HTTP; `*.` at the beginning stands for any host of a domain, `*` for all. */
  httpHosts?: string[];
  /** The folders whose files it may use. */
  folders?: FolderGrant[];
  /** The names of the secrets that it may read; `*` at the end of a name stands for any rest. */
  secrets?: string[];
  /** The tools of the gateway that it may list and call; `*` at the end of a name stands for any rest. */
  tools?: string[];
  /** Whether it may ask a person. */
  ask?: boolean;
  /** Whether it may read the clock and sleep. */
  clock?: boolean;
  /** Whether it gets random numbers. */
  random?: boolean;
}

/** What a call of a wasm module may take; a limit that is not given has the host's default. */
export interface WasmLimits {
  /** How many wasm instructions it may run, roughly. */
  fuel?: number;
  /** How long it may run, in milliseconds; waiting for a person or a model does not count. */
  timeoutMs?: number;
  /** How large its memory may become. */
  memoryBytes?: number;
  /** How many elements each of its tables may have. */
  tableElements?: number;
  /** The size of a result. */
  outputBytes?: number;
  /** How many calls of the service may be under way at once. */
  maxConcurrency?: number;
}

/** A workspace cannot be watched, or only in part: changes are reported late or not at all. */
export interface WatchFailed {
  /** Id of the workspace. */
  workspace_id: string;
  /** Why it cannot be watched and what to do, for people. */
  message: string;
  /** When it was sent. */
  timestamp: Timestamp;
}

/** Parameters of `session/watch`. */
export interface WatchParams {
  /** Id of the session; the runtime's own id is understood, too. */
  session_id: string;
  /** The workspace that the session must belong to; any if absent. */
  workspace_id?: string;
  /** Id of the runtime that the session must have; any if absent. */
  agent_type?: string;
  /** A cursor: events after it are sent again first. If absent, only new events are sent. */
  after?: string;
}

/** Whether this client watches a session now. */
export interface WatchResult {
  /** `watching` or `unwatched`. */
  status: string;
  /** The same as a boolean. */
  watching: boolean;
  /** The session's workspace; absent if its folder belongs to none or, after `unwatch`, if none was watched. */
  workspace_id?: string;
  /** Id of the session; absent if none was watched. */
  session_id?: string;
  /** Events after this cursor are sent. Absent after `unwatch`, and if the client subscribed only to the format `normalized`. */
  cursor?: string;
}

/** A folder that agents may work in. */
export interface Workspace {
  /** Id of the workspace. */
  id: string;
  /** Name to show. */
  name: string;
  /** The folder, absolute. */
  path: string;
  /** Whether the folder exists now. */
  exists: boolean;
  /** Whether the daemon creates a session in it on start, if it has none. */
  auto_start: boolean;
  /** When it was added. */
  created_at: Timestamp;
  /** Its sessions in Roost's log, last changed first; at most 50, fewer in a long list of workspaces. */
  sessions: HistoryItem[];
  /** Number of all its sessions. */
  session_count: number;
  /** Number of sessions that have a process or a task. */
  active_session_count: number;
  /** Whether there is such a session. */
  has_active_session: boolean;
  /** The session that `workspace/session/activate` chose, else one that is running; empty if there is neither. */
  active_session_id: string;
  /** Id of that session's runtime; absent if there is none. */
  active_agent_type?: string;
  /** Whether its folder is a git repository. */
  is_git_repo: boolean;
  /** `no_git`, `git_init` (no commit yet), `no_remote`, `no_push` (no upstream), `synced`, `diverged` or `conflict`. */
  git_state: string;
  /** The state of its repository in numbers. Absent if it was not requested, or git did not answer within 5 seconds. */
  git?: WorkspaceGit;
}

/** Parameters of `workspace/add`. */
export interface WorkspaceAddParams {
  /** The folder, absolute. Outside `workspaces.roots` it needs the scope `admin`. */
  path: string;
  /** Name to show, at most 200 characters; the folder's name if absent. */
  name?: string;
  /** Whether the daemon creates a session in it on start, if it has none; false if absent. */
  auto_start?: boolean;
  /** Whether to create the folder if it does not exist; false if absent. */
  create_if_missing?: boolean;
}

/** `workspace.added`: clients may now work in this folder. */
export interface WorkspaceAddedPayload {
  /** Its new id. */
  workspace_id: WorkspaceId;
  /** Display name; the folder's name unless the client gave one. */
  name: string;
  /** The folder, absolute. */
  path: string;
}

/** Parameters of `workspace/cache/invalidate`. */
export interface WorkspaceCacheParams {
  /** A workspace, which must exist; it makes no difference, because one cache serves all. */
  workspace_id?: string;
}

/** Parameters of `workspace/discover/cancel`. Cancelling a search that has ended is no error. */
export interface WorkspaceDiscoverCancelParams {
  /** Id of the search, from `workspace_discover_progress`. */
  discover_id: string;
}

/** Parameters of `workspace/discover`. */
export interface WorkspaceDiscoverParams {
  /** Folders to search below, absolute; the configured ones if absent or empty. */
  paths?: string[];
  /** Whether to search again even if results of the last hour are known; false if absent. */
  fresh?: boolean;
}

/** Progress of `workspace/discover`: sent at once, then while it searches, and a last time at the end. */
export interface WorkspaceDiscoverProgress {
  /** Id of the search, for `workspace/discover/cancel`. */
  discover_id: string;
  /** The folders below which it searches, absolute. */
  paths: string[];
  /** Folders that were searched so far. */
  scanned_paths: number;
  /** Repositories that were found so far. */
  found_count: number;
  /** Time since it began, in milliseconds. */
  elapsed_ms: number;
  /** When it was sent. */
  timestamp: Timestamp;
}

/** The repositories that were found. */
export interface WorkspaceDiscoverResult {
  /** The repositories, by folder. */
  repositories: DiscoveredRepository[];
  /** Number of repositories. */
  count: number;
  /** Whether they come from an earlier search. */
  cached: boolean;
  /** Age of that search in seconds; 0 if `cached` is false. */
  cache_age_seconds: number;
  /** Whether a newer search is running in the background. */
  refresh_in_progress: boolean;
  /** Time that this search took in milliseconds; 0 if `cached` is true. */
  elapsed_ms: number;
  /** Number of folders that were searched. */
  scanned_paths: number;
  /** Number of folders that could not be searched, or not within the limits of depth and time. */
  skipped_paths: number;
  /** Whether the search was cancelled; the result then has what was found until then. */
  cancelled: boolean;
}

/** The state of a workspace's repository in numbers. */
export interface WorkspaceGit {
  /** Whether there is a repository. */
  initialized: boolean;
  /** Whether it has a remote. */
  has_remotes: boolean;
  /** The branch that is checked out; empty if the HEAD is detached. */
  branch: string;
  /** Commits that the upstream does not have. */
  ahead: number;
  /** Commits that only the upstream has. */
  behind: number;
  /** Number of changes in the index. */
  staged_count: number;
  /** Number of changes that are not in the index. */
  unstaged_count: number;
  /** Number of files that git does not track. */
  untracked_count: number;
  /** Whether files have merge conflicts. */
  has_conflicts: boolean;
  /** The same as `git_state` of the workspace. */
  state: string;
}

/** A folder that clients may work in: a plain UUID (v7). */
export type WorkspaceId = string;

/** Parameters of `workspace/list`. */
export interface WorkspaceListParams {
  /** Whether to read the state of git in each; true if absent. */
  include_git?: boolean;
  /** Most workspaces to read the state of git in; all if absent. */
  git_limit?: number;
}

/** The workspaces of this host. */
export interface WorkspaceListResult {
  /** All workspaces of this host. */
  workspaces: Workspace[];
}

/** Parameters of `workspace/session/messages`. */
export interface WorkspaceMessagesParams {
  /** The workspace that the session must belong to. */
  workspace_id: string;
  /** Id of the session; the runtime's own id is understood, too. */
  session_id: string;
  /** Id of the runtime that the session must have; any if absent. */
  agent_type?: string;
  /** Most messages to return: 1 to 500, default 50. */
  limit?: number;
  /** Messages to skip, counted in `order`; 0 if absent. */
  offset?: number;
  /** The order in which to count and return; `asc` if absent. */
  order?: Order;
}

/** Parameters that select a workspace. */
export interface WorkspaceParams {
  /** Id of the workspace, from `workspace/list`. */
  workspace_id: string;
}

/** A workspace was removed. Its folder and sessions stay. */
export interface WorkspaceRemoved {
  /** Id of the workspace. */
  id: string;
  /** The same as `id`. */
  workspace_id: string;
  /** The name that it had. */
  name: string;
  /** Its folder, absolute. */
  path: string;
  /** When it was removed. */
  timestamp: Timestamp;
  /** The cursor after this event; pass it as `after` to resume. */
  cursor?: string;
}

/** `workspace.removed`: clients no longer see this folder. Its files and sessions stay. */
export interface WorkspaceRemovedPayload {
  /** The id that it had. */
  workspace_id: WorkspaceId;
  /** The display name that it had. */
  name: string;
  /** The folder, absolute. */
  path: string;
}

/** Parameters that select a session of a workspace. */
export interface WorkspaceSessionParams {
  /** Id of the workspace, from `workspace/list`. */
  workspace_id: string;
  /** Id of the session, which must belong to the workspace. */
  session_id: string;
  /** Id of the runtime that the session must have; any if absent. */
  agent_type?: string;
}

/** The state of a workspace. */
export interface WorkspaceStatusResult {
  /** Id of the workspace. */
  workspace_id: string;
  /** Name to show. */
  workspace_name: string;
  /** The folder, absolute. */
  path: string;
  /** Whether the daemon creates a session in it on start, if it has none. */
  auto_start: boolean;
  /** When it was added. */
  created_at: Timestamp;
  /** Its sessions in Roost's log, last changed first; at most 50. */
  sessions: HistoryItem[];
  /** Number of sessions that have a process or a task. */
  active_session_count: number;
  /** Whether there is such a session. */
  has_active_session: boolean;
  /** Whether git works: `healthy`, `unhealthy` (git fails), `unavailable` (the folder is gone) or `not_git`. */
  git_tracker_state: string;
  /** Name of the workspace; empty if its folder is not a repository. */
  git_repo_name: string;
  /** Whether its folder is a git repository. */
  is_git_repo: boolean;
  /** Why git failed just now; empty if it did not. */
  git_last_error: string;
  /** Whether a client watches one of its sessions or has it on its screen. */
  is_being_watched: boolean;
  /** That session; empty if there is none. */
  watched_session_id: string;
}

/** Parameters of `workspace/update`. What is absent stays as it is. */
export interface WorkspaceUpdateParams {
  /** Id of the workspace, from `workspace/list`. */
  workspace_id: string;
  /** New name to show, at most 200 characters. */
  name?: string;
  /** Whether the daemon creates a session in it on start, if it has none. */
  auto_start?: boolean;
}

/** `workspace.updated`: what changed about a workspace; absent means unchanged. */
export interface WorkspaceUpdatedPayload {
  /** The workspace that changed. */
  workspace_id: WorkspaceId;
  /** The new display name. */
  name?: string;
  /** Whether the daemon creates a session in it on start, if it has none. */
  auto_start?: boolean;
}

/** Parameters of `workspace/session/watch`. */
export interface WorkspaceWatchParams {
  /** The workspace that the session must belong to. */
  workspace_id: string;
  /** Id of the session; the runtime's own id is understood, too. */
  session_id: string;
  /** Id of the runtime that the session must have; any if absent. */
  agent_type?: string;
  /** A cursor: events after it are sent again first. If absent, only new events are sent. */
  after?: string;
}

/** Parameters of `workspace/worktree/add`. */
export interface WorktreeAddParams {
  /** Name of its folder below `.roost/worktrees`: a single path component. */
  name: string;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** The branch to check out, created if it does not exist; `roost/` and the name if absent. */
  branch?: string;
  /** Where a new branch starts; at the commit that is checked out if absent. */
  base?: string;
}

/** The working copy exists. */
export interface WorktreeAddResult {
  /** Always true; a failure is an error. */
  success: boolean;
  /** The new working copy. */
  worktree: WorktreeInfo;
}

/** A working copy of the repository. */
export interface WorktreeInfo {
  /** Name for the other worktree methods; empty for one that Roost did not make. */
  name: string;
  /** Its folder, absolute. */
  path: string;
  /** The branch that is checked out; empty if the HEAD is detached. */
  branch: string;
  /** Full id of the commit that is checked out; empty before the first commit. */
  head: string;
  /** Full id of the commit that its branch started from; absent for one that Roost did not make. */
  base?: string;
  /** A session whose working directory it is; absent if there is none. */
  session_id?: string;
  /** Whether it is the workspace's own folder. */
  is_main: boolean;
  /** Whether git has locked it against removal. */
  is_locked: boolean;
  /** Whether its folder is gone, so that git would forget it. */
  is_prunable: boolean;
}

/** All working copies of a repository. */
export interface WorktreeListResult {
  /** The working copies, the workspace's own first. */
  worktrees: WorktreeInfo[];
  /** Number of working copies. */
  count: number;
}

/** Parameters of `workspace/worktree/merge`. */
export interface WorktreeMergeParams {
  /** Name of the working copy. */
  name: string;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** Message for a commit of its uncommitted changes. If absent, uncommitted changes are an error. */
  message?: string;
  /** A session of this workspace to name in a trailer of the new commits; no trailer if absent. */
  session_id?: string;
}

/** Parameters of the worktree methods that need a name. */
export interface WorktreeParams {
  /** Name of the working copy. */
  name: string;
  /** Id of the workspace. Default: the one that contains the daemon's start folder, else the first. */
  workspace_id?: string;
  /** To remove: even if it has uncommitted changes. To discard: even while a session works in it. False if absent. */
  force?: boolean;
}
