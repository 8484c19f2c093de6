//! From a method's name to its handler and back: parse, check, call, shape.

use std::sync::{Arc, PoisonError};

use roost_rpc::{Fault, FaultCode, Method, Typed, method};
use serde_json::value::RawValue;

use crate::agents;
use crate::call_order::Front;
use crate::caller::Caller;
use crate::connection::Connection;
use crate::handlers::known;
use crate::handlers::{
    agent, daemon, discovering, events, file, forking, git, history, lifecycle, permission, repository, session,
    watching, workspace,
};
use crate::host::Host;
use crate::parameters;

/// Bytes of a result at most: a frame of 1 MiB, less what surrounds it.
pub(crate) const MAX_FRAME: usize = (1 << 20) - (4 << 10);

/// Bytes of the items of a page, after which it takes no more.
pub(crate) const PAGE_BYTES: usize = 768 << 10;

/// What a handler knows of the call besides its parameters.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) host: &'a Arc<Host>,
    pub(crate) caller: &'a Caller,
    /// Absent for a single HTTP request.
    pub(crate) connection: Option<&'a Arc<Connection>>,
    /// What the client's next calls about the same thing wait behind.
    pub(crate) front: Option<&'a Front>,
}

impl<'a> Context<'a> {
    /// The connection, for methods that make no sense without one.
    pub(crate) fn connected(&self) -> Result<&'a Arc<Connection>, Fault> {
        self.connection.ok_or_else(|| {
            Fault::new(
                FaultCode::InvalidRequest,
                "this method follows events, so it needs a WebSocket, not a single request",
            )
        })
    }
}

impl Context<'_> {
    /// Whether this client may have an agent work in the mode in which nothing is asked.
    pub(crate) fn may_yolo(&self) -> bool {
        self.caller.is_owner() || self.host.settings.allow_yolo
    }

    /// Lets the client's next calls begin, because what is left to do takes long and touches nothing of theirs.
    pub(crate) fn give_way(&self) {
        if let Some(front) = self.front {
            front.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }
}

/// Carries out one call.
pub(crate) async fn dispatch(
    context: &Context<'_>,
    name: &str,
    params: Option<&RawValue>,
) -> Result<Box<RawValue>, Fault> {
    let method = Method::from_name(name).ok_or_else(|| {
        Fault::new(FaultCode::MethodNotFound, format_args!("Method not found: {name}")).with("method", name)
    })?;
    match &context.caller.agent {
        Some(agent) => agents::check(context, agent, method, params).await?,
        None => context.caller.may(method)?,
    }
    context.host.rates.count(context.caller, method.cost())?;
    if method != Method::Initialize && context.connection.is_some_and(|connection| !connection.is_initialized()) {
        return Err(Fault::new(FaultCode::NotInitialized, "call `initialize` first").with("method", name));
    }
    let answer = handle(context, method, params).await;
    // Who calls something about a runtime is told by name which call failed.
    answer.map_err(|fault| if fault.data.contains_key("agent_type") { fault.with("method", name) } else { fault })
}

macro_rules! handlers {
    ($context:ident, $method:ident, $params:ident, { $($variant:ident => $handler:path,)* }) => {
        match $method {
            $(Method::$variant => {
                let params: <method::$variant as Typed>::Params =
                    parse($params).map_err(|fault| unknown_runtime($context, $params).unwrap_or(fault))?;
                parameters::check($context, $method, &params).await?;
                let result: <method::$variant as Typed>::Result = $handler($context, params).await?;
                encode(&result)
            })*
        }
    };
}

async fn handle(context: &Context<'_>, method: Method, params: Option<&RawValue>) -> Result<Box<RawValue>, Fault> {
    handlers!(context, method, params, {
        Initialize => lifecycle::initialize,
        Initialized => lifecycle::initialized,
        Shutdown => lifecycle::shutdown,
        StatusGet => lifecycle::status,
        StatusHealth => lifecycle::health,
        AgentRun => agent::run,
        AgentStop => agent::stop,
        AgentRespond => agent::respond,
        AgentStatus => agent::status,
        AgentInput => agent::input,
        SessionStart => session::start,
        SessionSend => session::send,
        SessionFork => forking::fork,
        SessionStop => session::stop,
        SessionInput => session::input,
        SessionRespond => session::respond,
        SessionStateGet => session::state,
        SessionActive => session::active,
        SessionInfoGet => session::state,
        SessionList => history::list,
        SessionGet => history::get,
        SessionHistory => history::of_workspace,
        SessionMessages => history::messages,
        SessionElements => history::elements,
        SessionWatch => watching::watch,
        SessionUnwatch => watching::unwatch,
        SessionDelete => history::delete,
        WorkspaceSessionHistory => history::of_workspace,
        WorkspaceSessionMessages => history::messages,
        WorkspaceSessionWatch => watching::watch,
        WorkspaceSessionUnwatch => watching::unwatch,
        WorkspaceSessionActivate => workspace::activate,
        WorkspaceSessionDelete => history::delete,
        ClientSessionFocus => watching::focus,
        WorkspaceList => workspace::list,
        WorkspaceGet => workspace::get,
        WorkspaceAdd => workspace::add,
        WorkspaceRemove => workspace::remove,
        WorkspaceUpdate => workspace::update,
        WorkspaceStatus => workspace::status,
        WorkspaceDiscover => discovering::discover,
        WorkspaceDiscoverCancel => discovering::cancel,
        WorkspaceCacheInvalidate => discovering::forget,
        WorkspaceSubscribe => workspace::subscribe,
        WorkspaceUnsubscribe => workspace::unsubscribe,
        WorkspaceSubscriptions => workspace::subscriptions,
        WorkspaceSubscribeAll => workspace::subscribe_all,
        WorkspaceFileGet => file::get,
        WorkspaceFilesList => file::page,
        FileGet => file::get,
        FileList => file::list,
        GitStatus => git::status,
        GitState => git::state,
        GitDiff => git::diff,
        GitStage => git::stage,
        GitUnstage => git::unstage,
        GitDiscard => git::discard,
        GitCommit => git::commit,
        GitPush => git::sync::push,
        GitPull => git::sync::pull,
        GitFetch => git::sync::fetch,
        GitCancel => git::sync::cancel,
        GitBranches => git::refs::branches,
        GitCheckout => git::refs::checkout,
        GitBranchDelete => git::refs::delete,
        GitUpstreamSet => git::refs::set_upstream,
        GitLog => git::history::log,
        GitStash => git::sync::stash,
        GitStashList => git::sync::stashes,
        GitStashApply => git::sync::apply,
        GitStashPop => git::sync::pop,
        GitStashDrop => git::sync::drop_stash,
        GitMerge => git::sync::merge,
        GitMergeAbort => git::sync::abort,
        GitInit => git::refs::init,
        GitRemoteAdd => git::refs::add_remote,
        GitRemoteList => git::refs::remotes,
        GitRemoteRemove => git::refs::remove_remote,
        WorktreeList => git::worktree::list,
        WorktreeAdd => git::worktree::add,
        WorktreeRemove => git::worktree::remove,
        WorktreeDiff => git::worktree::diff,
        WorktreeMerge => git::worktree::merge,
        WorktreeDiscard => git::worktree::discard,
        RepositoryIndexStatus => repository::status,
        RepositoryIndexRebuild => repository::rebuild,
        RepositorySearch => repository::search::search,
        RepositorySearchStart => repository::search::start,
        RepositorySearchUpdate => repository::search::update,
        RepositorySearchCancel => repository::search::cancel,
        RepositoryFilesList => repository::list,
        RepositoryFilesTree => repository::tree,
        RepositoryStats => repository::stats,
        RepositoryGrep => repository::grep::grep,
        RepositoryGrepCancel => repository::grep::cancel,
        PermissionRespond => permission::respond,
        PermissionPending => permission::pending,
        PermissionStatsGet => permission::stats,
        EventsSubscribe => events::subscribe,
        EventsUnsubscribe => events::unsubscribe,
        EventsAck => events::ack,
        LogRead => events::read,
        ArtifactRead => events::artifact,
        DeviceList => daemon::devices,
        DeviceRevoke => daemon::revoke,
        PairCreate => daemon::pair,
        DaemonStatusGet => daemon::status,
        DaemonStop => daemon::stop,
    })
}

fn parse<T: for<'de> serde::Deserialize<'de>>(params: Option<&RawValue>) -> Result<T, Fault> {
    let text = params.map_or("{}", RawValue::get);
    if !text.trim_start().starts_with('{') {
        return Err(Fault::params("`params` must be an object with named parameters"));
    }
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        // Serde words it "missing field `a` at line …": what stands between the backticks is the name.
        match message.strip_prefix("missing field `").and_then(|rest| rest.split_once('`')) {
            Some((field, _)) => Fault::missing(field),
            None => Fault::params(message.split(" at line ").next().unwrap_or_default()),
        }
    })
}

/// The refusal of a runtime that nobody knows; it comes before everything else that is wrong.
fn unknown_runtime(context: &Context<'_>, params: Option<&RawValue>) -> Option<Fault> {
    #[derive(serde::Deserialize)]
    struct Named {
        #[serde(alias = "runtime")]
        agent_type: String,
    }
    let named: Named = serde_json::from_str(params?.get()).ok()?;
    known(context, Some(&named.agent_type)).err()
}

fn encode<T: serde::Serialize>(result: &T) -> Result<Box<RawValue>, Fault> {
    serde_json::value::to_raw_value(result).map_err(|error| Fault::new(FaultCode::InternalError, error))
}
