//! The arguments of `clarityctl`: the commands and options of clarity-runtime's program.

use std::ffi::OsString;
use std::io;
use std::os::fd::RawFd;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use roost_model::secret::Secret;

use super::ClarityProgram;
use super::own_token::hidden_token;
use crate::cli::Global;
use crate::cmd::services::declare::Remote;
use crate::cmd::services::local_module::{LocalModule, LocalModules, ModuleNames, ModuleOptions};

const EXAMPLES: &str = "\
Examples:
  clarityctl add dice                      compile dice.clarity, register it and start it
  clarityctl add-all services --recursive  the same for a folder
  clarityctl add-remote --endpoint https://mcp.example.com/mcp --module docs
  clarityctl list                          the services, as JSON
  clarityctl bootstrap --clients codex     register the gateway in Codex
  clarityctl doctor                        check the daemon, the compiler and this folder

This is Roost: `roost services` has the same and more, with tables.";

/// Control the services of Roost's MCP gateway, with the commands of clarity-runtime
#[derive(Parser)]
#[command(name = "clarityctl", version, after_help = EXAMPLES)]
pub(crate) struct Clarityctl {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(flatten)]
    pub(crate) daemon: DaemonOptions,
    #[command(subcommand)]
    pub(crate) command: CtlCommand,
}

/// Where the daemon is.
#[derive(Args)]
pub(crate) struct DaemonOptions {
    /// The daemon's URL [default: your own daemon, by its socket; it is started if none runs]
    #[arg(long, value_name = "URL", env = "CLARITYD_URL", global = true)]
    daemon_url: Option<String>,
    /// The daemon's token, for a URL; better in CLARITYD_AUTH_TOKEN, where `ps` does not show it
    #[arg(long, value_name = "TOKEN", global = true)]
    auth_token: Option<String>,
    /// Where the token is after this program was started again without it
    #[arg(long, hide = true, global = true)]
    auth_token_fd: Option<RawFd>,
    #[arg(skip)]
    hidden_token: Option<Secret>,
}

impl DaemonOptions {
    /// The same without the token, which is no longer among the arguments or variables of this program.
    pub(crate) fn with_hidden_token(mut self) -> io::Result<Self> {
        self.hidden_token =
            hidden_token(ClarityProgram::Clarityctl, self.auth_token.take(), self.auth_token_fd.take())?;
        Ok(self)
    }

    /// The daemon's URL, if one was named, and its token.
    pub(super) fn into_parts(self) -> (Option<String>, Option<Secret>) {
        (self.daemon_url, self.hidden_token)
    }
}

#[derive(Subcommand)]
pub(crate) enum CtlCommand {
    /// List the services
    List,
    /// Show the daemon and all services
    Status,
    /// Compile a Clarity source (or take a wasm module), register it, start it and list its tools
    Add(Box<LocalModule>),
    /// The same for every Clarity source of a folder
    AddAll(Box<LocalModules>),
    /// Register a compiled module, and do not start it (legacy; `add` does both)
    AddLocal(Box<AddLocal>),
    /// Compile and start a source (legacy; the same as `add`)
    StartSource(Box<StartSource>),
    /// Register a server at an address, and do not start it
    AddRemote(Box<Remote>),
    /// Start a service
    Start(Named),
    /// Stop a service
    Stop(Named),
    /// Stop a service if it runs, and start it
    Restart(Named),
    /// List again what a service offers
    Introspect(Named),
    /// Let a service be started again that failed too often
    Unquarantine(Named),
    /// Stop a service and forget it
    Remove {
        #[command(flatten)]
        service: Named,
        /// Also delete its compiled module, if that lies in .clarity/build of the current folder
        #[arg(long)]
        cleanup_artifacts: bool,
    },
    /// Show a service from every side
    Details {
        #[command(flatten)]
        service: Named,
        /// Most lines of its log
        #[arg(long, value_name = "N", default_value_t = 50)]
        log_limit: u32,
        /// Most events to show
        #[arg(long, value_name = "N", default_value_t = 100)]
        event_limit: u32,
        /// Most calls to show
        #[arg(long, value_name = "N", default_value_t = 20)]
        call_limit: u32,
    },
    /// Show the log of a service
    Logs {
        #[command(flatten)]
        service: Named,
        /// Most lines to show
        #[arg(long, value_name = "N", default_value_t = 200)]
        limit: u32,
    },
    /// Secrets of remote services
    Auth {
        #[command(subcommand)]
        action: AuthAction,
    },
    /// Register the gateway in other programs
    Bootstrap {
        /// The programs, divided by commas
        #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "codex,claude")]
        clients: Vec<String>,
        /// How they reach the gateway
        #[arg(long, default_value = "stdio", value_parser = ["stdio", "http"])]
        transport: String,
        /// The address for HTTP [default: the daemon's own]
        #[arg(long, value_name = "URL")]
        endpoint: Option<String>,
        /// Tell agents of the gateway in the AGENTS.md of the daemon's folder
        #[arg(long)]
        update_agents_md: bool,
    },
    /// Remove the gateway from other programs
    BootstrapRemove {
        /// The programs, divided by commas
        #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "codex,claude")]
        clients: Vec<String>,
    },
    /// Check the daemon, the compiler and the folder of compiled modules
    Doctor {
        /// The Clarity compiler
        #[arg(long, env = "CLARITYC_BIN", default_value = "clarityc", value_name = "PROGRAM")]
        compiler_bin: OsString,
    },
    /// The MCP gateway for clients that start their servers
    Gateway {
        #[command(subcommand)]
        action: GatewayAction,
    },
}

/// A service by its id, or by its name.
#[derive(Args)]
pub(crate) struct Named {
    /// Its id or name
    #[arg(value_name = "SERVICE_ID")]
    pub(super) service: String,
}

#[derive(Args)]
pub(crate) struct AddLocal {
    /// The Clarity source
    #[arg(long, value_name = "FILE")]
    pub(super) source: PathBuf,
    /// Its name, which its tools begin with
    #[arg(long)]
    pub(super) module: String,
    /// The compiled module
    #[arg(long, value_name = "FILE")]
    pub(super) wasm: PathBuf,
    /// A name for people
    #[arg(long, value_name = "TEXT")]
    pub(super) name: Option<String>,
    #[command(flatten)]
    pub(super) options: ModuleOptions,
}

#[derive(Args)]
pub(crate) struct StartSource {
    /// The Clarity source
    #[arg(long, value_name = "FILE")]
    pub(super) source: PathBuf,
    #[command(flatten)]
    pub(super) names: ModuleNames,
    #[command(flatten)]
    pub(super) options: ModuleOptions,
}

#[derive(Subcommand)]
pub(crate) enum AuthAction {
    /// List the forms of references
    Providers,
    /// Say whether a reference can be used now
    Validate {
        /// env:VARIABLE, file:PATH, header_env:Header:VARIABLE, or a name
        auth_ref: String,
    },
    /// List the secrets that are kept in files
    ListSecrets,
    /// Keep a secret in a file; it is read from stdin
    SetSecret {
        /// file: and a path within the folder of secrets
        auth_ref: String,
        /// The secret; others can see it here while the command runs, so leave it out
        secret: Option<String>,
    },
    /// Delete a secret
    DeleteSecret {
        /// file: and a path within the folder of secrets
        auth_ref: String,
    },
}

#[derive(Subcommand)]
pub(crate) enum GatewayAction {
    /// Be an MCP server for the program that starts this command
    Serve {
        /// Speak MCP over stdin and stdout
        #[arg(long, required = true)]
        stdio: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command with every option of seed 003 and of clarity-runtime's own program.
    const LINES: [&str; 27] = [
        "list",
        "status",
        "add dice",
        "add dice --module Dice --wasm out.wasm --entry main --name Dice --service-type agent --agent-id a --agent-name b \
         --agent-role c --agent-objective d --agent-triggers api,event --agent-inputs a,b --agent-outputs c \
         --agent-mcp-tools d --agent-llm-providers e --agent-handoff-targets f --agent-depends-on g --agent-version 1 \
         --agent-hitl --compiler-bin cc",
        "add-all",
        "add-all dir --recursive --entry main --service-type mcp --compiler-bin cc",
        "add-local --source a.clarity --module A --wasm a.wasm --entry main --name A",
        "start-source --source a.clarity --module A --wasm a.wasm --entry main --name A --compiler-bin cc",
        "add-remote --endpoint http://127.0.0.1:1/mcp --module m",
        "add-remote --endpoint http://127.0.0.1:1/mcp --module m --name N --auth-ref env:X --transport sse_http \
         --timeout-ms 1000 --allow-tools a,b --max-payload-bytes 2048 --max-concurrency 2 --service-type agent \
         --agent-role r --agent-objective o",
        "start svc_0123456789ab",
        "stop svc_0123456789ab",
        "restart svc_0123456789ab",
        "introspect svc_0123456789ab",
        "remove svc_0123456789ab --cleanup-artifacts",
        "details svc_0123456789ab --log-limit 1 --event-limit 2 --call-limit 3",
        "logs svc_0123456789ab --limit 5",
        "auth providers",
        "auth validate env:X",
        "auth list-secrets",
        "auth set-secret file:x",
        "auth set-secret file:x secret",
        "auth delete-secret file:x",
        "bootstrap --clients codex,claude --transport http --endpoint http://127.0.0.1:1/mcp --update-agents-md",
        "bootstrap-remove --clients codex",
        "doctor --compiler-bin cc",
        "gateway serve --stdio",
    ];

    #[test]
    fn every_command_and_option_of_the_original_is_taken() {
        for line in LINES {
            let words = || line.split_whitespace();
            let before = ["clarityctl", "--daemon-url", "http://127.0.0.1:1", "--auth-token", "t"];
            let parsed = Clarityctl::try_parse_from(before.into_iter().chain(words()));
            assert!(parsed.is_ok(), "{line}: {}", parsed.err().map(|error| error.to_string()).unwrap_or_default());
            let behind = words().chain(["--daemon-url", "http://127.0.0.1:1", "--auth-token", "t"]);
            assert!(Clarityctl::try_parse_from(["clarityctl"].into_iter().chain(behind)).is_ok(), "{line}");
        }
    }
}
