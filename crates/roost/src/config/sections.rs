//! What can be configured. The comments here are what `docs/configuration.md` says about each key.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use roost_adapters::opencode::ServerUrl;
use roost_cli::Tls;
use roost_model::registry::RuntimeStatus;
use roost_model::runtime::RuntimeName;
use roost_process::Isolation;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// Reads the sections of runtimes, which may also be named as in events or by the product's usual name.
fn by_runtime_id<'de, D: Deserializer<'de>>(sections: D) -> Result<BTreeMap<String, Runtime>, D::Error> {
    let mut runtimes = BTreeMap::new();
    for (name, section) in BTreeMap::<String, Runtime>::deserialize(sections)? {
        let id = RuntimeName::from_id(&name).id().to_owned();
        if runtimes.insert(id.clone(), section).is_some() {
            return Err(D::Error::custom(format_args!("[runtimes.{name}] is [runtimes.{id}] again; keep one of them")));
        }
    }
    Ok(runtimes)
}

/// Declares a section: each key with its default.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($(#[$key_doc:meta])* $key:ident: $ty:ty = $default:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub(crate) struct $name { $($(#[$key_doc])* pub(crate) $key: $ty,)* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($key: $default,)* }
            }
        }
    };
}

/// Everything that can be configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// The agent when none is named; else the first one that is installed.
    pub(crate) default_runtime: Option<String>,
    pub(crate) server: Server,
    pub(crate) security: Security,
    pub(crate) workspaces: Workspaces,
    pub(crate) limits: Limits,
    pub(crate) daemon: Daemon,
    pub(crate) sessions: Sessions,
    pub(crate) policy: Policy,
    pub(crate) gateway: Gateway,
    pub(crate) budgets: Budgets,
    pub(crate) wasm: Wasm,
    pub(crate) log: Log,
    /// Agents by their ids; `demo` is there without being named.
    #[serde(deserialize_with = "by_runtime_id")]
    pub(crate) runtimes: BTreeMap<String, Runtime>,
}

section! {
    /// `[server]`: where the daemon listens.
    Server {
        /// The address to listen on; one beyond this machine needs `tls` or `allow_insecure`.
        host: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST),
        /// The port; 0 means any free one.
        port: u16 = 8766,
        /// The folder that clients find without asking for it; else the one where the daemon was started.
        repo: Option<PathBuf> = None,
        /// The folders in which `workspace/discover` looks for repositories; else the usual ones of your home.
        discover_in: Option<Vec<PathBuf>> = None,
        /// The URL under which clients reach the daemon, where that is not its address (a tunnel, a proxy).
        external_url: Option<String> = None,
        /// Encryption: `self-signed`, or the files of a certificate and its key as `CERT,KEY`.
        #[schemars(with = "Option<String>")]
        tls: Option<Tls> = None,
        /// Listen beyond this machine without encryption: whoever can read the network then reads tokens.
        allow_insecure: bool = false,
        /// Speak the draft of version 2 with editors at `/acp` that ask for it, instead of version 1.
        acp_protocol_v2: bool = false,
    }
}

section! {
    /// `[security]`: who may connect, and what agents may see.
    Security {
        /// Clients that come over the network need a token.
        require_auth: bool = true,
        /// Somebody at this machine must agree to each new device.
        require_pairing_approval: bool = false,
        /// Seconds for which a pairing code can be used.
        pairing_token_expiry_secs: u64 = 3600,
        /// Web pages that may connect besides those of this machine: an origin, or `*.domain`.
        allowed_origins: Vec<String> = Vec::new(),
        /// Names under which this machine may be addressed, besides its own.
        allowed_hosts: Vec<String> = Vec::new(),
        /// Whether agents see an empty folder where the state directory is, with its tokens and the record.
        hide_state: HideState = HideState::Auto,
        /// Files of projects whose permissions and tool servers count, by path, with the `sha256:…` of their contents.
        trusted_files: BTreeMap<PathBuf, String> = BTreeMap::new(),
    }
}

/// When agents are kept from the state directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HideState {
    /// As root, where the kernel allows it; not as an ordinary user, for whom it would cost `sudo` and `ssh`.
    Auto,
    /// Always; an agent does not start where the kernel does not allow it.
    On,
    /// Never, so that agents can read it.
    Off,
}

section! {
    /// `[workspaces]`: which folders devices may add.
    Workspaces {
        /// Folders beneath which devices may add workspaces, hidden folders left out; else your home.
        roots: Option<Vec<PathBuf>> = None,
    }
}

section! {
    /// `[limits]`: what one client may use up; 0 means any amount.
    Limits {
        /// Calls per minute that change something.
        changes_per_minute: u32 = 100,
        /// Calls per minute that may start an agent.
        starts_per_minute: u32 = 10,
        /// Pictures and files per minute that a client may send.
        uploads_per_minute: u32 = 10,
        /// Megabytes of a picture or a file that a client sends for a prompt.
        upload_mb: NonZeroU32 = NonZeroU32::MIN.saturating_add(9),
        /// Pictures, and files, that a workspace keeps.
        uploads_kept: NonZeroU32 = NonZeroU32::MIN.saturating_add(49),
        /// Megabytes that the pictures, and the files, of a workspace may have together.
        uploads_total_mb: NonZeroU32 = NonZeroU32::MIN.saturating_add(99),
        /// Minutes for which a picture or a file is kept.
        upload_minutes: NonZeroU32 = NonZeroU32::MIN.saturating_add(59),
        /// Calls per minute that only read.
        reads_per_minute: u32 = 6000,
        /// Open WebSockets of one token, and connections of editors over HTTP.
        sockets_per_token: u32 = 32,
        /// Bytes of an HTTP request's body.
        max_body_bytes: usize = 1 << 20,
        /// Bytes of a message that a client sends over a WebSocket or the local socket.
        max_frame_bytes: usize = 16 << 20,
        /// Bytes of WebSocket messages that are not whole yet, of all clients together; at least one message has room.
        unfinished_bytes: usize = 64 << 20,
        /// Connections over the network; at most half of the files that the daemon may open, and half of them without a
        /// token.
        connections: u32 = 4096,
        /// Connections of one address that have not shown a token yet; one more closes the oldest. Clients behind a proxy
        /// share its address.
        connections_per_address: u32 = 128,
        /// Seconds that a client may take for a request's head, its body or a TLS handshake; a paired one has longer for
        /// a body that keeps coming.
        request_seconds: NonZeroU32 = NonZeroU32::MIN.saturating_add(9),
    }
}

section! {
    /// `[daemon]`: the process in the background.
    Daemon {
        /// Minutes without clients and agents after which a daemon that a command started ends; 0 means never.
        idle_exit_minutes: u32 = 10,
        /// Megabytes after which `daemon.log` is put aside and begun anew.
        log_max_mb: u32 = 10,
        /// How many of those that were put aside are kept.
        log_files: u32 = 3,
    }
}

section! {
    /// `[sessions]`: how many agents, and for how long.
    Sessions {
        /// Most agents alive at once.
        max: NonZeroUsize = NonZeroUsize::MIN.saturating_add(31),
        /// What happens to one too many.
        when_full: WhenFull = WhenFull::Queue,
        /// Minutes that an agent is kept without a task.
        idle_timeout_minutes: u32 = 30,
        /// Characters of a conversation that an agent is told at once, the oldest left out first; 0 means any number.
        max_context_chars: u64 = 0,
    }
}

impl Sessions {
    /// Most characters of a conversation that reach an agent at once.
    pub(crate) fn max_context_chars(&self) -> Option<u64> {
        (self.max_context_chars > 0).then_some(self.max_context_chars)
    }
}

/// What happens to a session too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WhenFull {
    /// It waits until another one ends.
    Queue,
    /// It is refused with an error.
    Reject,
}

section! {
    /// `[policy]`: what agents may do unasked.
    Policy {
        /// Clients other than the command line may use the mode `yolo`.
        allow_yolo: bool = false,
        /// What may run unasked and what may not run at all, whatever the mode; see below.
        #[schemars(with = "Vec<BTreeMap<String, serde_json::Value>>")]
        rules: Vec<roost_policy::Rule> = Vec::new(),
        /// Minutes that somebody may take to answer before the answer is no; 0 means for ever.
        approval_timeout_minutes: u32 = 24 * 60,
    }
}

impl Policy {
    /// How long somebody may take to answer.
    pub(crate) fn approval_timeout(&self) -> Option<Duration> {
        minutes(self.approval_timeout_minutes)
    }
}

impl Daemon {
    /// How long a daemon that a command started stays without being needed.
    pub(crate) fn idle_exit(&self) -> Option<Duration> {
        minutes(self.idle_exit_minutes)
    }
}

/// So many minutes; none means without end.
fn minutes(minutes: u32) -> Option<Duration> {
    (minutes > 0).then(|| Duration::from_mins(minutes.into()))
}

section! {
    /// `[gateway]`: the MCP gateway, through which agents and other programs use the tools of services.
    Gateway {
        /// Whether agents that Roost hosts get the gateway among their MCP servers, under the name `roost`.
        attach: bool = true,
        /// Whether the record of a tool call holds its arguments, which may be confidential.
        record_arguments: bool = false,
        /// Whether you must approve every new tool before agents see it; else only tools that changed wait for you.
        approve_new_tools: bool = false,
        /// How often a running service is asked whether it still answers, in seconds.
        probe_seconds: NonZeroU32 = NonZeroU32::MIN.saturating_add(29),
        /// The only hosts at which remote services may be, also in private networks; without it all hosts of the internet.
        allowed_hosts: Option<Vec<String>> = None,
        /// The folder of the secrets that `file:` references name; else `secrets` in the state directory.
        secrets: Option<PathBuf> = None,
    }
}

section! {
    /// `[budgets]`: what one agent run may use up before its calls through the gateway stop; 0 means any amount.
    Budgets {
        /// Tool calls of a run: all of a hosted agent's, those through the gateway of others.
        calls: u64 = 0,
        /// Tokens that the models of a run read and wrote.
        tokens: u64 = 0,
        /// Cost of a run's models in US dollars.
        cost_usd: f64 = 0.0,
        /// What happens to a run beyond that.
        when_exceeded: WhenExceeded = WhenExceeded::Stop,
    }
}

/// What happens to a run that has used up its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WhenExceeded {
    /// A hosted agent's task is stopped, and others are denied their calls.
    Stop,
    /// A person is asked about the next call, whatever else allows it, and gives as much again.
    Ask,
}

section! {
    /// `[wasm]`: what the modules of `local_wasm` services may take and do. A module does only what its manifest names, too.
    Wasm {
        /// Milliseconds that a call may run unless its manifest says otherwise, 2000 if unset; waiting for others does not count.
        timeout_ms: Option<NonZeroU32> = None,
        /// Millions of units of work that a call may take unless its manifest says otherwise; about one per instruction.
        fuel_millions: NonZeroU32 = NonZeroU32::MIN.saturating_add(9999),
        /// Megabytes of memory of a call unless its manifest says otherwise.
        memory_mb: NonZeroU32 = NonZeroU32::MIN.saturating_add(63),
        /// Megabytes of memory that a manifest may ask for.
        max_memory_mb: NonZeroU32 = NonZeroU32::MIN.saturating_add(255),
        /// Elements of each table of a module unless its manifest says otherwise.
        table_elements: NonZeroU32 = NonZeroU32::MIN.saturating_add(99_999),
        /// Kilobytes of stack of a call; a manifest cannot change it.
        stack_kb: NonZeroU32 = NonZeroU32::MIN.saturating_add(511),
        /// Kilobytes of a result unless the manifest says otherwise.
        output_kb: NonZeroU32 = NonZeroU32::MIN.saturating_add(1023),
        /// Calls of one module at once unless its manifest says otherwise.
        concurrency: NonZeroU32 = NonZeroU32::MIN.saturating_add(15),
        /// Calls of all modules at once.
        instances: NonZeroU32 = NonZeroU32::MIN.saturating_add(63),
        /// Megabytes of a module's file.
        artifact_mb: NonZeroU32 = NonZeroU32::MIN.saturating_add(63),
        /// Megabytes of compiled code that are kept in the state directory.
        cache_mb: NonZeroU32 = NonZeroU32::MIN.saturating_add(1023),
        /// Models that modules may ask; `*` at the end stands for any rest. Each needs the key of its server, too.
        allow_models: Vec<String> = Vec::new(),
        /// Where models are asked whose names begin with `claude-`, before `/v1`.
        anthropic_url: String = "https://api.anthropic.com".into(),
        /// The key of that server, by a reference such as `env:NAME`, `file:NAME` or `keyring:NAME`.
        anthropic_key: Option<String> = None,
        /// Where all other models are asked, in the way of OpenAI, before `/v1`.
        openai_url: String = "https://api.openai.com".into(),
        /// The key of that server, by a reference.
        openai_key: Option<String> = None,
        /// Hosts that modules may reach over HTTP: a name, `*.domain`, or `*` for the whole internet.
        allow_hosts: Vec<String> = Vec::new(),
        /// Folders whose files modules may read.
        read_folders: Vec<PathBuf> = Vec::new(),
        /// Folders whose files modules may also write.
        write_folders: Vec<PathBuf> = Vec::new(),
        /// Names of secrets that modules may read; `*` at the end stands for any rest.
        allow_secrets: Vec<String> = Vec::new(),
        /// Tools of the gateway that modules may call, as clients see their names; `*` at the end stands for any rest.
        allow_tools: Vec<String> = Vec::new(),
        /// Whether modules may ask the person behind whoever called them.
        allow_questions: bool = false,
        /// Whether modules may read the clock and sleep.
        allow_clock: bool = false,
        /// Whether modules get random numbers.
        allow_random: bool = false,
    }
}

section! {
    /// `[log]`: how the record is kept.
    Log {
        /// What an event that somebody has seen survives.
        synchronous: Synchronous = Synchronous::Normal,
        /// Days after which events are removed.
        retention_days: u32 = 30,
        /// Gigabytes beyond which the oldest events are removed.
        retention_gb: u32 = 5,
    }
}

/// What an event that somebody has seen survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Synchronous {
    /// The end of the process.
    Normal,
    /// The loss of power too.
    Full,
}

section! {
    /// `[runtimes.<id>]`: `claude`, `codex`, `gemini`, `opencode`, the `demo`, or any agent that speaks ACP; of those,
    /// `claude-agent-acp`, `codex-acp`, `qwen`, `copilot`, `goose` and `cline` are known without a `command`.
    Runtime {
        /// Its program: a path, or a name to be found in `PATH`; agents that are known have their own names.
        command: Option<String> = None,
        /// For `opencode`: the `http://HOST:PORT` of a server that runs already; Roost neither starts nor ends it.
        #[schemars(with = "Option<String>")]
        url: Option<ServerUrl> = None,
        /// Its arguments; of a known agent without a `command`, those that come after its own.
        args: Vec<String> = Vec::new(),
        /// Variables on top of the allow-listed environment.
        env: BTreeMap<String, String> = BTreeMap::new(),
        /// Whether it may be used.
        // Its schema, with what each word means, is built only for the tests, which write the reference.
        #[cfg_attr(not(test), schemars(with = "String"))]
        status: RuntimeStatus = RuntimeStatus::Active,
        /// Its name for people; else its id.
        display_name: Option<String> = None,
        /// How far it is kept apart from your own home: `shared`, `namespaced` or `ephemeral`.
        #[schemars(with = "Option<String>")]
        isolation: Option<Isolation> = None,
        /// The model that its sessions use unless they name another.
        model: Option<String> = None,
        /// Its own settings, passed on as they are: its settings document, or Codex's `config.toml` keys; none for ACP agents.
        config: Map<String, Value> = Map::new(),
    }
}
