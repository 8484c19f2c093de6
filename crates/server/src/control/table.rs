//! The one table of the gateway's own tools.

use roost_rpc::SystemTool;
use serde_json::{Value, json};

use super::schema::{Member, SERVICE, flag, no_arguments, number, object, of_service, result, text};
use super::{Handler, bootstrap_app, clarity, observing, provisioning, secrets, services};

/// Who may call a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// Everybody who may use tools, hosted agents included.
    Everyone,
    /// Devices with the scope `admin`, and the user at the local socket.
    Admins,
}

/// What a tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It changes nothing.
    Reads,
    /// It changes something that can be changed back.
    Changes,
    /// It may destroy something.
    Destroys,
}

impl Effect {
    /// What clients are told of it.
    pub(super) fn annotations(self) -> Value {
        json!({
            "readOnlyHint": self == Self::Reads,
            "destructiveHint": self == Self::Destroys,
            "idempotentHint": self == Self::Reads,
            "openWorldHint": false,
        })
    }
}

/// Makes the schema of a tool's arguments or of its result.
pub(super) type MakeSchema = fn() -> Value;

/// One of the gateway's own tools.
pub(super) struct ControlTool {
    pub(super) namespace: &'static str,
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) who: Who,
    pub(super) effect: Effect,
    /// It is there only where `CLARITY_ENABLE_MCP_PROVISIONING` is set.
    pub(super) is_gated: bool,
    pub(super) input: MakeSchema,
    pub(super) output: MakeSchema,
    pub(super) run: Handler,
}

pub(super) const RUNTIME: &str = "runtime";
pub(super) const CLARITY: &str = "clarity";

impl ControlTool {
    /// The name that clients call, and what the tool does.
    pub(super) fn in_short(&self) -> SystemTool {
        SystemTool { name: format!("{}__{}", self.namespace, self.name), description: self.description.into() }
    }
}

const fn tool(
    namespace: &'static str,
    name: &'static str,
    (who, effect): (Who, Effect),
    description: &'static str,
    (input, output): (MakeSchema, MakeSchema),
    run: Handler,
) -> ControlTool {
    ControlTool { namespace, name, description, who, effect, is_gated: false, input, output, run }
}

const fn gated(tool: ControlTool) -> ControlTool {
    ControlTool { is_gated: true, ..tool }
}

const READS: (Who, Effect) = (Who::Everyone, Effect::Reads);
/// Everyone may call it, and only reads by it: what it changes is refused to others than admins in the tool itself.
const CHANGES_FOR_ADMINS: (Who, Effect) = (Who::Everyone, Effect::Changes);
const READS_SECRETS: (Who, Effect) = (Who::Admins, Effect::Reads);
const CHANGES: (Who, Effect) = (Who::Admins, Effect::Changes);
const DESTROYS: (Who, Effect) = (Who::Admins, Effect::Destroys);

fn one_service() -> Value {
    result(&[("service", Member::Object)])
}

fn items() -> Value {
    result(&[("items", Member::Objects)])
}

fn limited(most: u64, default: u64) -> Value {
    object(&[("limit", number("How many at most", 1, most, default))], &[])
}

#[rustfmt::skip]
pub(super) const TABLE: &[ControlTool] = &[
    tool(RUNTIME, "status_summary", READS, "Counts the services by state and kind.",
        (no_arguments, services::counts_schema), |call| Box::pin(services::status_summary(call))),
    tool(RUNTIME, "list_services", READS, "Lists every service with its state, health and what it offers.",
        (no_arguments, || result(&[("services", Member::Objects)])), |call| Box::pin(services::list_services(call))),
    tool(RUNTIME, "get_service", READS, "Shows the whole record of a service: manifest, state and interface.",
        (of_service, one_service), |call| Box::pin(services::get_service(call))),
    tool(RUNTIME, "get_logs", READS, "Shows the last lines of a service's log.",
        (|| object(&[("service_id", text(SERVICE)), ("limit", number("How many lines", 1, 1000, 200))], &["service_id"]),
         || result(&[("service_id", Member::Text), ("lines", Member::Texts)])),
        |call| Box::pin(services::get_logs(call))),
    tool(RUNTIME, "start_service", CHANGES, "Starts a service and waits until it runs or has failed.",
        (of_service, one_service), |call| Box::pin(services::start_service(call))),
    tool(RUNTIME, "stop_service", CHANGES, "Stops a service.",
        (of_service, one_service), |call| Box::pin(services::stop_service(call))),
    tool(RUNTIME, "restart_service", CHANGES, "Stops a service if it runs, and starts it.",
        (of_service, one_service), |call| Box::pin(services::restart_service(call))),
    tool(RUNTIME, "refresh_interface", CHANGES, "Lists again what a running service offers; a module is loaded anew if its file changed.",
        (of_service, || result(&[("service_id", Member::Text), ("interface", Member::Object)])),
        |call| Box::pin(services::refresh_interface(call))),
    tool(RUNTIME, "unquarantine_service", CHANGES, "Lets a quarantined service be started again.",
        (of_service, one_service), |call| Box::pin(services::unquarantine_service(call))),
    tool(RUNTIME, "remove_service", DESTROYS, "Stops a service and forgets it, its approvals included.",
        (|| object(&[("service_id", text(SERVICE)),
            ("cleanup_artifacts", flag("Whether a module in a .clarity/build folder of ours is deleted, too", false))], &["service_id"]),
         || result(&[("removed", Member::Flag), ("artifactRemoved", Member::Flag), ("serviceId", Member::Text)])),
        |call| Box::pin(services::remove_service(call))),
    tool(RUNTIME, "get_audit", READS, "Shows the last records of what happened at the gateway; an agent sees those of its own calls.",
        (|| limited(2000, 200), items), |call| Box::pin(observing::get_audit(call))),
    tool(RUNTIME, "get_agent_runs", READS, "Shows the runs of agents that changed last; an agent sees its own.",
        (|| limited(1000, 100), items), |call| Box::pin(observing::get_agent_runs(call))),
    tool(RUNTIME, "get_agent_events", READS, "Shows the last events of agent runs, of all or of one; an agent sees those of its own.",
        (|| object(&[("limit", number("How many events", 1, 2000, 200)), ("run_id", text("The run, as runtime__get_agent_runs has it"))], &[]),
         items), |call| Box::pin(observing::get_agent_events(call))),
    tool(RUNTIME, "validate_auth_ref", READS_SECRETS, "Says whether a reference to a secret can be used now. Never shows the secret.",
        (secrets::of_reference, || result(&[("authRef", Member::Text), ("provider", Member::TextOrNull), ("target", Member::Text),
            ("redactedTarget", Member::Text), ("valid", Member::Flag), ("issues", Member::Texts), ("headerKeys", Member::Texts), ("source", Member::Text)])),
        |call| Box::pin(secrets::validate_auth_ref(call))),
    tool(RUNTIME, "auth_provider_health", READS_SECRETS, "Names the forms of references to secrets, and the folder of the files.",
        (no_arguments, || result(&[("providers", Member::Objects), ("fileRoot", Member::Text), ("fileRootExists", Member::Flag)])),
        |call| Box::pin(secrets::auth_provider_health(call))),
    tool(RUNTIME, "list_auth_secrets", READS_SECRETS, "Lists the secrets that are kept in files, by their references.",
        (no_arguments, || result(&[("count", Member::Count), ("items", Member::Objects)])),
        |call| Box::pin(secrets::list_auth_secrets(call))),
    tool(RUNTIME, "set_auth_secret", DESTROYS, "Keeps a secret in the file that a file: reference names; one that is there is replaced.",
        (|| object(&[("auth_ref", text("file: and a path below the folder of secrets")), ("secret", text("The secret, one line of text"))], &["auth_ref", "secret"]),
         || result(&[("authRef", Member::Text), ("provider", Member::Text), ("path", Member::Text), ("written", Member::Flag)])),
        |call| Box::pin(secrets::set_auth_secret(call))),
    tool(RUNTIME, "delete_auth_secret", DESTROYS, "Deletes the file that a file: reference names.",
        (secrets::of_reference, || result(&[("authRef", Member::Text), ("provider", Member::Text), ("path", Member::Text), ("deleted", Member::Flag)])),
        |call| Box::pin(secrets::delete_auth_secret(call))),
    tool(CLARITY, "help", READS, "Explains Clarity, a small language that compiles to wasm, and how its modules become services.",
        (clarity::help_input, || result(&[("topic", Member::Text), ("details", Member::Text), ("all_topics", Member::Texts)])),
        |call| Box::pin(clarity::help(call))),
    tool(CLARITY, "sources", READS, "Finds the Clarity sources in the working folder: an agent's own, else the daemon's.",
        (clarity::sources_input, || result(&[("workspace", Member::Text), ("dir", Member::Text), ("total_found", Member::Count), ("returned", Member::Count), ("items", Member::Objects)])),
        |call| Box::pin(clarity::sources(call))),
    tool(CLARITY, "project_structure", READS, "Shows the files of a new Clarity project. Writes nothing.",
        (clarity::structure_input, || result(&[("guidance", Member::Text), ("tree", Member::Texts), ("files", Member::Objects)])),
        |call| Box::pin(clarity::project_structure(call))),
    tool(CLARITY, "ensure_compiler", CHANGES_FOR_ADMINS, "Says whether the daemon's Clarity compiler is there, and which version. With `auto_install`, admins have it installed if it is missing.",
        (clarity::compiler_input, || result(&[("compiler_bin", Member::Text), ("available", Member::Flag), ("installed", Member::Flag),
            ("version", Member::OptionalText), ("error", Member::OptionalText), ("next_steps", Member::OptionalTexts)])),
        |call| Box::pin(clarity::ensure_compiler(call))),
    tool(CLARITY, "bootstrap_app", DESTROYS, "Writes a new Clarity project, compiles it and registers its module as a service; all of it or nothing. With `overwrite`, files that are there are replaced.",
        (bootstrap_app::input, || result(&[("project_name", Member::Text), ("module_name", Member::Text), ("path", Member::Text), ("artifact", Member::Text),
            ("files_written", Member::Texts), ("files_unchanged", Member::Texts), ("idempotent", Member::Flag), ("service", Member::ObjectOrNull),
            ("started", Member::Flag), ("introspected", Member::Flag)])),
        |call| Box::pin(bootstrap_app::run(call))),
    gated(tool(RUNTIME, "register_local", CHANGES, "Registers a wasm module as a service.",
        (provisioning::local_input, provisioning::registered), |call| Box::pin(provisioning::register_local(call)))),
    gated(tool(RUNTIME, "register_remote", CHANGES, "Registers a remote MCP server as a service.",
        (|| provisioning::remote_input("endpoint"), provisioning::registered), |call| Box::pin(provisioning::register_remote(call)))),
    gated(tool(RUNTIME, "register_via_url", CHANGES, "Registers a remote MCP server by its address.",
        (|| provisioning::remote_input("url"), provisioning::registered), |call| Box::pin(provisioning::register_via_url(call)))),
    gated(tool(RUNTIME, "apply_manifest", CHANGES, "Applies the manifest of a service.",
        (provisioning::manifest_input, || result(&[("service", Member::Object), ("applied", Member::Flag), ("started", Member::Flag), ("introspected", Member::Flag)])),
        |call| Box::pin(provisioning::apply_manifest(call)))),
];
