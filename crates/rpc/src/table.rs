//! The method table: one line per method, and what is derived from it.

use std::borrow::Cow;

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::*;

/// What the process of a hosted agent may do with a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentMay {
    /// It may not call it.
    Nothing,
    /// It may call it.
    Call,
    /// It may call it for its own session, which `session_id` must name.
    LookAtItself,
    /// It may call it; the handler takes what is about the run of the agent's own session and nothing else.
    ReportItself,
}

/// What a call may do, which decides about rate limits and cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cost {
    /// Changes nothing. It is cancelled when the client disconnects.
    Read,
    /// Changes something. Once accepted it is carried out, even if the client disconnects.
    Change,
    /// May start an agent; counts against the limit of running agents.
    Start,
}

/// Which earlier calls of the same client a call waits for. Calls of different clients never wait for each other here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOrder {
    /// For those about the same session, whichever of its names they use; for none where no session is named.
    Session,
    /// For those about the same workspace; calls that name none count as one workspace.
    Workspace,
    /// For none: it may overtake and be overtaken.
    Free,
}

/// A parameter that calls are ordered by, whether it is required or optional.
trait OrderKey {
    fn name(&self) -> Option<&str>;
}

impl OrderKey for String {
    fn name(&self) -> Option<&str> {
        Some(self)
    }
}

impl OrderKey for Option<String> {
    fn name(&self) -> Option<&str> {
        self.as_deref()
    }
}

/// The types of a method, for callers that know at compile time what they call.
pub trait Typed {
    /// The method as a value.
    const METHOD: Method;
    /// Its parameters, as in the table.
    type Params: Serialize + for<'de> Deserialize<'de> + Send;
    /// Its result, as in the table.
    type Result: Serialize + for<'de> Deserialize<'de> + Send;

    /// What [`Method::call_order`] goes by: the session or workspace that these parameters name.
    fn order_key(params: &Self::Params) -> Option<&str>;
}

/// Maps the alternative names of methods to those in the table; other names stay as they are.
fn alias(name: &str) -> Cow<'_, str> {
    let rest = |prefix: &str| name.strip_prefix(prefix);
    match (name, rest("workspace/git/"), rest("git/worktree/")) {
        ("git/get_status" | "workspace/git/get_status", ..) => "git/state".into(),
        ("git/branch/set-upstream" | "workspace/git/branch/set-upstream", ..) => "git/upstream/set".into(),
        (_, Some(rest), _) => format!("git/{rest}").into(),
        (_, _, Some(rest)) => format!("workspace/worktree/{rest}").into(),
        _ => name.into(),
    }
}

macro_rules! order_key {
    (Session, $params:ident) => {
        $params.session_id.name()
    };
    (Workspace, $params:ident) => {
        $params.workspace_id.name()
    };
    (Free, $params:ident) => {{
        let _: &Self::Params = $params;
        None
    }};
}

macro_rules! method_table {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal ($params:ty) -> $result:ty,
        $scope:ident, $cost:ident, $order:ident;)*) => {
        /// Every method of the protocol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Method { $($(#[doc = $doc])+ $variant),* }

        /// Every method as a type of its own, for [`Typed`].
        pub mod method {
            $($(#[doc = $doc])+ #[derive(Clone, Copy, Debug)] pub struct $variant;)*
        }

        $(impl Typed for method::$variant {
            const METHOD: Method = Method::$variant;
            type Params = $params;
            type Result = $result;

            fn order_key(params: &$params) -> Option<&str> {
                order_key!($order, params)
            }
        })*

        impl Method {
            /// Every method, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name on the wire, such as `session/send`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The method with this name or alternative name.
            pub fn from_name(name: &str) -> Option<Self> {
                match &*alias(name) { $($name => Some(Self::$variant),)* _ => None }
            }

            /// What it does, in one sentence; its doc comment in the table.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_ascii()),* }
            }

            /// The first part of its name, such as `session`; `lifecycle` for names without a slash.
            pub fn area(self) -> &'static str {
                self.name().split_once('/').map_or("lifecycle", |(area, _)| area)
            }

            /// Whether it works on a workspace's repository.
            pub fn is_git(self) -> bool {
                self.area() == "git" || self.name().starts_with("workspace/worktree/")
            }

            /// The scope that a client needs in order to call it.
            pub fn scope(self) -> Scope {
                match self { $(Self::$variant => Scope::$scope),* }
            }

            /// What the scope `agent` may do with it, which is below what every method needs: a method that is not
            /// named here is closed to agents.
            pub fn agent_may(self) -> AgentMay {
                match self {
                    Self::Initialize | Self::Initialized | Self::Shutdown => AgentMay::Call,
                    Self::SessionGet
                    | Self::SessionStateGet
                    | Self::SessionInfoGet
                    | Self::SessionMessages
                    | Self::SessionElements
                    | Self::PermissionRequest
                    | Self::LogRead => AgentMay::LookAtItself,
                    Self::RunReport => AgentMay::ReportItself,
                    _ => AgentMay::Nothing,
                }
            }

            /// What a call may do.
            pub fn cost(self) -> Cost {
                match self { $(Self::$variant => Cost::$cost),* }
            }

            /// Which earlier calls of the same client it waits for.
            pub fn call_order(self) -> CallOrder {
                match self { $(Self::$variant => CallOrder::$order),* }
            }

            /// Name of the type of its parameters.
            #[cfg(feature = "schema")]
            pub fn params_name(self) -> Cow<'static, str> {
                match self { $(Self::$variant => <$params>::schema_name()),* }
            }

            /// JSON Schema of its parameters.
            #[cfg(feature = "schema")]
            pub fn params_schema(self, generator: &mut SchemaGenerator) -> Schema {
                match self { $(Self::$variant => <$params>::json_schema(generator)),* }
            }

            /// JSON Schema of its result.
            #[cfg(feature = "schema")]
            pub fn result_schema(self, generator: &mut SchemaGenerator) -> Schema {
                match self { $(Self::$variant => generator.subschema_for::<$result>()),* }
            }

            /// The example after a round trip through the method's types.
            #[cfg(test)]
            pub(super) fn reread(self, example: &Example) -> serde_json::Result<Example> {
                match self { $(Self::$variant => example.reread::<method::$variant>()),* }
            }
        }
    };
}

method_table! {
    /// Says hello: versions, capabilities and the runtime registry. The first call of a connection.
    Initialize = "initialize" (InitializeParams) -> InitializeResult, Observe, Read, Free;
    /// Confirms that the client is ready.
    Initialized = "initialized" (NoParams) -> Empty, Observe, Read, Free;
    /// Says goodbye: watches and subscriptions of this connection end, then the connection. The daemon goes on.
    Shutdown = "shutdown" (NoParams) -> Success, Observe, Read, Free;
    /// How the daemon and its default agent are.
    StatusGet = "status/get" (NoParams) -> StatusResult, Observe, Read, Free;
    /// Whether the daemon is well.
    StatusHealth = "status/health" (NoParams) -> HealthResult, Observe, Read, Free;

    /// Starts an agent with a prompt; an error if the workspace's agent is busy.
    AgentRun = "agent/run" (AgentRunParams) -> AgentRunResult, Operate, Start, Session;
    /// Stops the agent's task.
    AgentStop = "agent/stop" (AgentParams) -> StatusWord, Operate, Change, Session;
    /// Answers what the agent asked.
    AgentRespond = "agent/respond" (AgentRespondParams) -> AgentRespondResult, Operate, Change, Session;
    /// How the agent is.
    AgentStatus = "agent/status" (AgentParams) -> AgentStatusResult, Observe, Read, Free;
    /// Lists the slash commands that a prompt may begin with: the user's, the project's and the runtime's.
    AgentCommands = "agent/commands" (AgentCommandsParams) -> AgentCommandsResult, Observe, Read, Free;
    /// Types something to the agent.
    AgentInput = "agent/input" (AgentInputParams) -> StatusWord, Operate, Change, Session;

    /// Attaches to a session, or makes one. Nothing runs until it is prompted.
    SessionStart = "session/start" (SessionStartParams) -> SessionStartResult, Operate, Start, Session;
    /// Makes a session that knows all that was said in another one, which stays as it is.
    SessionFork = "session/fork" (SessionForkParams) -> SessionStartResult, Operate, Start, Session;
    /// Sends a prompt; a busy session queues it.
    SessionSend = "session/send" (SessionSendParams) -> SessionSendResult, Operate, Start, Session;
    /// Stops a session or its task.
    SessionStop = "session/stop" (SessionStopParams) -> SessionStopResult, Operate, Change, Session;
    /// Types text or a key to a session.
    SessionInput = "session/input" (SessionInputParams) -> SessionInputResult, Operate, Change, Session;
    /// Answers what a session asked.
    SessionRespond = "session/respond" (SessionRespondParams) -> StatusWord, Operate, Change, Session;
    /// How a session is.
    SessionStateGet = "session/state" (SessionParams) -> SessionState, Observe, Read, Free;
    /// The sessions with a process or a task.
    SessionActive = "session/active" (ActiveParams) -> ActiveResult, Observe, Read, Free;
    /// How a session is; the name of older clients.
    SessionInfoGet = "session/info" (SessionParams) -> SessionState, Observe, Read, Free;
    /// Lists sessions, the latest first.
    SessionList = "session/list" (SessionListParams) -> SessionListResult, Observe, Read, Free;
    /// One session of the list.
    SessionGet = "session/get" (SessionParams) -> SessionInfo, Observe, Read, Free;
    /// Lists a workspace's sessions; the name of older clients.
    SessionHistory = "session/history" (HistoryParams) -> HistoryResult, Observe, Read, Free;
    /// Reads a session's messages, page by page.
    SessionMessages = "session/messages" (MessagesParams) -> MessagesResult, Observe, Read, Free;
    /// Reads a session as elements to draw, page by page.
    SessionElements = "session/elements" (ElementsParams) -> ElementsResult, Observe, Read, Free;
    /// Finds words in what was said in sessions, the latest session first; looks at a bounded part of the log in one call.
    SessionSearch = "session/search" (SessionSearchParams) -> SessionSearchResult, Observe, Read, Free;
    /// Watches a session: its messages come as events, and what waits is sent again.
    SessionWatch = "session/watch" (WatchParams) -> WatchResult, Observe, Read, Free;
    /// Watches a session no more.
    SessionUnwatch = "session/unwatch" (UnwatchParams) -> WatchResult, Observe, Read, Free;
    /// Takes sessions off the lists; what happened stays in the log until retention removes it.
    SessionDelete = "session/delete" (DeleteParams) -> DeleteResult, Operate, Change, Session;

    /// Lists a workspace's sessions, the latest first.
    WorkspaceSessionHistory = "workspace/session/history" (HistoryParams) -> HistoryResult, Observe, Read, Free;
    /// Reads the messages of a workspace's session.
    WorkspaceSessionMessages = "workspace/session/messages" (WorkspaceMessagesParams) -> MessagesResult, Observe, Read, Free;
    /// Watches a workspace's session.
    WorkspaceSessionWatch = "workspace/session/watch" (WorkspaceWatchParams) -> WatchResult, Observe, Read, Free;
    /// Watches a workspace's session no more.
    WorkspaceSessionUnwatch = "workspace/session/unwatch" (UnwatchParams) -> WatchResult, Observe, Read, Free;
    /// Makes a session the workspace's current one.
    WorkspaceSessionActivate = "workspace/session/activate" (WorkspaceSessionParams) -> ActivateResult,
        Operate, Change, Session;
    /// Takes a workspace's session off the lists.
    WorkspaceSessionDelete = "workspace/session/delete" (WorkspaceSessionParams) -> DeleteResult, Operate, Change, Session;
    /// Says which session this client looks at.
    ClientSessionFocus = "client/session/focus" (WorkspaceSessionParams) -> FocusResult, Observe, Read, Free;

    /// Offers to read and write files, or to run terminals, for the agent of a session.
    ClientOffer = "session/client/offer" (ClientOfferParams) -> Success, Operate, Change, Session;
    /// Waits for the next request of an agent to this client, which has made an offer.
    ClientNext = "session/client/next" (NoParams) -> ClientRequest, Operate, Read, Free;
    /// Answers a request of an agent.
    ClientAnswer = "session/client/answer" (ClientAnswerParams) -> Success, Operate, Change, Free;

    /// Lists the workspaces.
    WorkspaceList = "workspace/list" (WorkspaceListParams) -> WorkspaceListResult, Observe, Read, Free;
    /// Describes one workspace.
    WorkspaceGet = "workspace/get" (WorkspaceParams) -> Workspace, Observe, Read, Free;
    /// Adds a folder as a workspace.
    WorkspaceAdd = "workspace/add" (WorkspaceAddParams) -> Workspace, Operate, Change, Free;
    /// Removes a workspace; its folder and sessions stay.
    WorkspaceRemove = "workspace/remove" (WorkspaceParams) -> Done, Operate, Change, Free;
    /// Changes a workspace's name or whether it starts by itself.
    WorkspaceUpdate = "workspace/update" (WorkspaceUpdateParams) -> Workspace, Operate, Change, Free;
    /// How a workspace is.
    WorkspaceStatus = "workspace/status" (WorkspaceParams) -> WorkspaceStatusResult, Observe, Read, Free;
    /// Finds repositories on the machine that could become workspaces.
    WorkspaceDiscover = "workspace/discover" (WorkspaceDiscoverParams) -> WorkspaceDiscoverResult, Observe, Read, Free;
    /// Ends a search for repositories; it answers with what it found until then.
    WorkspaceDiscoverCancel = "workspace/discover/cancel" (WorkspaceDiscoverCancelParams) -> Success,
        Observe, Read, Free;
    /// Forgets which repositories were found.
    WorkspaceCacheInvalidate = "workspace/cache/invalidate" (WorkspaceCacheParams) -> Done, Operate, Change, Free;
    /// Follows a workspace's events; the first one makes others silent.
    WorkspaceSubscribe = "workspace/subscribe" (WorkspaceParams) -> SubscribeResult, Observe, Read, Free;
    /// Follows a workspace's events no more.
    WorkspaceUnsubscribe = "workspace/unsubscribe" (WorkspaceParams) -> SubscribeResult, Observe, Read, Free;
    /// The workspaces whose events this client follows.
    WorkspaceSubscriptions = "workspace/subscriptions" (NoParams) -> SubscriptionsResult, Observe, Read, Free;
    /// Follows the events of every workspace.
    WorkspaceSubscribeAll = "workspace/subscribeAll" (NoParams) -> SubscribeAllResult, Observe, Read, Free;

    /// Reads a file of a workspace, or a part of it.
    WorkspaceFileGet = "workspace/file/get" (FileGetParams) -> FileContent, Observe, Read, Free;
    /// Lists a folder of a workspace, page by page.
    WorkspaceFilesList = "workspace/files/list" (FilesListParams) -> FilesListResult, Observe, Read, Free;
    /// Reads a file; of the first workspace, unless one is named.
    FileGet = "file/get" (FileGetParams) -> FileContent, Observe, Read, Free;
    /// Lists a folder; of the first workspace, unless one is named.
    FileList = "file/list" (FileListParams) -> FileListResult, Observe, Read, Free;

    /// How a repository is, with every file that changed.
    GitStatus = "git/status" (GitParams) -> GitStatusResult, Observe, Read, Free;
    /// How a repository is, with its remotes; also called `git/get_status`.
    GitState = "git/state" (GitParams) -> GitStateResult, Observe, Read, Free;
    /// What changed in a file or in all of them, line by line.
    GitDiff = "git/diff" (GitDiffParams) -> GitDiffResult, Observe, Read, Free;
    /// Puts files into the next commit.
    GitStage = "git/stage" (GitPathsParams) -> GitStageResult, Operate, Change, Workspace;
    /// Takes files out of the next commit.
    GitUnstage = "git/unstage" (GitPathsParams) -> GitUnstageResult, Operate, Change, Workspace;
    /// Brings files back; deletes files that git does not know if they are named one by one.
    GitDiscard = "git/discard" (GitPathsParams) -> GitDiscardResult, Operate, Change, Workspace;
    /// Commits what is staged.
    GitCommit = "git/commit" (GitCommitParams) -> GitCommitResult, Operate, Change, Workspace;
    /// Pushes a branch.
    GitPush = "git/push" (GitPushParams) -> GitPushResult, Operate, Change, Workspace;
    /// Fetches the followed branch and merges it; conflicts are told with their files.
    GitPull = "git/pull" (GitPullParams) -> GitPullResult, Operate, Change, Workspace;
    /// Looks what a remote has.
    GitFetch = "git/fetch" (GitFetchParams) -> GitFetchResult, Operate, Change, Workspace;
    /// Ends whatever git does in a workspace now.
    GitCancel = "git/cancel" (GitParams) -> Done, Operate, Change, Free;
    /// Lists branches, here and as last seen elsewhere.
    GitBranches = "git/branches" (GitParams) -> GitBranchesResult, Observe, Read, Free;
    /// Goes to another branch.
    GitCheckout = "git/checkout" (GitCheckoutParams) -> GitCheckoutResult, Operate, Change, Workspace;
    /// Deletes a branch.
    GitBranchDelete = "git/branch/delete" (GitBranchDeleteParams) -> GitBranchDeleteResult, Operate, Change, Workspace;
    /// Makes a branch follow another.
    GitUpstreamSet = "git/upstream/set" (GitUpstreamParams) -> Done, Operate, Change, Workspace;
    /// Lists commits with their refs and the lines between them, page by page.
    GitLog = "git/log" (GitLogParams) -> GitLogResult, Observe, Read, Free;
    /// Puts changes aside.
    GitStash = "git/stash" (GitStashParams) -> GitStashResult, Operate, Change, Workspace;
    /// Lists what was put aside.
    GitStashList = "git/stash/list" (GitParams) -> GitStashListResult, Observe, Read, Free;
    /// Brings back what was put aside, and keeps it.
    GitStashApply = "git/stash/apply" (GitStashApplyParams) -> GitMergeResult, Operate, Change, Workspace;
    /// Brings back what was put aside.
    GitStashPop = "git/stash/pop" (GitStashIndexParams) -> GitMergeResult, Operate, Change, Workspace;
    /// Forgets what was put aside.
    GitStashDrop = "git/stash/drop" (GitStashIndexParams) -> GitMergeResult, Operate, Change, Workspace;
    /// Merges a branch; conflicts are told with their files.
    GitMerge = "git/merge" (GitMergeParams) -> GitMergeResult, Operate, Change, Workspace;
    /// Goes back to before the merge that waits for its conflicts.
    GitMergeAbort = "git/merge/abort" (GitParams) -> Done, Operate, Change, Workspace;
    /// Makes a workspace's folder a repository.
    GitInit = "git/init" (GitInitParams) -> GitInitResult, Operate, Change, Workspace;
    /// Adds a repository elsewhere.
    GitRemoteAdd = "git/remote/add" (GitRemoteAddParams) -> GitRemoteAddResult, Operate, Change, Workspace;
    /// Lists the repositories elsewhere.
    GitRemoteList = "git/remote/list" (GitParams) -> GitRemoteListResult, Observe, Read, Free;
    /// Forgets a repository elsewhere.
    GitRemoteRemove = "git/remote/remove" (GitRemoteParams) -> Done, Operate, Change, Workspace;

    /// Lists the working copies of a workspace's repository; also called `git/worktree/list`, and so with the others.
    WorktreeList = "workspace/worktree/list" (GitParams) -> WorktreeListResult, Observe, Read, Free;
    /// Makes a working copy beside the workspace's own.
    WorktreeAdd = "workspace/worktree/add" (WorktreeAddParams) -> WorktreeAddResult, Operate, Change, Workspace;
    /// Removes a working copy; its branch stays.
    WorktreeRemove = "workspace/worktree/remove" (WorktreeParams) -> Done, Operate, Change, Workspace;
    /// What a session changed in its working copy since its branch began.
    WorktreeDiff = "workspace/worktree/diff" (WorktreeParams) -> GitDiffResult, Observe, Read, Free;
    /// Merges a session's branch into what the workspace has checked out.
    WorktreeMerge = "workspace/worktree/merge" (WorktreeMergeParams) -> GitMergeResult, Operate, Change, Workspace;
    /// Removes a session's working copy and branch with everything that was not merged.
    WorktreeDiscard = "workspace/worktree/discard" (WorktreeParams) -> Done, Operate, Change, Workspace;

    /// How the index of a workspace's files is.
    RepositoryIndexStatus = "repository/index/status" (RepositoryParams) -> IndexStatusResult, Observe, Read, Free;
    /// Looks at all files of a workspace again.
    RepositoryIndexRebuild = "repository/index/rebuild" (IndexRebuildParams) -> IndexRebuildResult,
        Operate, Change, Free;
    /// Finds files by name.
    RepositorySearch = "repository/search" (SearchParams) -> SearchResult, Observe, Read, Free;
    /// Finds files by name while it is typed: what fits is sent as it changes.
    RepositorySearchStart = "repository/search/start" (SearchParams) -> SearchStarted, Observe, Read, Free;
    /// Goes on with another text.
    RepositorySearchUpdate = "repository/search/update" (SearchUpdateParams) -> Success, Observe, Read, Free;
    /// Ends a search that goes on.
    RepositorySearchCancel = "repository/search/cancel" (SearchCancelParams) -> Success, Observe, Read, Free;
    /// Lists a folder out of the index.
    RepositoryFilesList = "repository/files/list" (RepositoryListParams) -> RepositoryListResult, Observe, Read, Free;
    /// Folders within folders.
    RepositoryFilesTree = "repository/files/tree" (TreeParams) -> TreeResult, Observe, Read, Free;
    /// What a workspace is made of: languages, lines, sizes.
    RepositoryStats = "repository/stats" (RepositoryParams) -> RepositoryStats, Observe, Read, Free;
    /// Finds lines of files by their content.
    RepositoryGrep = "repository/grep" (GrepParams) -> GrepResult, Observe, Read, Free;
    /// Ends a search in files.
    RepositoryGrepCancel = "repository/grep/cancel" (GrepCancelParams) -> Success, Observe, Read, Free;

    /// Allows or denies a tool call that waits.
    PermissionRespond = "permission/respond" (PermissionRespondParams) -> Success, Operate, Change, Session;
    /// Asks, from a hook inside an agent, what to do about a tool call of the agent's own session.
    PermissionRequest = "permission/request" (PermissionRequestParams) -> PermissionRequestResult,
        Observe, Read, Free;
    /// What waits for an answer, the oldest first.
    PermissionPending = "permission/pending" (PendingParams) -> PendingResult, Observe, Read, Free;
    /// How much is remembered and how much waits.
    PermissionStatsGet = "permission/stats" (NoParams) -> PermissionStats, Observe, Read, Free;
    /// Lists the answers that are remembered, the oldest first.
    RuleList = "rule/list" (NoParams) -> RuleListResult, Observe, Read, Free;
    /// Removes a remembered answer, so that calls like it are asked about again; one that denies needs the scope admin.
    RuleRemove = "rule/remove" (RuleRemoveParams) -> Success, Operate, Change, Free;

    /// Follows the log from a cursor, in the form of the cdev protocol or as it is.
    EventsSubscribe = "events/subscribe" (SubscribeParams) -> EventsSubscribeResult, Observe, Read, Free;
    /// Follows the log no more.
    EventsUnsubscribe = "events/unsubscribe" (UnsubscribeParams) -> Success, Observe, Read, Free;
    /// Keeps a named reader's place, so that it can go on there after a restart of either side.
    EventsAck = "events/ack" (AckParams) -> AckResult, Observe, Read, Free;
    /// Reads a session's events, page by page.
    LogRead = "log/read" (LogReadParams) -> LogReadResult, Observe, Read, Free;
    /// Reads a piece of what was too big for an event.
    ArtifactRead = "artifact/read" (ArtifactParams) -> ArtifactResult, Observe, Read, Free;

    /// Lists the services of the MCP gateway.
    ServiceList = "service/list" (NoParams) -> ServiceListResult, Observe, Read, Free;
    /// Everything about a service.
    ServiceGet = "service/get" (ServiceParams) -> ServiceResult, Observe, Read, Free;
    /// What a service offers, as it was listed last.
    ServiceInterfaceGet = "service/interface" (ServiceParams) -> ServiceInterface, Observe, Read, Free;
    /// Reads the log of a service, or waits for its next line.
    ServiceLogs = "service/logs" (ServiceLogsParams) -> ServiceLogsResult, Observe, Read, Free;
    /// What happened to a service.
    ServiceEvents = "service/events" (ServiceEventsParams) -> ServiceEventsResult, Observe, Read, Free;
    /// A service from every side: its state, interface, log, events and calls.
    ServiceDetailsGet = "service/details" (ServiceDetailsParams) -> ServiceDetails, Observe, Read, Free;
    /// Declares a service, or declares it anew.
    ServiceApply = "service/apply" (ServiceApplyParams) -> ServiceResult, Admin, Change, Free;
    /// Starts a service, and answers when it runs or has failed.
    ServiceStart = "service/start" (ServiceParams) -> ServiceResult, Admin, Change, Free;
    /// Stops a service.
    ServiceStop = "service/stop" (ServiceParams) -> ServiceResult, Admin, Change, Free;
    /// Stops a service if it runs, and starts it.
    ServiceRestart = "service/restart" (ServiceParams) -> ServiceResult, Admin, Change, Free;
    /// Lists again what a service offers.
    ServiceIntrospect = "service/introspect" (ServiceParams) -> ServiceIntrospectResult, Admin, Change, Free;
    /// Lets a quarantined service be started again.
    ServiceUnquarantine = "service/unquarantine" (ServiceParams) -> ServiceResult, Admin, Change, Free;
    /// Approves tools that are held back, as they are defined now.
    ServiceApprove = "service/approve" (ServiceApproveParams) -> ServiceResult, Admin, Change, Free;
    /// Begins a login of the caller at a remote service: a person opens its address in a browser.
    ServiceLoginBegin = "service/login" (ServiceLoginParams) -> ServiceLogin, Admin, Change, Free;
    /// Finishes a login with the address to which the browser was sent back.
    ServiceLoginFinish = "service/login/finish" (ServiceLoginFinishParams) -> ServiceResult, Admin, Change, Free;
    /// Stops a service and forgets it.
    ServiceRemove = "service/remove" (ServiceRemoveParams) -> ServiceRemoved, Admin, Change, Free;
    /// What happened at the gateway last.
    AuditList = "audit/list" (AuditListParams) -> AuditListResult, Observe, Read, Free;

    /// Lists agent runs, the latest first: those that clients report, and every hosted session.
    RunList = "run/list" (RunListParams) -> RunListResult, Observe, Read, Free;
    /// What happened last in a run, or in all of them.
    RunEvents = "run/events" (RunEventsParams) -> RunEventsResult, Observe, Read, Free;
    /// Records what happened in runs: all of these events or none.
    RunReport = "run/report" (RunReportParams) -> RunReportResult, Operate, Change, Free;
    /// Says something to the agent of a run that is under way; a hosted session takes it as a prompt.
    RunMessage = "run/message" (RunMessageParams) -> RunMessageResult, Operate, Start, Free;

    /// Lists the secrets that are kept in files, without what they hold.
    SecretList = "secret/list" (NoParams) -> SecretListResult, Admin, Read, Free;
    /// The forms that a reference to a secret can have, and the folder of secrets.
    SecretProviders = "secret/providers" (NoParams) -> SecretProvidersResult, Admin, Read, Free;
    /// Whether a reference to a secret can be used now.
    SecretValidate = "secret/validate" (SecretParams) -> SecretCheck, Admin, Read, Free;
    /// Keeps a secret in a file that only the daemon's user can read.
    SecretSet = "secret/set" (SecretSetParams) -> SecretWritten, Admin, Change, Free;
    /// Deletes the file that holds a secret.
    SecretDelete = "secret/delete" (SecretParams) -> SecretDeleted, Admin, Change, Free;

    /// Registers the MCP gateway in other programs, or shows what that would change.
    BootstrapApply = "bootstrap/apply" (BootstrapParams) -> BootstrapResult, Admin, Change, Free;
    /// Removes the MCP gateway from other programs.
    BootstrapRemove = "bootstrap/remove" (BootstrapRemoveParams) -> BootstrapRemoveResult, Admin, Change, Free;
    /// Which programs know the MCP gateway.
    BootstrapStatusGet = "bootstrap/status" (NoParams) -> BootstrapStatus, Admin, Read, Free;

    /// Lists the paired devices.
    DeviceList = "device/list" (NoParams) -> DeviceListResult, Admin, Read, Free;
    /// Forgets a device: its tokens end and its connections close.
    DeviceRevoke = "device/revoke" (DeviceRevokeParams) -> Success, Admin, Change, Free;
    /// Makes a token for a program, which is listed and revoked like a device.
    DeviceToken = "device/token" (DeviceTokenParams) -> DeviceTokenResult, Admin, Change, Free;
    /// Lists the devices that wait for somebody to let them in.
    DevicePending = "device/pending" (NoParams) -> WaitingDevicesResult, Admin, Read, Free;
    /// Lets a device in that waits, or turns it away.
    DeviceApprove = "device/approve" (DeviceApproveParams) -> Success, Admin, Change, Free;
    /// Makes what a new device needs to be paired.
    PairCreate = "pair/create" (PairParams) -> PairResult, Admin, Change, Free;
    /// The daemon as the local door sees it.
    DaemonStatusGet = "daemon/status" (NoParams) -> DaemonStatus, Admin, Read, Free;
    /// Ends the daemon: agents are stopped, clients told.
    DaemonStop = "daemon/stop" (NoParams) -> Success, Admin, Change, Free;
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_name_is_there_once_and_leads_back_to_its_method() {
        let names: HashSet<_> = Method::ALL.iter().map(|method| method.name()).collect();
        assert_eq!(names.len(), Method::ALL.len());
        for &method in Method::ALL {
            assert_eq!(Method::from_name(method.name()), Some(method));
        }
    }

    #[test]
    fn other_names_lead_to_the_same_method() {
        let cases = [
            ("git/get_status", Some(Method::GitState)),
            ("workspace/git/status", Some(Method::GitStatus)),
            ("workspace/git/stash/pop", Some(Method::GitStashPop)),
            ("workspace/git/get_status", Some(Method::GitState)),
            ("workspace/git/branch/set-upstream", Some(Method::GitUpstreamSet)),
            ("git/worktree/list", Some(Method::WorktreeList)),
            ("workspace/git/nothing", None),
        ];
        for (name, method) in cases {
            assert_eq!(Method::from_name(name), method, "{name}");
        }
    }

    #[test]
    fn no_device_can_be_given_the_scope_of_agents_and_it_suffices_for_no_method() {
        assert!(serde_json::from_str::<Scope>("\"agent\"").is_err());
        assert!(!schemars::schema_for!(Scope).as_value().to_string().contains("\"agent\""));
        assert!(Method::ALL.iter().all(|method| method.scope() > Scope::Agent));
    }

    #[test]
    fn agents_may_change_nothing_but_what_is_recorded_of_their_own_run() {
        let may = |method: &&Method| ![AgentMay::Nothing, AgentMay::ReportItself].contains(&method.agent_may());
        for method in Method::ALL.iter().filter(may) {
            assert_eq!((method.cost(), method.scope()), (Cost::Read, Scope::Observe), "{}", method.name());
        }
    }

    #[test]
    fn what_only_reads_waits_for_nothing_and_who_ends_something_does_not_wait_for_its_end() {
        for &method in Method::ALL {
            let expected = match method.cost() {
                Cost::Read => CallOrder::Free,
                _ if method == Method::GitCancel => CallOrder::Free,
                _ if method.is_git() => CallOrder::Workspace,
                _ => continue,
            };
            assert_eq!(method.call_order(), expected, "{}", method.name());
        }
    }

    #[test]
    fn calls_are_ordered_by_what_their_parameters_name() {
        let send: SessionSendParams = serde_json::from_str(r#"{"prompt": "go", "session_id": "s"}"#).unwrap();
        assert_eq!(method::SessionSend::order_key(&send), Some("s"));
        let start: SessionStartParams = serde_json::from_str(r#"{"resume_session_id": "s"}"#).unwrap();
        assert_eq!(method::SessionStart::order_key(&start), Some("s"));
        let pull: GitPullParams = serde_json::from_str(r#"{"workspace_id": "w"}"#).unwrap();
        assert_eq!(method::GitPull::order_key(&pull), Some("w"));
        assert_eq!(method::GitCancel::order_key(&GitParams { workspace_id: Some("w".into()) }), None);
    }

    #[test]
    fn every_summary_is_a_sentence() {
        for method in Method::ALL {
            assert!(method.summary().ends_with('.') && method.summary().len() < 160, "{}", method.name());
        }
    }
}
