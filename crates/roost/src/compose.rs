//! The composition root: builds the parts from the configuration and wires them.
//!
//! A daemon has all of it; commands talk to the daemon, and read the log by themselves where none runs.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use roost_adapters::AgentCommand;
use roost_adapters::acp::{AcpAdapter, PRESETS, preset};
use roost_adapters::{BUILT_IN, Setup, TrustedFiles, built_in};
use roost_cli::{StateDir, blocking, lock};
use roost_engine::session_client::SessionClient;
use roost_engine::{Engine, Environments, NativeHistory, Runtimes, SessionBudgets, WhenFull};
use roost_gateway::attachment::Attachment;
use roost_gateway::breaker::BreakerRules;
use roost_gateway::governance::{EngineGovernor, GovernanceOptions};
use roost_gateway::login_rows::LoginRows;
use roost_gateway::runs::{BudgetLimits, OnExceeded, RunBudgets};
use roost_gateway::services::{ServiceOptions, Services};
use roost_gateway::upstream::{
    AddressPolicy, Connector, ConnectorSettings, DefaultLimits, GatewayAccess, WasmSettings,
};
use roost_log::{Log, LogOptions, Retention, SqliteLog, StateLock, Synchronous};
use roost_model::mode::Mode;
use roost_model::runtime::RuntimeName;
use roost_policy::RuleSet;
use roost_process::{Environment, Holder, Isolation, Ladder, Raise, Wall, records};
use roost_server::SessionClients;

use crate::config::{self, Config, HideState};
use crate::error::Error;
use crate::modules;

/// The engine and its log in this process.
pub(crate) struct Roost {
    /// What clients do for the agents of sessions.
    pub(crate) clients: Arc<SessionClients>,
    /// The engine, which takes commands.
    pub(crate) engine: Arc<Engine>,
    /// The log that the engine writes and readers follow.
    pub(crate) log: Arc<dyn Log>,
    /// Judges and records the calls of the MCP gateway.
    pub(crate) governor: Arc<EngineGovernor>,
    /// The same for calls that agent services make of their own tools.
    pub(crate) agent_governor: Arc<EngineGovernor>,
    /// Attaches the gateway to the agents.
    pub(crate) attachment: Arc<Attachment>,
    /// The same log, for what only its owner does: retention, compaction and closing.
    pub(crate) store: SqliteLog,
}

impl Roost {
    /// Opens the log, recovers from what a crash may have left in the state directory, and starts the engine.
    pub(crate) async fn start(lock: StateLock, state: &StateDir, config: &Config) -> Result<Self, Error> {
        let options = LogOptions { synchronous: config.log.synchronous.into(), ..LogOptions::default() };
        let artifacts = state.artifacts();
        let store = blocking(move || {
            // There before the first agent starts, as agents see of the state directory only what was there by then. A
            // disk that is full is told of by whoever needs it.
            let _ = DirBuilder::new().recursive(true).mode(0o700).create(artifacts);
            Ok(SqliteLog::open(&lock, options)?)
        })
        .await?;
        let log: Arc<dyn Log> = Arc::new(store.clone());
        let clients = Arc::<SessionClients>::default();
        let mut engine_config = engine_config(state, config)?;
        let program = std::env::current_exe().map_err(roost_cli::Error::Start)?;
        let attachment = Arc::new(Attachment::new(program, state.dir().into()));
        if config.gateway.attach {
            let (servers, tools) = (attachment.clone(), attachment.clone());
            engine_config.mcp_servers = Arc::new(move |_, token| servers.servers(token));
            engine_config.tools_read = Arc::new(move |session| {
                let tools = tools.clone();
                Box::pin(async move { tools.tools_read(&session).await })
            });
        }
        let limits = budget_limits(&config.budgets, |name| std::env::var(name).ok());
        // One for all who ask, so that nothing is counted or raised twice.
        let budgets = RunBudgets::new(limits, log.clone());
        engine_config.budgets = budgets.clone().map(|budgets| budgets as Arc<dyn SessionBudgets>);
        let runtimes = runtimes_with(state, config, Some(clients.clone()))?;
        let engine = Arc::new(Engine::start(log.clone(), runtimes, engine_config).await?);
        let record_arguments = config.gateway.record_arguments;
        let options = GovernanceOptions { record_arguments, ..GovernanceOptions::default() };
        let governed = |options: GovernanceOptions| {
            Arc::new(EngineGovernor::new(engine.clone(), log.clone(), options).with_budgets(budgets.clone()))
        };
        // Whoever applied a manifest said what its agent does by itself; rules that deny it hold all the same.
        let agent_governor = governed(GovernanceOptions { client_mode: Mode::Yolo, unattended: true, ..options });
        let governor = governed(options);
        Ok(Self { clients, engine, log, governor, agent_governor, attachment, store })
    }

    /// Shuts the engine and its agents down.
    pub(crate) async fn end_sessions(&self) {
        self.engine.shutdown("roost ended").await;
    }

    /// Shuts down what is left, when nobody calls the gateway any more: records its last calls, closes the log and releases
    /// the state directory.
    pub(crate) async fn close(self) {
        self.end_sessions().await;
        self.governor.close().await;
        self.agent_governor.close().await;
        self.store.close().await;
    }
}

/// Starts the services of the MCP gateway; only a daemon has them.
pub(crate) async fn services(
    log: Arc<dyn Log>,
    state: &StateDir,
    config: &Config,
    modules: GatewayAccess,
) -> Result<Services, Error> {
    let connector = Arc::new(connector(log.clone(), state, config, modules::settings(state, config, modules))?);
    Ok(Services::start(log, connector, service_options(state, config), env!("CARGO_PKG_VERSION")).await?)
}

/// Connects to services: programs are held as agents are, and see as little.
fn connector(log: Arc<dyn Log>, state: &StateDir, config: &Config, wasm: WasmSettings) -> Result<Connector, Error> {
    let variable = |name: &str| std::env::var(name).ok();
    let settings = ConnectorSettings {
        holder: own_holder(state, config)?,
        environment: environment(),
        // Not the state directory, which is hidden from programs.
        work_dir: std::env::home_dir().filter(|home| home.is_dir()).unwrap_or_else(|| "/".into()),
        secrets: secrets_folder(state, config),
        variable: Arc::new(variable),
        logins: Arc::new(LoginRows(log)),
        limits: DefaultLimits::from_variables(variable),
        addresses: match &config.gateway.allowed_hosts {
            Some(hosts) => AddressPolicy::new(Some(hosts.clone())),
            None => AddressPolicy::from_variables(variable),
        },
        wasm,
    };
    Ok(Connector::new(settings)?)
}

/// What programs of services and compilers are started under.
pub(crate) fn own_holder(state: &StateDir, config: &Config) -> Result<Holder, Error> {
    let roost = std::env::current_exe().map_err(roost_cli::Error::Start)?;
    Ok(holder(&roost, state, wall(state, config.security.hide_state.raise())?))
}

/// The folder of secrets: the configured one, the one that the variable of clarity-runtime names, else one of our own.
pub(crate) fn secrets_folder(state: &StateDir, config: &Config) -> PathBuf {
    let named = || std::env::var_os("CLARITY_REMOTE_AUTH_FILE_ROOT").filter(|folder| !folder.is_empty());
    let configured = config.gateway.secrets.clone().or_else(|| named().map(PathBuf::from));
    configured.unwrap_or_else(|| state.dir().join("secrets"))
}

/// What a run may use up: as configured, else as the variables of clarity-runtime say.
fn budget_limits(budgets: &config::Budgets, variable: impl Fn(&str) -> Option<String>) -> BudgetLimits {
    fn positive<T: PartialOrd + Default + Copy + FromStr>(configured: T, variable: Option<String>) -> Option<T> {
        let is_limit = |amount: &T| *amount > T::default();
        Some(configured).filter(is_limit).or_else(|| variable?.trim().parse().ok().filter(is_limit))
    }
    BudgetLimits {
        calls: positive(budgets.calls, variable("CLARITY_BUDGET_MAX_TOOL_CALLS_PER_RUN")),
        tokens: positive(budgets.tokens, variable("CLARITY_BUDGET_MAX_TOTAL_TOKENS_PER_RUN")),
        cost_usd: positive(budgets.cost_usd, variable("CLARITY_BUDGET_MAX_TOTAL_COST_USD")),
        on_exceeded: match budgets.when_exceeded {
            config::WhenExceeded::Stop => OnExceeded::Deny,
            config::WhenExceeded::Ask => OnExceeded::Ask,
        },
    }
}

fn service_options(state: &StateDir, config: &Config) -> ServiceOptions {
    ServiceOptions {
        approve_new_tools: config.gateway.approve_new_tools,
        patience: DefaultLimits::from_variables(|name| std::env::var(name).ok()).timeout,
        probe_interval: Duration::from_secs(config.gateway.probe_seconds.get().into()),
        breaker: BreakerRules::from_variables(|name| std::env::var(name).ok()),
        logs: Some(state.dir().join("service-logs")),
    }
}

/// Opens the log for a command that only reads. If nobody holds the state directory, what a crash left is recovered
/// first; otherwise the log is read as the holder has written it. While an agent waits for the next daemon there is no
/// recovery either: it would take the agent over, and end it with the command.
pub(crate) async fn reader(state: &StateDir, config: &Config, command: &str) -> Result<Arc<dyn Log>, Error> {
    let dir = state.dir().to_owned();
    let log = blocking(move || Ok(SqliteLog::open_read_only(&dir)?)).await?;
    if records::any_adoptable(&state.run()).await {
        return Ok(Arc::new(log));
    }
    match lock(state, command).await {
        // Given back at once, so that following a log never keeps others from running something.
        Ok(lock) => Roost::start(lock, state, config).await?.close().await,
        Err(roost_cli::Error::Held { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(Arc::new(log))
}

/// The runtimes that are built in, and those that are configured, for commands that run no sessions.
pub(crate) fn runtimes(state: &StateDir, config: &Config) -> Result<Runtimes, Error> {
    runtimes_with(state, config, None)
}

/// The runtimes, with what clients do for the agents of their sessions.
fn runtimes_with(state: &StateDir, config: &Config, clients: Option<Arc<SessionClients>>) -> Result<Runtimes, Error> {
    let roost = std::env::current_exe().map_err(roost_cli::Error::Start)?;
    let holder = Arc::new(holder(&roost, state, wall(state, config.security.hide_state.raise())?));
    let mut runtimes = Runtimes::default();
    let settings = |id: &str| config.runtimes.get(id).cloned().unwrap_or_default();
    for one in BUILT_IN {
        let runtime = settings(one.id);
        let (command, holder) = (command(one.id, &runtime), holder.clone());
        let trusted = TrustedFiles::new(config.security.trusted_files.clone());
        let setup = Setup { command, config: runtime.config, url: runtime.url, trusted, holder };
        runtimes.register((one.adapter)(setup), runtime.status);
    }
    let configured = config.runtimes.keys().map(String::as_str).filter(|id| built_in(id).is_none());
    let unconfigured = PRESETS.iter().map(|preset| preset.id).filter(|id| !config.runtimes.contains_key(*id));
    for id in configured.chain(unconfigured) {
        let runtime = settings(id);
        let mut agent = acp_agent(id, &runtime, holder.clone());
        if let Some(clients) = &clients {
            agent = agent.with_client(clients.clone() as Arc<dyn SessionClient>);
        }
        runtimes.register(Arc::new(agent), runtime.status);
    }
    if let Some(default) = &config.default_runtime {
        runtimes.set_default(default);
    }
    Ok(runtimes)
}

/// An agent that speaks ACP: one that is known by its id, or whatever is configured.
fn acp_agent(id: &str, runtime: &config::Runtime, holder: Arc<Holder>) -> AcpAdapter {
    let Some(preset) = preset(id) else {
        let display_name = runtime.display_name.as_deref().unwrap_or(id);
        return AcpAdapter::new(RuntimeName::from_id(id), display_name, command(id, runtime), holder);
    };
    let mut command = command(preset.program, runtime);
    if runtime.command.is_none() {
        command.args.splice(0..0, preset.args.iter().map(Into::into));
    }
    let display_name = runtime.display_name.as_deref().unwrap_or(preset.display_name);
    AcpAdapter::new(RuntimeName::from_id(id), display_name, command, holder).with_preset(preset)
}

/// The command of a runtime: as configured, else the program of its id.
fn command(id: &str, runtime: &config::Runtime) -> AgentCommand {
    AgentCommand {
        program: runtime.command.as_deref().unwrap_or(id).into(),
        args: runtime.args.iter().map(Into::into).collect(),
        env: runtime.env.clone().into_iter().collect(),
    }
}

/// Starts runtimes under this very binary.
pub(crate) fn holder(roost: &Path, state: &StateDir, wall: Option<Wall>) -> Holder {
    Holder { program: roost.into(), args: vec!["hold".into()], records: state.run(), ladder: Ladder::default(), wall }
}

/// What is hidden from runtimes: the state directory, except the socket and the artifacts, which hold images of prompts.
pub(crate) fn wall(state: &StateDir, raise: Option<Raise>) -> Result<Option<Wall>, Error> {
    let Some(raise) = raise else { return Ok(None) };
    Ok(Some(Wall { raise, hidden: state.dir().into(), shown: vec![state.socket()?, state.artifacts()] }))
}

/// The allow-listed part of this process's environment, which runtimes may see.
pub(crate) fn environment() -> Environment {
    Environment::allowed_from(std::env::vars_os())
}

/// How the environments of runtimes are made from this process's.
pub(crate) fn environments(state: &StateDir) -> Environments {
    Environments { base: environment(), namespaces: state.namespaces(), isolation: Isolation::default() }
}

/// The configured isolation by runtime id.
pub(crate) fn isolation(config: &Config) -> BTreeMap<String, Isolation> {
    config.runtimes.iter().filter_map(|(id, runtime)| Some((id.clone(), runtime.isolation?))).collect()
}

fn engine_config(state: &StateDir, config: &Config) -> Result<roost_engine::Config, Error> {
    let (environments, isolation) = (environments(state), isolation(config));
    let models: BTreeMap<_, _> =
        config.runtimes.iter().filter_map(|(id, runtime)| Some((id.clone(), runtime.model.clone()?))).collect();
    Ok(roost_engine::Config {
        isolation,
        models,
        max_sessions: config.sessions.max.get(),
        when_full: config.sessions.when_full.into(),
        idle_timeout: Duration::from_secs(60 * u64::from(config.sessions.idle_timeout_minutes)),
        max_context_chars: config.sessions.max_context_chars(),
        rules: Arc::new(RuleSet::new(&config.policy.rules)?),
        approval_timeout: config.policy.approval_timeout(),
        ..roost_engine::Config::new(environments, state.run(), state.artifacts())
    })
}

/// The sessions that runtimes keep by themselves, for listing them without a daemon.
pub(crate) fn native_history(state: &StateDir, config: &Config) -> Result<NativeHistory, Error> {
    let engine = engine_config(state, config)?;
    Ok(NativeHistory::new(runtimes(state, config)?, engine.environments, engine.isolation))
}

/// How long and up to which size events are kept, as configured.
pub(crate) fn retention(config: &Config) -> Retention {
    Retention {
        max_age: Duration::from_hours(24 * u64::from(config.log.retention_days)),
        max_bytes: 1_000_000_000 * u64::from(config.log.retention_gb),
    }
}

impl HideState {
    /// When agents are kept from the state directory; never if absent.
    pub(crate) fn raise(self) -> Option<Raise> {
        match self {
            Self::Off => None,
            Self::Auto => Some(Raise::WhereFree),
            Self::On => Some(Raise::Always),
        }
    }
}

impl From<config::WhenFull> for WhenFull {
    fn from(when_full: config::WhenFull) -> Self {
        match when_full {
            config::WhenFull::Queue => Self::Queue,
            config::WhenFull::Reject => Self::Reject,
        }
    }
}

impl From<config::Synchronous> for Synchronous {
    fn from(synchronous: config::Synchronous) -> Self {
        match synchronous {
            config::Synchronous::Normal => Self::Normal,
            config::Synchronous::Full => Self::Full,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_what_is_configured_else_what_the_variables_of_clarity_runtime_say() {
        let variables = |name: &str| match name {
            "CLARITY_BUDGET_MAX_TOOL_CALLS_PER_RUN" => Some("64".to_owned()),
            "CLARITY_BUDGET_MAX_TOTAL_TOKENS_PER_RUN" => Some("none".to_owned()),
            _ => None,
        };
        let unset = budget_limits(&config::Budgets::default(), variables);
        assert_eq!(unset, BudgetLimits { calls: Some(64), ..BudgetLimits::default() });
        let when_exceeded = config::WhenExceeded::Ask;
        let configured = config::Budgets { calls: 3, tokens: 0, cost_usd: 0.5, when_exceeded };
        let expected = BudgetLimits { calls: Some(3), tokens: None, cost_usd: Some(0.5), on_exceeded: OnExceeded::Ask };
        assert_eq!(budget_limits(&configured, variables), expected);
    }
}
