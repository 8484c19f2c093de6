//! The methods for services of the MCP gateway, and for the record of what happened to them (seed 003). Results are
//! written as that seed's clients read them.

use roost_model::ids::ServiceId;
use roost_model::secret::Secret;
use roost_model::service::manifest::{CallLimits, Manifest, RestartPolicy, ServiceType};
use roost_model::service::{Health, Lifecycle};
use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

params! {
    /// Parameters of methods about one service.
    ServiceParams {
        /// Id of the service: `svc_` and 12 hex digits.
        service_id: String,
        ;
    }
}

wire! {
    /// A service in short.
    #[serde(rename_all = "camelCase")]
    ServiceSummary {
        /// Id of the service.
        service_id: ServiceId,
        /// Name for people; absent if none was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        display_name: Option<String>,
        /// The name that its tools begin with.
        namespace: String,
        /// Where it comes from: a source file, or the endpoint of a remote service.
        source_file: String,
        /// The module's name, from its manifest.
        module: String,
        /// Whether it offers tools only or is an agent, too.
        service_type: ServiceType,
        /// The description of an agent; absent for others.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Map<String, Value>>,
        /// `local_wasm`, `remote_mcp` or `stdio_mcp`.
        origin_type: String,
        /// Where it is in its life.
        lifecycle: Lifecycle,
        /// What the last look at it found.
        health: Health,
        /// Seconds since it runs; 0 if it does not.
        uptime_seconds: u64,
        /// How often it was started again by itself since somebody started it.
        restart_count: u32,
        /// Why it last failed; absent if it runs well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_error: Option<String>,
        /// When it is tried again by itself; absent if it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_attempt_at: Option<Timestamp>,
        /// What happens when it ends, and what a call may take.
        policy: ServicePolicy,
        /// What it offers in numbers; absent until it was listed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interface: Option<InterfaceSummary>,
    }
}

wire! {
    /// What happens when a service ends, and what a call may take.
    ServicePolicy {
        /// What happens when it ends unexpectedly.
        restart: RestartPolicy,
        /// What a call may take; absent for a wasm module.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remote: Option<CallLimits>,
    }
}

wire! {
    /// What a service offers in numbers.
    #[serde(rename_all = "camelCase")]
    InterfaceSummary {
        /// Names the interface: the same for the same definitions.
        interface_revision: String,
        /// When it was listed.
        introspected_at: Timestamp,
        /// Number of tools.
        tools: u64,
        /// Number of tools that are held back until somebody approves them.
        held_back: u64,
        /// Number of resources.
        resources: u64,
        /// Number of prompts.
        prompts: u64,
    }
}

wire! {
    /// Result of `service/list`.
    ServiceListResult {
        /// The services, ordered by namespace.
        items: Vec<ServiceSummary>,
    }
}

wire! {
    /// Result of the methods that answer with one service.
    ServiceResult {
        /// Everything about it.
        service: ServiceRecord,
        /// What of an applied manifest has no effect here; absent if everything has.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
    }
}

wire! {
    /// Everything about a service. Values of variables in its manifest are shown to callers with the scope `admin` only.
    #[serde(rename_all = "camelCase")]
    ServiceRecord {
        /// Id of the service.
        service_id: ServiceId,
        /// 1 for the first manifest, one more for each further one.
        version: u64,
        /// What was applied last.
        manifest: Manifest,
        /// How it is now.
        runtime: ServiceRuntime,
        /// What it offers; absent until it was listed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interface_snapshot: Option<ServiceInterface>,
        /// The tools that are held back until somebody approves them.
        held_back: Vec<HeldBackTool>,
    }
}

wire! {
    /// How a service is now.
    #[serde(rename_all = "camelCase")]
    ServiceRuntime {
        /// Where it is in its life.
        lifecycle: Lifecycle,
        /// What the last look at it found.
        health: Health,
        /// Whether it may be started.
        enabled: bool,
        /// Whether it starts with the daemon.
        autostart: bool,
        /// Seconds since it runs; 0 if it does not.
        uptime_seconds: u64,
        /// How often it was started again by itself since somebody started it.
        restart_count: u32,
        /// What is being done to start it; absent unless it starts and that takes its time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        progress: Option<String>,
        /// Why it last failed; absent if it runs well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_error: Option<String>,
        /// When it last answered; absent if it never did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_heartbeat_at: Option<Timestamp>,
        /// When it is tried again by itself; absent if it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_attempt_at: Option<Timestamp>,
    }
}

words! {
    /// Why a tool is held back.
    HeldBackReason {
        /// Nobody has approved it yet.
        New,
        /// It has changed since it was approved.
        Changed,
    }
}

wire! {
    /// A tool that is held back.
    HeldBackTool {
        /// Its name, as the service knows it.
        tool: String,
        /// Why it is held back.
        state: HeldBackReason,
        /// What was approved; absent for a new one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approved: Option<Map<String, Value>>,
        /// What it is now.
        current: Map<String, Value>,
    }
}

wire! {
    /// What a service offers.
    #[serde(rename_all = "camelCase")]
    ServiceInterface {
        /// Id of the service.
        service_id: ServiceId,
        /// Names the interface; absent until it was listed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interface_revision: Option<String>,
        /// When it was listed; absent until then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        introspected_at: Option<Timestamp>,
        /// The tools as the service defines them.
        tools: Vec<Value>,
        /// The resources as the service defines them.
        resources: Vec<Value>,
        /// The templates of addresses as the service defines them.
        resource_templates: Vec<Value>,
        /// The prompts as the service defines them.
        prompts: Vec<Value>,
        /// What is odd about it, for people.
        problems: Vec<String>,
    }
}

wire! {
    /// What a service offers, listed just now.
    ServiceIntrospectResult {
        /// What it offers.
        interface: ServiceInterface,
    }
}

params! {
    /// Parameters of `service/logs`.
    ServiceLogsParams {
        /// Id of the service.
        service_id: String,
        ;
        /// Most lines to return, 1 to 2000; 200 if absent.
        limit: u32,
        /// Only lines after the one of this number, which is `last` of an earlier answer; 0 if absent.
        after: u64,
        /// True waits up to 25 seconds for a line after `after`; false if absent.
        follow: bool,
    }
}

wire! {
    /// Lines of a service's log.
    #[serde(rename_all = "camelCase")]
    ServiceLogsResult {
        /// Id of the service.
        service_id: ServiceId,
        /// The lines as `[time] text`, the oldest first.
        lines: Vec<String>,
        /// The number of the newest line, to go on after it.
        last: u64,
    }
}

params! {
    /// Parameters of `service/events`.
    ServiceEventsParams {
        /// Id of the service.
        service_id: String,
        ;
        /// Most records to return, 1 to 2000; 200 if absent.
        limit: u32,
    }
}

wire! {
    /// What happened to a service.
    #[serde(rename_all = "camelCase")]
    ServiceEventsResult {
        /// Id of the service.
        service_id: ServiceId,
        /// The records, the oldest first.
        items: Vec<AuditRecord>,
    }
}

params! {
    /// Parameters of `service/details`.
    ServiceDetailsParams {
        /// Id of the service.
        service_id: String,
        ;
        /// Most lines of its log, 1 to 2000; 50 if absent.
        log_limit: u32,
        /// Most records, 1 to 2000; 100 if absent.
        event_limit: u32,
        /// Most calls, 1 to 2000; 20 if absent.
        call_limit: u32,
    }
}

wire! {
    /// A service from every side.
    #[serde(rename_all = "camelCase")]
    ServiceDetails {
        /// Id of the service.
        service_id: ServiceId,
        /// The service in short.
        summary: ServiceSummary,
        /// Everything about it.
        service: ServiceRecord,
        /// What it offers.
        interface: ServiceInterface,
        /// The last lines of its log.
        logs: Vec<String>,
        /// What happened to it last.
        events: Vec<AuditRecord>,
        /// Its last calls.
        recent_calls: Vec<RecentCall>,
    }
}

wire! {
    /// A call of one of a service's tools.
    RecentCall {
        /// When it ended.
        at: Timestamp,
        /// What happened, for people.
        message: String,
        /// The tool, whether it succeeded, and more; never its arguments.
        data: Map<String, Value>,
    }
}

params! {
    /// Parameters of `service/apply`.
    ServiceApplyParams {
        /// The manifest, as `schemas/mcp-service-v1.schema.json` has it.
        manifest: Map<String, Value>,
        ;
    }
}

params! {
    /// Parameters of `service/approve`.
    ServiceApproveParams {
        /// Id of the service.
        service_id: String,
        ;
        /// Names of the tools, as the service knows them; all that are held back if absent.
        tools: Vec<String>,
        /// The `interfaceRevision` that was looked at: refused if the service offers something else by now. What is offered
        /// now if absent.
        revision: String,
    }
}

params! {
    /// Parameters of `service/login`.
    ServiceLoginParams {
        /// Id of the service.
        service_id: String,
        /// Where the browser is sent when its person has agreed: an address on the person's own machine.
        redirect_uri: String,
        ;
        /// The client that was registered by hand at the service's login; else Roost registers itself.
        client_id: String,
        /// The secret of that client, if it has one.
        client_secret: Secret,
        /// The address of a document that describes this client, for logins that read it instead of a registration. Not
        /// beside `client_id`.
        client_metadata_url: String,
        /// The rights that are asked for; what the service wants if absent.
        scopes: Vec<String>,
    }
}

wire! {
    /// A login that waits for its person.
    #[serde(rename_all = "camelCase")]
    ServiceLogin {
        /// Names it in `service/login/finish`.
        login_id: String,
        /// The address that the person opens in a browser.
        url: String,
    }
}

params! {
    /// Parameters of `service/login/finish`.
    ServiceLoginFinishParams {
        /// Id of the service.
        service_id: String,
        /// The id that `service/login` gave.
        login_id: String,
        /// The whole address to which the browser was sent back.
        redirected_to: String,
        ;
    }
}

params! {
    /// Parameters of `service/remove`.
    ServiceRemoveParams {
        /// Id of the service.
        service_id: String,
        ;
        /// Whether its compiled module is deleted, too, if it lies in a `.clarity/build` folder below the daemon's; no if
        /// absent.
        cleanup_artifacts: bool,
    }
}

wire! {
    /// A service is gone.
    #[serde(rename_all = "camelCase")]
    ServiceRemoved {
        /// Always true; a failure is an error.
        removed: bool,
        /// Whether its compiled module was deleted.
        artifact_removed: bool,
        /// The id that it had.
        service_id: ServiceId,
    }
}

words! {
    /// How much a record matters.
    AuditLevel {
        /// It went as intended.
        Info,
        /// Somebody may want to look.
        Warn,
        /// Something failed, or could not be done.
        Error,
    }
}

wire! {
    /// One thing that happened at the gateway.
    #[serde(rename_all = "camelCase")]
    AuditRecord {
        /// Its number: later ones have greater ones, also after a restart.
        seq: u64,
        /// When it happened.
        at: Timestamp,
        /// What happened, such as `service.started` or `mcp.tool_called`.
        kind: String,
        /// The service that it is about; absent if it is about none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        service_id: Option<ServiceId>,
        /// How much it matters.
        level: AuditLevel,
        /// What happened, for people.
        message: String,
        /// More about it.
        data: Map<String, Value>,
    }
}

params! {
    /// Parameters of `audit/list`.
    #[derive(Default)]
    AuditListParams {
        ;
        /// Most records to return, 1 to 2000; 200 if absent.
        limit: u32,
        /// The records that follow this event, the `last` of an earlier answer; without it, the newest ones.
        after: u64,
    }
}

wire! {
    /// What happened at the gateway.
    AuditListResult {
        /// The records, the oldest first.
        items: Vec<AuditRecord>,
        /// The number of the event up to which these are all: with it as `after`, no record is missed.
        last: u64,
    }
}

wire! {
    /// How the gateway and its services are (seed 003).
    #[serde(rename_all = "camelCase")]
    GatewayStatus {
        /// This run of the daemon.
        runtime: RuntimeProcess,
        /// The gateway's endpoint.
        gateway: GatewayEndpoint,
        /// The gateway's own tools.
        system_tools: SystemTools,
        /// The services in numbers.
        summary: ServiceCounts,
        /// The runs of agents in numbers, those of hosted sessions included.
        agents: RunCounts,
        /// The services in short.
        services: Vec<ServiceSummary>,
        /// When this was put together.
        last_updated: Timestamp,
    }
}

wire! {
    /// This run of the daemon.
    #[serde(rename_all = "camelCase")]
    RuntimeProcess {
        /// Version of Roost.
        version: String,
        /// The id of the daemon's process.
        pid: u32,
        /// Seconds since it started.
        uptime_seconds: u64,
    }
}

wire! {
    /// The gateway's own tools, all together and by namespace.
    SystemTools {
        /// How many there are.
        count: u64,
        /// All of them, under the names that clients call.
        items: Vec<SystemTool>,
        /// Those named `runtime__*`.
        runtime: SystemToolGroup,
        /// Those named `clarity__*`.
        clarity: SystemToolGroup,
    }
}

wire! {
    /// The gateway's own tools of one namespace.
    SystemToolGroup {
        /// How many there are.
        count: u64,
        /// Each of them.
        items: Vec<SystemTool>,
    }
}

wire! {
    /// A tool of the gateway itself.
    SystemTool {
        /// The name that clients call.
        name: String,
        /// What it does.
        description: String,
    }
}

wire! {
    /// Runs of agents in numbers.
    #[derive(Default)]
    #[serde(rename_all = "camelCase")]
    RunCounts {
        /// All of them that are kept.
        total_runs: u64,
        /// Those whose agent works.
        running: u64,
        /// Those whose agent waits for somebody or something.
        waiting: u64,
        /// Those that ended well.
        completed: u64,
        /// Those that ended with an error.
        failed: u64,
        /// Those that somebody ended.
        cancelled: u64,
    }
}

wire! {
    /// The gateway's endpoint.
    #[serde(rename_all = "camelCase")]
    GatewayEndpoint {
        /// The address that is listened on; absent if only the local socket is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        listen: Option<String>,
        /// The path of the endpoint.
        mcp_path: String,
        /// Whether every enabled service that starts with the daemon can be used.
        healthy: bool,
        /// The namespaces of those that cannot, or that do not answer as they should.
        degraded: Vec<String>,
    }
}

wire! {
    /// Services in numbers.
    #[derive(Default)]
    #[serde(rename_all = "camelCase")]
    ServiceCounts {
        /// All of them.
        total: u64,
        /// Those that offer tools only.
        mcp_services: u64,
        /// Those that are agents.
        agent_services: u64,
        /// Those that run.
        running: u64,
        /// Those that run and offer tools only.
        running_mcp: u64,
        /// Those that run and are agents.
        running_agent: u64,
        /// Those that run badly, or crashed.
        degraded: u64,
        /// Those that are stopped or were never started.
        stopped: u64,
        /// Those that are quarantined.
        quarantined: u64,
        /// Those that run on this machine, as programs or modules.
        local: u64,
        /// Those that are elsewhere.
        remote: u64,
        /// Those here that offer tools only.
        local_mcp: u64,
        /// Those elsewhere that offer tools only.
        remote_mcp: u64,
        /// Those here that are agents.
        local_agent: u64,
        /// Those elsewhere that are agents.
        remote_agent: u64,
    }
}
