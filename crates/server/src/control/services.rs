//! Tools that show services and change their state.

use std::sync::Arc;

use roost_gateway::catalog::{ListedItem, OfferedService};
use roost_gateway::services::{ServiceError, ServiceView};
use roost_model::ids::ServiceId;
use roost_model::service::Lifecycle;
use roost_rpc::{Fault, ServiceCounts, ServiceInterface, ServiceSummary};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Call, ToolResult, internal};
use crate::fault;
use crate::handlers::service::{self, count_services, interface_of, record, summarize};

/// The most lines that `get_logs` returns.
const MAX_LINES: usize = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServiceArguments {
    service_id: ServiceId,
}

/// The names of the counts, as seed 003's tools write them.
fn counts(counts: &ServiceCounts) -> [(&'static str, u64); 15] {
    [
        ("total", counts.total),
        ("mcp_services", counts.mcp_services),
        ("agent_services", counts.agent_services),
        ("running", counts.running),
        ("running_mcp", counts.running_mcp),
        ("running_agent", counts.running_agent),
        ("degraded", counts.degraded),
        ("stopped", counts.stopped),
        ("quarantined", counts.quarantined),
        ("local_mcp", counts.local_mcp),
        ("remote_mcp", counts.remote_mcp),
        ("local_agent", counts.local_agent),
        ("remote_agent", counts.remote_agent),
        ("local", counts.local),
        ("remote", counts.remote),
    ]
}

pub(super) fn counts_schema() -> Value {
    super::schema::result(&counts(&ServiceCounts::default()).map(|(name, _)| (name, super::schema::Member::Count)))
}

pub(super) async fn status_summary(call: Call<'_>) -> ToolResult {
    let counts =
        counts(&count_services(&call.host.services.list())).map(|(name, count)| (name.to_owned(), Value::from(count)));
    Ok(Value::Object(Map::from_iter(counts)))
}

pub(super) async fn list_services(call: Call<'_>) -> ToolResult {
    let services = call.host.services.list();
    Ok(json!({ "services": Value::from_iter(services.iter().map(|view| in_short(&summarize(view)))) }))
}

fn in_short(service: &ServiceSummary) -> Value {
    let interface = service.interface.as_ref().map(|interface| {
        json!({
            "revision": interface.interface_revision, "introspected_at": interface.introspected_at,
            "tools": interface.tools, "resources": interface.resources, "prompts": interface.prompts,
        })
    });
    json!({
        "service_id": service.service_id, "display_name": service.display_name, "namespace": service.namespace,
        "source_file": service.source_file, "module": service.module, "service_type": service.service_type,
        "origin_type": service.origin_type, "lifecycle": service.lifecycle, "health": service.health,
        "uptime_seconds": service.uptime_seconds, "restart_count": service.restart_count,
        "last_error": service.last_error, "interface": interface,
    })
}

pub(super) async fn get_service(call: Call<'_>) -> ToolResult {
    let ServiceArguments { service_id } = call.parse()?;
    let view = call.host.services.get(&service_id).map_err(fault::service)?;
    let mut record = record(call.caller, &view);
    if call.caller.agent.is_some() {
        // What waits for an approval could be meant to mislead an agent.
        record.held_back.clear();
        record.interface_snapshot = record.interface_snapshot.map(|interface| only_offered(interface, &view));
    }
    Ok(json!({ "service": record }))
}

/// An interface without what clients are not offered now.
fn only_offered(mut interface: ServiceInterface, view: &ServiceView) -> ServiceInterface {
    let offered = view.offer();
    let is_in = |items: fn(&OfferedService) -> &[ListedItem], definition: &Value, key: &str| {
        let listed = offered.as_deref().map(items).unwrap_or_default();
        listed.iter().any(|item| definition[key] == item.key.as_str())
    };
    interface.tools.retain(|tool| is_in(|offered| &offered.tools, tool, "name"));
    interface.resources.retain(|resource| is_in(|offered| &offered.resources, resource, "uri"));
    interface
        .resource_templates
        .retain(|template| is_in(|offered| &offered.resource_templates, template, "uriTemplate"));
    interface.prompts.retain(|prompt| is_in(|offered| &offered.prompts, prompt, "name"));
    interface
}

pub(super) async fn get_logs(call: Call<'_>) -> ToolResult {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        service_id: ServiceId,
        limit: Option<i64>,
    }
    let Arguments { service_id, limit } = call.parse()?;
    let log = call.host.services.log(&service_id).map_err(fault::service)?;
    let lines = log.read(0, clamp(limit, MAX_LINES, 200)).lines;
    Ok(json!({ "service_id": service_id, "lines": lines }))
}

/// A limit within bounds; one that is not given has a default.
pub(super) fn clamp(given: Option<i64>, most: usize, default: usize) -> usize {
    given.map_or(default, |given| usize::try_from(given).unwrap_or(0)).clamp(1, most)
}

/// Does something with a service and returns it in short.
macro_rules! commands {
    ($($name:ident => $command:ident,)*) => {
        $(pub(super) async fn $name(call: Call<'_>) -> ToolResult {
            let ServiceArguments { service_id } = call.parse()?;
            let view = call.host.services.$command(&service_id).await.map_err(fault::service)?;
            Ok(json!({ "service": summarize(&view) }))
        })*
    };
}

commands! {
    start_service => start_service,
    stop_service => stop_service,
    restart_service => restart_service,
    unquarantine_service => unquarantine,
}

pub(super) async fn refresh_interface(call: Call<'_>) -> ToolResult {
    let ServiceArguments { service_id } = call.parse()?;
    let view = call.host.services.introspect(&service_id).await.map_err(fault::service)?;
    Ok(json!({ "service_id": service_id, "interface": interface_of(&view) }))
}

pub(super) async fn remove_service(call: Call<'_>) -> ToolResult {
    serde_json::to_value(service::remove(&call.context(), call.parse()?).await?).map_err(internal)
}

/// Applies a manifest. Returns its service's id, and the service as it was before if it was there.
pub(super) async fn apply(call: Call<'_>, manifest: &Value) -> Result<(ServiceId, Option<Arc<ServiceView>>), Fault> {
    let services = &call.host.services;
    let known = services.list();
    let view = services.apply(manifest).await.map_err(fault::service)?;
    let before = known.into_iter().find(|known| known.id == view.id);
    Ok((view.id.clone(), before))
}

/// Puts a service back that was replaced: its manifest, and whether it runs.
pub(super) async fn restore(call: Call<'_>, before: &ServiceView) -> Result<(), Fault> {
    let services = &call.host.services;
    let manifest = serde_json::to_value(&before.stored.manifest).map_err(internal)?;
    let view = services.apply(&manifest).await.map_err(fault::service)?;
    let runs = |view: &ServiceView| view.life.lifecycle == Lifecycle::Running;
    let changed = match (runs(before), runs(&view)) {
        (true, false) => services.start_service(&view.id).await,
        (false, true) => services.stop_service(&view.id).await,
        _ => return Ok(()),
    };
    changed.map(drop).map_err(fault::service)
}

/// Starts a service that was applied, and says in the words of seed 003 what has come of it.
pub(super) async fn start_applied(
    call: Call<'_>,
    id: &ServiceId,
    start_now: bool,
    introspect: bool,
) -> Result<Map<String, Value>, Fault> {
    let services = &call.host.services;
    let mut view = services.get(id).map_err(fault::service)?;
    let is_running = view.life.lifecycle == Lifecycle::Running;
    let started = match (start_now, is_running) {
        (true, false) => Some(services.start_service(id).await),
        // What runs may have a new artifact.
        (true, true) if introspect => Some(services.introspect(id).await),
        _ => None,
    };
    match started {
        Some(Ok(started)) => view = started,
        // A disabled service is applied all the same.
        Some(Err(ServiceError::Disabled(_))) | None => {}
        Some(Err(error)) => return Err(fault::service(error)),
    }
    let summary = serde_json::to_value(summarize(&view)).map_err(internal)?;
    Ok(Map::from_iter([
        ("service".to_owned(), summary),
        ("started".to_owned(), (view.life.lifecycle == Lifecycle::Running).into()),
        ("introspected".to_owned(), (introspect && view.interface.is_some()).into()),
    ]))
}
