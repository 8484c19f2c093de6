//! Services in short, and all of them in numbers.

use std::sync::Arc;

use roost_gateway::runs::RunsError;
use roost_gateway::services::ServiceView;
use roost_gateway::shown_manifest::without_url_secrets;
use roost_model::run::RunStatus;
use roost_model::service::manifest::{ServiceOrigin, ServiceType};
use roost_model::service::{Health, Lifecycle};
use roost_model::time::Timestamp;
use roost_rpc::{
    GatewayEndpoint, GatewayStatus, InterfaceSummary, RunCounts, RuntimeProcess, ServiceCounts, ServicePolicy,
    ServiceSummary,
};

use crate::control;
use crate::host::Host;

/// How the gateway, its services and the runs of agents are.
pub(crate) async fn gateway_status(host: &Host) -> Result<GatewayStatus, RunsError> {
    let agents = count_runs(host.runs.statuses().await?);
    let views = host.services.list();
    let summary = count_services(&views);
    let is_degraded = |view: &&ServiceView| {
        let (spec, life) = (&view.stored.manifest.spec, &view.life);
        spec.enabled && spec.autostart && (life.lifecycle, life.health) != (Lifecycle::Running, Health::Healthy)
    };
    let degraded = views.iter().map(|view| &**view).filter(is_degraded);
    let mut degraded: Vec<_> = degraded.map(|view| view.stored.namespace().as_str().to_owned()).collect();
    degraded.sort();
    Ok(GatewayStatus {
        runtime: RuntimeProcess {
            version: host.daemon.version.clone(),
            pid: std::process::id(),
            uptime_seconds: host.daemon.uptime_seconds(),
        },
        gateway: GatewayEndpoint {
            listen: host.auth.endpoint.address.map(|address| address.to_string()),
            mcp_path: "/mcp".into(),
            healthy: degraded.is_empty(),
            degraded,
        },
        system_tools: control::system_tools(host),
        summary,
        agents,
        services: views.iter().map(|view| summarize(view)).collect(),
        last_updated: Timestamp::now(),
    })
}

/// The services in numbers.
pub(crate) fn count_services(views: &[Arc<ServiceView>]) -> ServiceCounts {
    let mut summary = ServiceCounts::default();
    views.iter().for_each(|view| count(&mut summary, view));
    summary
}

fn count_runs(statuses: Vec<RunStatus>) -> RunCounts {
    let mut counts = RunCounts::default();
    for status in statuses {
        counts.total_runs += 1;
        match status {
            RunStatus::Queued => {}
            RunStatus::Running => counts.running += 1,
            RunStatus::Waiting => counts.waiting += 1,
            RunStatus::Completed => counts.completed += 1,
            RunStatus::Failed => counts.failed += 1,
            RunStatus::Cancelled => counts.cancelled += 1,
        }
    }
    counts
}

fn count(counts: &mut ServiceCounts, view: &ServiceView) {
    let is_remote = matches!(view.stored.manifest.spec.origin, ServiceOrigin::RemoteMcp { .. });
    let is_agent = view.stored.manifest.metadata.service_type == ServiceType::Agent;
    let is_running = view.life.lifecycle == Lifecycle::Running;
    let is_degraded = match view.life.lifecycle {
        Lifecycle::Crashed => true,
        Lifecycle::Running => view.life.health != Health::Healthy,
        _ => false,
    };
    let is_stopped = matches!(view.life.lifecycle, Lifecycle::Stopped | Lifecycle::Registered);
    for (counter, counts_here) in [
        (&mut counts.total, true),
        (&mut counts.mcp_services, !is_agent),
        (&mut counts.agent_services, is_agent),
        (&mut counts.running, is_running),
        (&mut counts.running_mcp, is_running && !is_agent),
        (&mut counts.running_agent, is_running && is_agent),
        (&mut counts.degraded, is_degraded),
        (&mut counts.stopped, is_stopped),
        (&mut counts.quarantined, view.life.lifecycle == Lifecycle::Quarantined),
        (&mut counts.local, !is_remote),
        (&mut counts.remote, is_remote),
        (&mut counts.local_mcp, !is_remote && !is_agent),
        (&mut counts.remote_mcp, is_remote && !is_agent),
        (&mut counts.local_agent, !is_remote && is_agent),
        (&mut counts.remote_agent, is_remote && is_agent),
    ] {
        *counter += u64::from(counts_here);
    }
}

/// A service in short.
pub(crate) fn summarize(view: &ServiceView) -> ServiceSummary {
    let (metadata, spec, life) = (&view.stored.manifest.metadata, &view.stored.manifest.spec, &view.life);
    let origin_type = match spec.origin {
        ServiceOrigin::LocalWasm { .. } => "local_wasm",
        ServiceOrigin::RemoteMcp { .. } => "remote_mcp",
        ServiceOrigin::StdioMcp { .. } => "stdio_mcp",
    };
    let interface = view.interface.as_ref().map(|interface| InterfaceSummary {
        interface_revision: interface.revision.clone(),
        introspected_at: interface.listed_at,
        tools: interface.tools.len() as u64,
        held_back: view.tools.iter().filter(|tool| tool.is_held_back()).count() as u64,
        resources: interface.resources.len() as u64,
        prompts: interface.prompts.len() as u64,
    });
    ServiceSummary {
        service_id: view.id.clone(),
        display_name: metadata.display_name.clone(),
        namespace: view.stored.namespace().as_str().to_owned(),
        source_file: without_url_secrets(&metadata.source_file).into_owned(),
        module: metadata.module.clone(),
        service_type: metadata.service_type,
        agent: metadata.agent.clone(),
        origin_type: origin_type.into(),
        lifecycle: life.lifecycle,
        health: life.health,
        uptime_seconds: uptime(view),
        restart_count: life.restart_count,
        last_error: life.last_error.clone(),
        next_attempt_at: life.next_attempt,
        policy: ServicePolicy { restart: spec.restart_policy, remote: spec.origin.limits().cloned() },
        interface,
    }
}

/// Seconds since the service runs.
pub(super) fn uptime(view: &ServiceView) -> u64 {
    let since = view.running_since.map_or(0, |since| Timestamp::now().as_millis() - since.as_millis());
    u64::try_from(since / 1000).unwrap_or_default()
}
