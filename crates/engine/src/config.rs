//! The engine's settings, and the parameters of a new session.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use roost_model::ids::{SessionId, WorkspaceId};
use roost_model::mode::Mode;
use roost_model::runtime::CreateSessionInput;
use roost_model::secret::Secret;
use roost_policy::RuleSet;
use roost_process::Isolation;

use crate::adapter::McpServer;
use crate::budgets::SessionBudgets;
use crate::environment::{Environments, NAMESPACE};
use crate::host_tools::HostTools;
use crate::slots::WhenFull;

/// Returns the MCP servers that the host offers to a session, which proves itself to them by the token. A function that
/// the composition root supplies, so that the engine does not depend on the gateway.
pub type McpServers = Arc<dyn Fn(&SessionId, &Secret) -> Vec<McpServer> + Send + Sync>;

/// Waits for a bounded time until a session's runtime has read the newest list of the host's tools.
pub type ToolsRead = Arc<dyn Fn(SessionId) -> BoxFuture<'static, ()> + Send + Sync>;

/// The engine's settings. The composition root fills them in.
#[derive(Clone)]
pub struct Config {
    /// What the environments of runtimes are built from.
    pub environments: Environments,
    /// The directory with one record per running process, by which a restart finds what a crash left behind.
    pub records: PathBuf,
    /// The isolation of single runtimes by their ids; others have that of `environments`.
    pub isolation: BTreeMap<String, Isolation>,
    /// The default models of runtimes by their ids, for sessions that name none.
    pub models: BTreeMap<String, String>,
    /// The directory of the artifact store.
    pub artifacts: PathBuf,
    /// The most characters of history and prompt that one task is started with; `None` means no limit.
    pub max_context_chars: Option<u64>,
    /// The allow and deny lists of the policy.
    pub rules: Arc<RuleSet>,
    /// How many runtimes may be alive at once; 32 by default.
    pub max_sessions: usize,
    /// Whether a prompt beyond `max_sessions` waits or is refused.
    pub when_full: WhenFull,
    /// How long a runtime without a task stays alive; 30 minutes by default.
    pub idle_timeout: Duration,
    /// How long a person may take to answer before the call is denied; 24 hours by default, `None` means no limit.
    pub approval_timeout: Option<Duration>,
    /// Called each time that a runtime is opened.
    pub mcp_servers: McpServers,
    /// Called before each task of a runtime that is open already.
    pub tools_read: ToolsRead,
    /// What sessions may use up; `None` if nothing is limited.
    pub budgets: Option<Arc<dyn SessionBudgets>>,
    /// Tools that the host itself runs for runtimes; `None` if it has none.
    pub host_tools: Option<Arc<dyn HostTools>>,
}

impl Config {
    /// The default limits, without MCP servers, rules or host tools.
    pub fn new(environments: Environments, records: PathBuf, artifacts: PathBuf) -> Self {
        Self {
            environments,
            records,
            artifacts,
            max_context_chars: None,
            rules: Arc::default(),
            isolation: BTreeMap::new(),
            models: BTreeMap::new(),
            max_sessions: 32,
            when_full: WhenFull::Queue,
            idle_timeout: Duration::from_secs(30 * 60),
            approval_timeout: Some(Duration::from_secs(24 * 60 * 60)),
            mcp_servers: Arc::new(|_, _| Vec::new()),
            tools_read: Arc::new(|_| Box::pin(std::future::ready(()))),
            budgets: None,
            host_tools: None,
        }
    }
}

/// The parameters of a new session.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// The runtime's id; `None` means the default runtime.
    pub runtime: Option<String>,
    /// The working directory. Must be absolute; links in it are resolved once, when the session is created.
    pub cwd: PathBuf,
    /// The permission mode of its first task.
    pub mode: Mode,
    /// Which credentials and which runtime state it uses; [`NAMESPACE`] by default.
    pub credential_namespace: String,
    /// How much of the user's home its runtime shares; `None` means as configured for the runtime.
    pub isolation: Option<Isolation>,
    /// Variables that are added to its runtime's environment. Events have their names, never their values.
    pub env: BTreeMap<String, Secret>,
    /// Its own MCP servers. One replaces the host's server of the same name.
    pub mcp_servers: Vec<McpServer>,
    /// Title, model and the runtime's own configuration.
    pub input: CreateSessionInput,
    /// The registered workspace that it belongs to, if any.
    pub workspace_id: Option<WorkspaceId>,
}

impl NewSession {
    /// A session in this directory with the defaults for everything else.
    pub fn within(cwd: impl Into<PathBuf>) -> Self {
        Self {
            runtime: None,
            cwd: cwd.into(),
            mode: Mode::default(),
            credential_namespace: NAMESPACE.into(),
            isolation: None,
            env: BTreeMap::new(),
            mcp_servers: Vec::new(),
            input: CreateSessionInput::default(),
            workspace_id: None,
        }
    }
}
