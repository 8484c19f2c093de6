//! From a method's name to its handler and back: parse, check, call, shape.
//!
//! Parameters are read once, when the call comes in: what it waits for, what it may give and what its handler gets are
//! all taken from what was understood then.

use std::sync::Arc;

use futures::future::BoxFuture;
use roost_model::session::SessionRecord;
use roost_rpc::{CallOrder, Cost, Fault, FaultCode, Method, Typed, method};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::agents;
use crate::call_order::QueueTurn;
use crate::caller::Caller;
use crate::connection::Connection;
use crate::handlers::{
    agent, audit, bootstrap, check_agent_type, daemon, discovering, events, file, forking, git, history, lifecycle,
    permission, repository, run, searching, secret, service, session, session_client, watching, workspace,
};
use crate::host::Host;
use crate::parameters;
use crate::parse_params::{ParamsError, parse_params};

/// Bytes of a result at most: a frame of 1 MiB, less what surrounds it.
pub(crate) const MAX_FRAME: usize = (1 << 20) - (4 << 10);

/// Bytes of the items of a page, after which it takes no more.
pub(crate) const PAGE_BYTES: usize = 768 << 10;

/// What a handler gets besides the call's parameters.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) host: &'a Arc<Host>,
    pub(crate) caller: &'a Caller,
    /// Absent for a single HTTP request.
    pub(crate) connection: Option<&'a Arc<Connection>>,
    /// The call's place in its queue, which the client's next calls about the same session or workspace wait for.
    pub(crate) turn: Option<&'a QueueTurn>,
    /// The session that the call names, if the queue needed it and no other call could change it since.
    pub(crate) resolved: Option<&'a ResolvedSession>,
}

/// A session as it was found when a call about it came in and no other call of that client could be changing it.
pub(crate) struct ResolvedSession {
    /// The name that the call uses: the session's id, or the one that its runtime gave it.
    pub(crate) name: String,
    pub(crate) record: SessionRecord,
}

impl<'a> Context<'a> {
    /// A call that came alone, over HTTP: nothing follows it, and it waits for no other.
    pub(crate) fn single(host: &'a Arc<Host>, caller: &'a Caller) -> Self {
        Self { host, caller, connection: None, turn: None, resolved: None }
    }

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

    /// The session that a call names, which need not be read again if it was looked up to put the call in order.
    pub(crate) async fn session(&self, name: &str) -> Result<SessionRecord, Fault> {
        match self.resolved {
            Some(resolved) if resolved.name == name => Ok(resolved.record.clone()),
            _ => self.host.sessions.get(name).await,
        }
    }

    /// Lets the client's next calls begin, because what is left to do takes long and touches nothing of theirs.
    pub(crate) fn give_way(&self) {
        if let Some(turn) = self.turn {
            turn.lock().take();
        }
    }
}

/// A call whose parameters have been read.
pub(crate) struct PreparedCall {
    /// The method's name as the client wrote it, which may be another than the table's.
    pub(crate) name: String,
    params: Option<Box<RawValue>>,
    /// Absent if no method has this name. A fault of the parameters is reported only after the caller's rights were
    /// checked.
    method: Option<(Method, Parsed)>,
}

/// A method's parsed parameters, or the fault that refuses them.
type Parsed = Result<Box<dyn Invocation>, Fault>;

impl PreparedCall {
    pub(crate) fn read(name: String, params: Option<Box<RawValue>>) -> Self {
        let method = Method::from_name(&name).map(|method| (method, parse(method, params.as_deref())));
        Self { name, params, method }
    }

    /// The cost of the method; one that does not exist counts as a read.
    pub(crate) fn cost(&self) -> Cost {
        self.method.as_ref().map_or(Cost::Read, |(method, _)| method.cost())
    }

    /// Which calls it waits for, and the name of the session or workspace that it shares with them.
    pub(crate) fn order(&self) -> (CallOrder, Option<&str>) {
        match &self.method {
            Some((method, Ok(invocation))) => (method.call_order(), invocation.order_key()),
            // What cannot be understood is refused at once.
            _ => (CallOrder::Free, None),
        }
    }
}

/// Carries out one call: checks the caller, the rate limit and the handshake, then runs the handler.
pub(crate) async fn dispatch(context: &Context<'_>, call: PreparedCall) -> Result<Box<RawValue>, Fault> {
    let PreparedCall { name, params, method } = call;
    let (method, invocation) = method.ok_or_else(|| {
        Fault::new(FaultCode::MethodNotFound, format_args!("Method not found: {name}")).with("method", &name)
    })?;
    match &context.caller.agent {
        Some(agent) => agents::check(context, agent, method, params.as_deref()).await?,
        None => context.caller.may(method)?,
    }
    context.host.throttles.rates.count(context.caller, method.cost())?;
    if method != Method::Initialize && context.connection.is_some_and(|connection| !connection.is_initialized()) {
        return Err(Fault::new(FaultCode::NotInitialized, "call `initialize` first").with("method", name));
    }
    let answer = async {
        let invocation = invocation.map_err(|fault| unknown_runtime(context, params.as_deref()).unwrap_or(fault))?;
        parameters::check(context, method, &*invocation).await?;
        invocation.invoke(context).await
    };
    // Who calls something about a runtime is told by name which call failed.
    answer.await.map_err(|fault| if fault.data.contains_key("agent_type") { fault.with("method", name) } else { fault })
}

/// A method's parameters on the way to its handler.
///
/// Everything that is the same for all methods works on this and is compiled once; what is compiled per method is the
/// few lines of `handlers!`, which put the handler's future into a box of its own.
pub(crate) trait Invocation: Send + Sync {
    /// The session or workspace that orders the call, see [`Typed::order_key`].
    fn order_key(&self) -> Option<&str>;

    /// The parameters as they were understood, whichever spelling the client used.
    fn to_json(&self) -> serde_json::Result<Value>;

    /// Calls the handler and shapes its answer.
    fn invoke<'a>(self: Box<Self>, context: &'a Context<'a>) -> BoxFuture<'a, Result<Box<RawValue>, Fault>>;
}

/// The parameters of one method.
struct Params<M: Typed>(M::Params);

macro_rules! handlers {
    ($($variant:ident => $handler:path,)*) => {
        $(impl Invocation for Params<method::$variant> {
            fn order_key(&self) -> Option<&str> {
                method::$variant::order_key(&self.0)
            }

            fn to_json(&self) -> serde_json::Result<Value> {
                serde_json::to_value(&self.0)
            }

            fn invoke<'a>(self: Box<Self>, context: &'a Context<'a>) -> BoxFuture<'a, Result<Box<RawValue>, Fault>> {
                Box::pin(async move {
                    let result: <method::$variant as Typed>::Result = $handler(context.into(), self.0).await?;
                    serde_json::value::to_raw_value(&result).map_err(encode_failed)
                })
            }
        })*

        fn read(method: Method, text: &str) -> Result<Box<dyn Invocation>, ParamsError> {
            Ok(match method {
                $(Method::$variant => Box::new(Params::<method::$variant>(parse_params(text)?)),)*
            })
        }
    };
}

handlers! {
    Initialize => lifecycle::initialize,
    Initialized => lifecycle::initialized,
    Shutdown => lifecycle::shutdown,
    StatusGet => lifecycle::status,
    StatusHealth => lifecycle::health,
    AgentRun => agent::run,
    AgentStop => agent::stop,
    AgentRespond => agent::respond,
    AgentStatus => agent::status,
    AgentCommands => agent::commands,
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
    SessionHistory => history::workspace_history,
    SessionMessages => history::messages,
    SessionElements => history::elements,
    SessionSearch => searching::search,
    SessionWatch => watching::watch,
    SessionUnwatch => watching::unwatch,
    SessionDelete => history::delete,
    WorkspaceSessionHistory => history::workspace_history,
    WorkspaceSessionMessages => history::workspace_messages,
    WorkspaceSessionWatch => watching::watch_in_workspace,
    WorkspaceSessionUnwatch => watching::unwatch,
    WorkspaceSessionActivate => workspace::activate,
    WorkspaceSessionDelete => history::delete_in_workspace,
    ClientSessionFocus => watching::focus,
    ClientOffer => session_client::offer,
    ClientNext => session_client::next,
    ClientAnswer => session_client::answer,
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
    PermissionRequest => permission::request,
    PermissionPending => permission::pending,
    PermissionStatsGet => permission::stats,
    RuleList => permission::rules,
    RuleRemove => permission::remove_rule,
    EventsSubscribe => events::subscribe,
    EventsUnsubscribe => events::unsubscribe,
    EventsAck => events::ack,
    LogRead => events::read,
    ArtifactRead => events::artifact,
    ServiceList => service::list,
    ServiceGet => service::get,
    ServiceInterfaceGet => service::interface,
    ServiceLogs => service::logs,
    ServiceEvents => service::events,
    ServiceDetailsGet => service::details,
    ServiceApply => service::apply,
    ServiceStart => service::start,
    ServiceStop => service::stop,
    ServiceRestart => service::restart,
    ServiceIntrospect => service::introspect,
    ServiceUnquarantine => service::unquarantine,
    ServiceApprove => service::approve,
    ServiceLoginBegin => service::login,
    ServiceLoginFinish => service::finish_login,
    ServiceRemove => service::remove,
    AuditList => audit::list,
    RunList => run::list,
    RunEvents => run::events,
    RunReport => run::report,
    RunMessage => run::message,
    SecretList => secret::list,
    SecretProviders => secret::providers,
    SecretValidate => secret::validate,
    SecretSet => secret::set,
    SecretDelete => secret::delete,
    BootstrapApply => bootstrap::apply,
    BootstrapRemove => bootstrap::remove,
    BootstrapStatusGet => bootstrap::status,
    DeviceList => daemon::devices,
    DeviceRevoke => daemon::revoke,
    DeviceToken => daemon::token,
    DevicePending => daemon::waiting,
    DeviceApprove => daemon::approve,
    PairCreate => daemon::pair,
    DaemonStatusGet => daemon::status,
    DaemonStop => daemon::stop,
}

fn encode_failed(error: serde_json::Error) -> Fault {
    Fault::new(FaultCode::InternalError, error)
}

fn parse(method: Method, params: Option<&RawValue>) -> Parsed {
    let text = params.map_or("{}", RawValue::get);
    // By position there is at most one parameter, the object.
    let listed: Option<Vec<&RawValue>> = serde_json::from_str(text).ok();
    let text = match listed.as_deref() {
        None => text,
        Some([]) => "{}",
        Some([only]) => only.get(),
        Some(_) => "",
    };
    if !text.trim_start().starts_with('{') {
        return Err(Fault::params(
            "`params` must be an object with named parameters, alone or as the only one of a list",
        ));
    }
    read(method, text).map_err(|error| match error {
        ParamsError::Missing(field) => Fault::missing(field),
        // Where in the text it is would mean nothing to the caller.
        ParamsError::Invalid(error) => Fault::params(error.to_string().split(" at line ").next().unwrap_or_default()),
    })
}

/// The fault for an unknown runtime, which takes precedence over whatever else is wrong with the parameters.
fn unknown_runtime(context: &Context<'_>, params: Option<&RawValue>) -> Option<Fault> {
    #[derive(serde::Deserialize)]
    struct RuntimeParam {
        #[serde(alias = "runtime")]
        agent_type: String,
    }
    let named: RuntimeParam = serde_json::from_str(params?.get()).ok()?;
    let named = Some(named.agent_type.as_str()).filter(|name| !name.trim().is_empty());
    check_agent_type(context, named).err()
}
