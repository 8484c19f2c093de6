//! `bootstrap/*`: registers the gateway in other programs of this machine.

use roost_gateway::bootstrap::{Bootstrap, Carry, ClientProgram, FileOutcome, Reach};
use roost_rpc::{
    AgentsMdOutcome, BootstrapClient, BootstrapOutcome, BootstrapParams, BootstrapRemoveParams, BootstrapRemoveResult,
    BootstrapResult, BootstrapStatus, Fault, FaultCode, GatewayTransport, NoParams,
};

use crate::blocking::blocking;
use crate::dispatch::Context;

/// The programs that are meant where none is named, as clarity-runtime has it.
const DEFAULT_CLIENTS: [ClientProgram; 2] = [ClientProgram::Codex, ClientProgram::Claude];

pub(crate) async fn apply(context: &Context<'_>, params: BootstrapParams) -> Result<BootstrapResult, Fault> {
    let bootstrap = context.host.bootstrap.clone();
    let clients = named(params.clients.as_deref(), &DEFAULT_CLIENTS)?;
    let transport = params.transport.unwrap_or_default();
    let endpoint = match transport {
        GatewayTransport::Stdio => None,
        GatewayTransport::Http => Some(endpoint(context, params.endpoint)?),
    };
    let reach = match &endpoint {
        Some(endpoint) => Reach::Http { endpoint: endpoint.clone() },
        None => bootstrap.stdio(),
    };
    let (carry, tells_agents) = (carry(params.dry_run), params.update_agents_md.unwrap_or_default());
    let (results, agents_md) = blocking(move || {
        let register = |client: ClientProgram| shaped(client, bootstrap.register(client, &reach, carry), carry);
        let results = clients.into_iter().map(register).collect();
        (results, tells_agents.then(|| guided(&bootstrap, true, carry)))
    })
    .await?;
    Ok(BootstrapResult { transport, endpoint, agents_md: agents_md.transpose()?, results })
}

pub(crate) async fn remove(
    context: &Context<'_>,
    params: BootstrapRemoveParams,
) -> Result<BootstrapRemoveResult, Fault> {
    let bootstrap = context.host.bootstrap.clone();
    let clients = named(params.clients.as_deref(), &ClientProgram::ALL)?;
    let (carry, tells_agents) = (carry(params.dry_run), params.update_agents_md.unwrap_or_default());
    let (results, agents_md) = blocking(move || {
        let unregister = |client: ClientProgram| shaped(client, bootstrap.unregister(client, carry), carry);
        let results: Vec<_> = clients.into_iter().map(unregister).collect();
        (results, tells_agents.then(|| guided(&bootstrap, false, carry)))
    })
    .await?;
    let removed = carry == Carry::Out && results.iter().all(|result| result.error.is_none());
    Ok(BootstrapRemoveResult { removed, agents_md: agents_md.transpose()?, results })
}

pub(crate) async fn status(context: &Context<'_>, _: NoParams) -> Result<BootstrapStatus, Fault> {
    let bootstrap = context.host.bootstrap.clone();
    let clients = blocking(move || ClientProgram::ALL.map(|client| client_status(&bootstrap, client)).into()).await?;
    Ok(BootstrapStatus { clients })
}

fn named(names: Option<&[String]>, default: &[ClientProgram]) -> Result<Vec<ClientProgram>, Fault> {
    let Some(names) = names.filter(|names| !names.is_empty()) else { return Ok(default.to_vec()) };
    let known = || ClientProgram::ALL.map(ClientProgram::id).join(", ");
    let unknown = |name: &String| {
        let why = format!("\"{name}\" is no program that is known here; these are: {}", known());
        Fault::params(why).with("field", "clients")
    };
    names.iter().map(|name| ClientProgram::from_id(name).ok_or_else(|| unknown(name))).collect()
}

fn carry(dry_run: Option<bool>) -> Carry {
    if dry_run.unwrap_or_default() { Carry::DryRun } else { Carry::Out }
}

/// The address for programs that come over HTTP.
fn endpoint(context: &Context<'_>, given: Option<String>) -> Result<String, Fault> {
    let given = given.filter(|given| !given.trim().is_empty());
    let own = || context.host.auth.endpoint.local_url().map(|url| format!("{url}/mcp"));
    let is_web = |endpoint: &String| {
        let has_scheme = ["http://", "https://"].iter().any(|scheme| endpoint.starts_with(scheme));
        has_scheme && !endpoint.contains(|c: char| c.is_whitespace() || c.is_control())
    };
    let why = "give an address such as http://127.0.0.1:8766/mcp; a daemon without a TCP port has none of its own, so use \
               the transport stdio";
    given.or_else(own).filter(is_web).ok_or_else(|| Fault::params(why).with("field", "endpoint"))
}

fn shaped(client: ClientProgram, outcome: FileOutcome, carry: Carry) -> BootstrapOutcome {
    let FileOutcome { file, is_changed, diff, backup, error } = outcome;
    BootstrapOutcome {
        client: client.id().into(),
        updated: is_changed,
        path: file.display().to_string(),
        diff: (carry == Carry::DryRun && error.is_none()).then_some(diff),
        backup: backup.map(|backup| backup.display().to_string()),
        error,
    }
}

fn guided(bootstrap: &Bootstrap, is_wanted: bool, carry: Carry) -> Result<AgentsMdOutcome, Fault> {
    let no_project = || {
        let why = "the daemon was started for no folder, so there is no AGENTS.md; start it in one, or set server.repo";
        Fault::new(FaultCode::InvalidParams, why).with("field", "update_agents_md")
    };
    let FileOutcome { file, is_changed, diff, error, .. } = bootstrap.guide(is_wanted, carry).ok_or_else(no_project)?;
    let diff = (carry == Carry::DryRun && error.is_none()).then_some(diff);
    Ok(AgentsMdOutcome { updated: is_changed, path: file.display().to_string(), diff, error })
}

fn client_status(bootstrap: &Bootstrap, client: ClientProgram) -> BootstrapClient {
    let path = client.file(&bootstrap.folders);
    let mut status = BootstrapClient {
        client: client.id().into(),
        path: path.display().to_string(),
        present: path.exists(),
        configured: false,
        transport: None,
        endpoint: None,
        command: None,
        args: None,
        error: None,
    };
    match bootstrap.status(client).map(|registration| registration.reach) {
        Ok(None) => {}
        Ok(Some(Reach::Http { endpoint })) => {
            (status.configured, status.transport) = (true, Some(GatewayTransport::Http));
            status.endpoint = Some(endpoint);
        }
        Ok(Some(Reach::Stdio { command, args })) => {
            (status.configured, status.transport) = (true, Some(GatewayTransport::Stdio));
            (status.command, status.args) = (Some(command), Some(args));
        }
        Err(error) => status.error = Some(error.to_string()),
    }
    status
}
