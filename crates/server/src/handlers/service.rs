//! `service/*`: the services of the MCP gateway, shaped as seed 003's clients read them.

mod summary;

use std::sync::Arc;
use std::time::Duration;

use roost_gateway::manifest::inert_parts;
use roost_gateway::principal::Principal;
use roost_gateway::services::{BegunLogin, ServiceError, ServiceView, ToolApproval};
use roost_gateway::shown_manifest::without_secrets;
use roost_gateway::tool_pins::PinState;
use roost_gateway::upstream::LoginRequest;
use roost_model::event::NormalizedEvent;
use roost_model::ids::ServiceId;
use roost_model::service::manifest::ServiceOrigin;
use roost_rpc::{
    Fault, FaultCode, HeldBackReason, HeldBackTool, Needs, NoParams, RecentCall, ServiceApplyParams,
    ServiceApproveParams, ServiceDetails, ServiceDetailsParams, ServiceEventsParams, ServiceEventsResult,
    ServiceInterface, ServiceIntrospectResult, ServiceListResult, ServiceLogin, ServiceLoginFinishParams,
    ServiceLoginParams, ServiceLogsParams, ServiceLogsResult, ServiceParams, ServiceRecord, ServiceRemoveParams,
    ServiceRemoved, ServiceResult, ServiceRuntime,
};
use serde_json::{Map, Value};

pub(crate) use summary::{count_services, gateway_status, summarize};

use super::audit;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::control::artifacts;
use crate::dispatch::Context;
use crate::{fault, mcp};
use summary::uptime;

/// How long a call waits for the next line of a log.
const FOLLOW_TIME: Duration = Duration::from_secs(25);
/// The most lines and records that one answer holds.
const MAX_LIMIT: u32 = 2000;

pub(crate) async fn list(context: &Context<'_>, _: NoParams) -> Result<ServiceListResult, Fault> {
    let services = context.host.services.list();
    Ok(ServiceListResult { items: services.iter().map(|view| summarize(view)).collect() })
}

pub(crate) async fn get(context: &Context<'_>, params: ServiceParams) -> Result<ServiceResult, Fault> {
    shaped(context, context.host.services.get(&id(&params.service_id)))
}

pub(crate) async fn interface(context: &Context<'_>, params: ServiceParams) -> Result<ServiceInterface, Fault> {
    let view = context.host.services.get(&id(&params.service_id)).map_err(fault::service)?;
    Ok(interface_of(&view))
}

pub(crate) async fn logs(context: &Context<'_>, params: ServiceLogsParams) -> Result<ServiceLogsResult, Fault> {
    let service_id = id(&params.service_id);
    let log = context.host.services.log(&service_id).map_err(fault::service)?;
    let after = params.after.unwrap_or(0);
    if params.follow == Some(true) {
        // Without a new line the answer is empty, and the client asks again.
        let _ = tokio::time::timeout(FOLLOW_TIME, log.wait_after(after)).await;
    }
    let read = log.read(after, limit(params.limit, 200));
    Ok(ServiceLogsResult { service_id, lines: read.lines, last: read.last })
}

pub(crate) async fn events(context: &Context<'_>, params: ServiceEventsParams) -> Result<ServiceEventsResult, Fault> {
    let service_id = id(&params.service_id);
    context.host.services.get(&service_id).map_err(fault::service)?;
    let items = audit::last_about(context, limit(params.limit, 200), &service_id).await?;
    Ok(ServiceEventsResult { service_id, items })
}

pub(crate) async fn details(context: &Context<'_>, params: ServiceDetailsParams) -> Result<ServiceDetails, Fault> {
    let service_id = id(&params.service_id);
    let view = context.host.services.get(&service_id).map_err(fault::service)?;
    let log = context.host.services.log(&service_id).map_err(fault::service)?;
    let is_about =
        |_: &NormalizedEvent, record: &roost_rpc::AuditRecord| record.service_id.as_ref() == Some(&service_id);
    let calls = audit::last(context, &audit::CALLS, limit(params.call_limit, 20), is_about).await?.items;
    let recent =
        |record: roost_rpc::AuditRecord| RecentCall { at: record.at, message: record.message, data: record.data };
    Ok(ServiceDetails {
        summary: summarize(&view),
        service: record(context.caller, &view),
        interface: interface_of(&view),
        logs: log.read(0, limit(params.log_limit, 50)).lines,
        events: audit::last_about(context, limit(params.event_limit, 100), &service_id).await?,
        recent_calls: calls.into_iter().map(recent).collect(),
        service_id,
    })
}

pub(crate) async fn apply(context: &Context<'_>, params: ServiceApplyParams) -> Result<ServiceResult, Fault> {
    let applied = shaped(context, context.host.services.apply(&Value::Object(params.manifest)).await)?;
    let inert = inert_parts(&applied.service.manifest);
    let warnings = inert.into_iter().map(|part| format!("{part} is kept, and has no effect here"));
    Ok(ServiceResult { warnings: warnings.collect(), ..applied })
}

pub(crate) async fn start(context: &Context<'_>, params: ServiceParams) -> Result<ServiceResult, Fault> {
    shaped(context, context.host.services.start_service(&id(&params.service_id)).await)
}

pub(crate) async fn stop(context: &Context<'_>, params: ServiceParams) -> Result<ServiceResult, Fault> {
    shaped(context, context.host.services.stop_service(&id(&params.service_id)).await)
}

pub(crate) async fn restart(context: &Context<'_>, params: ServiceParams) -> Result<ServiceResult, Fault> {
    shaped(context, context.host.services.restart_service(&id(&params.service_id)).await)
}

pub(crate) async fn introspect(context: &Context<'_>, params: ServiceParams) -> Result<ServiceIntrospectResult, Fault> {
    let view = context.host.services.introspect(&id(&params.service_id)).await.map_err(fault::service)?;
    Ok(ServiceIntrospectResult { interface: interface_of(&view) })
}

pub(crate) async fn unquarantine(context: &Context<'_>, params: ServiceParams) -> Result<ServiceResult, Fault> {
    shaped(context, context.host.services.unquarantine(&id(&params.service_id)).await)
}

pub(crate) async fn approve(context: &Context<'_>, params: ServiceApproveParams) -> Result<ServiceResult, Fault> {
    let by = context.caller.device.as_ref().map_or(context.caller.door.as_str(), |device| &device.name).to_owned();
    let approval = ToolApproval { tools: params.tools.unwrap_or_default(), revision: params.revision, by };
    shaped(context, context.host.services.approve(&id(&params.service_id), approval).await)
}

pub(crate) async fn login(context: &Context<'_>, params: ServiceLoginParams) -> Result<ServiceLogin, Fault> {
    let mut request = LoginRequest::new(params.redirect_uri);
    if params.client_secret.is_some() && params.client_id.is_none() {
        return Err(Fault::params("client_secret is the secret of client_id, which is not given"));
    }
    if params.client_metadata_url.is_some() && params.client_id.is_some() {
        return Err(Fault::params("give either client_id or client_metadata_url"));
    }
    (request.client_id, request.client_secret) = (params.client_id, params.client_secret);
    request.client_metadata_url = params.client_metadata_url;
    request.scopes = params.scopes.unwrap_or_default();
    let begun = context.host.services.begin_login(&id(&params.service_id), &principal(context)?, request).await;
    let BegunLogin { login_id, url } = begun.map_err(fault::service)?;
    Ok(ServiceLogin { login_id, url })
}

pub(crate) async fn finish_login(
    context: &Context<'_>,
    params: ServiceLoginFinishParams,
) -> Result<ServiceResult, Fault> {
    let (service, principal) = (id(&params.service_id), principal(context)?);
    let finished = context.host.services.finish_login(&service, &principal, &params.login_id, &params.redirected_to);
    shaped(context, finished.await)
}

/// On whose behalf the caller uses services.
fn principal(context: &Context<'_>) -> Result<Principal, Fault> {
    mcp::principal(context.caller).ok_or_else(|| Fault::new(FaultCode::Forbidden, "this caller uses no services"))
}

pub(crate) async fn remove(context: &Context<'_>, params: ServiceRemoveParams) -> Result<ServiceRemoved, Fault> {
    let service_id = id(&params.service_id);
    let view = context.host.services.get(&service_id).map_err(fault::service)?;
    context.host.services.remove(&service_id).await.map_err(fault::service)?;
    let artifact_removed = match &view.stored.manifest.spec.origin {
        ServiceOrigin::LocalWasm { wasm_path, .. } if params.cleanup_artifacts == Some(true) => {
            let (root, wasm_path) = (context.host.control.root.clone(), wasm_path.clone());
            blocking(move || artifacts::remove(&root, wasm_path.as_ref())).await?
        }
        _ => false,
    };
    Ok(ServiceRemoved { removed: true, artifact_removed, service_id })
}

fn id(text: &str) -> ServiceId {
    ServiceId::from(text)
}

/// A limit as seed 003 reads it: within bounds, and never an error.
pub(super) fn limit(given: Option<u32>, default: u32) -> usize {
    given.unwrap_or(default).clamp(1, MAX_LIMIT) as usize
}

fn shaped(context: &Context<'_>, view: Result<Arc<ServiceView>, ServiceError>) -> Result<ServiceResult, Fault> {
    let view = view.map_err(fault::service)?;
    Ok(ServiceResult { service: record(context.caller, &view), warnings: Vec::new() })
}

/// The whole record of a service, without what this caller may not see.
pub(crate) fn record(caller: &Caller, view: &ServiceView) -> ServiceRecord {
    let (life, spec) = (&view.life, &view.stored.manifest.spec);
    ServiceRecord {
        service_id: view.id.clone(),
        version: view.stored.version,
        manifest: match caller.is(Needs::Admin) {
            true => view.stored.manifest.clone(),
            false => without_secrets(view.stored.manifest.clone()),
        },
        runtime: ServiceRuntime {
            lifecycle: life.lifecycle,
            health: life.health,
            enabled: spec.enabled,
            autostart: spec.autostart,
            uptime_seconds: uptime(view),
            restart_count: life.restart_count,
            progress: view.progress.clone(),
            last_error: life.last_error.clone(),
            last_heartbeat_at: view.last_answer,
            next_attempt_at: life.next_attempt,
        },
        interface_snapshot: view.interface.as_ref().map(|_| interface_of(view)),
        held_back: held_back(view),
    }
}

fn held_back(view: &ServiceView) -> Vec<HeldBackTool> {
    let Some(interface) = &view.interface else { return Vec::new() };
    let tools = interface.tools.iter().zip(&*view.tools).filter(|(_, review)| review.is_held_back());
    let shaped = |(tool, review): (&roost_gateway::catalog::ListedItem, &roost_gateway::services::ReviewedTool)| {
        let current = || serde_json::from_str::<Map<String, Value>>(tool.definition.get()).unwrap_or_default();
        let (approved, current) = match review.change.clone() {
            Some((approved, current)) => (Some(approved), current),
            None => (None, current()),
        };
        let state = match review.state {
            PinState::Changed => HeldBackReason::Changed,
            PinState::New | PinState::Approved => HeldBackReason::New,
        };
        HeldBackTool { tool: review.name.clone(), state, approved, current }
    };
    tools.map(shaped).collect()
}

/// What a service offers, as it was listed last.
pub(crate) fn interface_of(view: &ServiceView) -> ServiceInterface {
    let interface = view.interface.as_deref();
    let parsed = |items: &[roost_gateway::catalog::ListedItem]| -> Vec<Value> {
        items.iter().filter_map(|item| serde_json::from_str(item.definition.get()).ok()).collect()
    };
    ServiceInterface {
        service_id: view.id.clone(),
        interface_revision: interface.map(|interface| interface.revision.clone()),
        introspected_at: interface.map(|interface| interface.listed_at),
        tools: interface.map(|interface| parsed(&interface.tools)).unwrap_or_default(),
        resources: interface.map(|interface| parsed(&interface.resources)).unwrap_or_default(),
        resource_templates: interface.map(|interface| parsed(&interface.resource_templates)).unwrap_or_default(),
        prompts: interface.map(|interface| parsed(&interface.prompts)).unwrap_or_default(),
        problems: problems(view),
    }
}

/// What is odd about what a service offers.
fn problems(view: &ServiceView) -> Vec<String> {
    let Some(interface) = &view.interface else { return Vec::new() };
    let mut problems = interface.problems.clone();
    if !view.is_trusted() {
        let id = &view.id;
        problems.push(format!(
            "its resources, prompts and instructions wait until somebody approves the service: `roost services approve {id}`"
        ));
    }
    problems
}
