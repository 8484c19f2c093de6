//! The gateway's own tools: `runtime__*` and `clarity__*` of seed 003.
//!
//! Decisions:
//! * One table ([`table`]) names every tool with its schemas, who may call it and what runs. Who may call what is decided
//!   here ([`ControlTools::call`]) and nowhere else.
//! * They pass the policy and the record of every gateway call. Tools that change nothing are not asked about; every other
//!   one is asked about like a service's tool, unless a rule names it.
//! * A hosted agent sees and calls what only reads, and `ensure_compiler`, which installs for nobody but the local user and
//!   admins. Of runs and of the record an agent sees its own session's.
//! * No tool runs a program that the caller chose: the compiler is the daemon's, and what installs it is the operator's
//!   command, for the local user and admins only.

pub(crate) mod artifacts;
mod bootstrap_app;
mod clarity;
mod observing;
mod provisioning;
mod schema;
mod secrets;
mod services;
mod table;

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use futures::future::BoxFuture;
use roost_gateway::catalog::Audience;
use roost_gateway::clarity::{Compiler, InstallCommand};
use roost_gateway::own_tools::{OwnTool, OwnTools, WithOwnTools};
use roost_gateway::principal::Principal;
use roost_rpc::{Fault, FaultCode, Scope, SystemToolGroup, SystemTools};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

pub(crate) use self::clarity::CompilerVersion;
use self::table::{CLARITY, ControlTool, RUNTIME, TABLE, Who};
use crate::agents::Agent;
use crate::caller::{Caller, Device, Door};
use crate::dispatch::Context;
use crate::guard::START_TOKEN_DEVICE;
use crate::host::Host;

/// What the gateway's own tools need of the daemon.
pub struct ControlParts {
    /// Where the tools are offered; without it there are none.
    pub offered: Option<Arc<WithOwnTools>>,
    /// The Clarity compiler.
    pub compiler: Compiler,
    /// The command that installs the compiler, or why nothing is installed.
    pub installer: Result<InstallCommand, &'static str>,
    /// The folder of Clarity projects: the one that the daemon was started in.
    pub root: PathBuf,
    /// Whether services can be registered by tools (`CLARITY_ENABLE_MCP_PROVISIONING`).
    pub provisioning: bool,
}

/// Offers the tools.
pub(crate) fn bind(host: &Arc<Host>) {
    if let Some(offered) = &host.control.offered {
        offered.bind(Arc::new(ControlTools(Arc::downgrade(host))));
    }
}

/// The tools that this daemon offers, for people who ask how it is.
pub(crate) fn system_tools(host: &Host) -> SystemTools {
    let offered = || TABLE.iter().filter(|tool| is_offered(host, tool));
    let group = |namespace: &str| {
        let items: Vec<_> = offered().filter(|tool| tool.namespace == namespace).map(ControlTool::in_short).collect();
        SystemToolGroup { count: items.len() as u64, items }
    };
    let items: Vec<_> = offered().map(ControlTool::in_short).collect();
    SystemTools { count: items.len() as u64, items, runtime: group(RUNTIME), clarity: group(CLARITY) }
}

/// Whether this daemon offers the tool.
fn is_offered(host: &Host, tool: &ControlTool) -> bool {
    host.control.offered.is_some() && (host.control.provisioning || !tool.is_gated)
}

struct ControlTools(Weak<Host>);

/// One call of a tool.
#[derive(Clone, Copy)]
struct Call<'a> {
    host: &'a Arc<Host>,
    caller: &'a Caller,
    arguments: &'a Map<String, Value>,
}

/// What a tool returns: an object, or why there is none.
type ToolResult = Result<Value, Fault>;
/// What runs for a tool.
type Handler = for<'a> fn(Call<'a>) -> BoxFuture<'a, ToolResult>;

impl<'a> Call<'a> {
    /// The arguments as this type.
    fn parse<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        serde_json::from_value(Value::Object(self.arguments.clone()))
            .map_err(|error| Fault::params(format_args!("invalid arguments: {error}")))
    }

    fn context(&self) -> Context<'a> {
        Context::single(self.host, self.caller)
    }

    /// The session of the hosted agent that calls.
    fn session(&self) -> Option<&'a str> {
        match &self.caller.agent {
            Some(Agent::Session(session)) => Some(session.as_str()),
            _ => None,
        }
    }
}

#[async_trait]
impl OwnTools for ControlTools {
    fn tools(&self) -> Vec<OwnTool> {
        let host = self.0.upgrade();
        let offered = TABLE.iter().filter(|tool| host.as_ref().is_some_and(|host| is_offered(host, tool)));
        let listed = offered.map(|tool| OwnTool {
            namespace: tool.namespace,
            name: tool.name,
            audience: match tool.who {
                Who::Everyone => Audience::Everyone,
                Who::Admins => Audience::People,
            },
            definition: json!({
                "name": tool.name,
                "description": tool.description,
                "inputSchema": (tool.input)(),
                "outputSchema": (tool.output)(),
                "annotations": tool.effect.annotations(),
            }),
        });
        listed.collect()
    }

    async fn call(
        &self,
        principal: &Principal,
        namespace: &str,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        let host = self.0.upgrade().ok_or("the daemon is shutting down")?;
        let found = TABLE.iter().find(|one| one.namespace == namespace && one.name == tool);
        let offered = found.filter(|tool| is_offered(&host, tool));
        let tool = offered.ok_or_else(|| format!("there is no tool {namespace}__{tool}"))?;
        let caller = caller(&host, principal).await;
        if tool.who == Who::Admins && caller.scope < Scope::Admin {
            let whom = if caller.agent.is_some() { "an agent may only read here" } else { "this client may not" };
            return Err(format!(
                "{namespace}__{} needs the scope admin, or the local user; {whom}. Do it in a terminal of your own: `roost \
                 services --help`",
                tool.name
            ));
        }
        let call = Call { host: &host, caller: &caller, arguments: &arguments };
        match (tool.run)(call).await {
            Ok(Value::Object(result)) => Ok(result),
            Ok(other) => Ok(Map::from_iter([("result".to_owned(), other)])),
            Err(fault) => Err(fault.message),
        }
    }
}

/// The caller that a principal stands for, with what it may do now.
async fn caller(host: &Host, principal: &Principal) -> Caller {
    match principal {
        Principal::Local => Caller::new(Door::Local, Scope::Admin, None),
        Principal::Session(session) => {
            Caller { agent: Some(Agent::Session(session.clone())), ..Caller::new(Door::Http, Scope::Agent, None) }
        }
        // No paired device has this id: theirs are made here.
        Principal::Device(id) if id.as_str() == START_TOKEN_DEVICE && host.settings.start_token.is_some() => {
            let starter = Device { id: START_TOKEN_DEVICE.into(), name: START_TOKEN_DEVICE.into() };
            Caller::new(Door::Http, Scope::Admin, Some(starter))
        }
        Principal::Device(id) => {
            let paired = host.auth.devices.list().await.into_iter().find(|device| device.device_id == *id);
            let scope = paired.as_ref().map_or(Scope::Operate, |device| device.scope);
            let device = paired.map(|device| Device { id: device.device_id.to_string(), name: device.name });
            Caller::new(Door::Http, scope, device)
        }
    }
}

/// What went wrong inside.
fn internal(error: impl std::fmt::Display) -> Fault {
    Fault::new(FaultCode::InternalError, error)
}
