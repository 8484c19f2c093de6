//! The methods that register the gateway in other programs (seed 003).

use serde::{Deserialize, Serialize};

words! {
    /// How a program reaches the gateway.
    #[derive(Default)]
    GatewayTransport {
        /// It starts `roost gateway serve --stdio`; no token is needed.
        #[default]
        Stdio,
        /// It sends requests to the daemon, with a token from the variable `ROOST_TOKEN`.
        Http,
    }
}

params! {
    /// Parameters of `bootstrap/apply`.
    #[derive(Default)]
    BootstrapParams {
        ;
        /// The programs: `codex`, `claude`, `gemini`, `opencode`, `zed`, `cursor`, `vscode`; the first two if absent.
        clients: Vec<String>,
        /// How they reach the gateway; `stdio` if absent.
        transport: GatewayTransport,
        /// The address for the transport `http`; the daemon's own if absent.
        endpoint: String,
        /// Whether the `AGENTS.md` of the daemon's folder tells agents of the gateway; false if absent.
        update_agents_md: bool,
        /// Whether the change is only shown; false if absent.
        dry_run: bool,
    }
}

params! {
    /// Parameters of `bootstrap/remove`.
    #[derive(Default)]
    BootstrapRemoveParams {
        ;
        /// The programs; all of them if absent.
        clients: Vec<String>,
        /// Whether the lines in the `AGENTS.md` of the daemon's folder are removed, too; false if absent.
        update_agents_md: bool,
        /// Whether the change is only shown; false if absent.
        dry_run: bool,
    }
}

wire! {
    /// What became of the settings of one program.
    BootstrapOutcome {
        /// The program by its name, such as `codex`.
        client: String,
        /// Whether its settings were changed, or would be.
        updated: bool,
        /// Its settings file.
        path: String,
        /// The lines that change; absent unless the change was only shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
        /// The file as it was before; absent if it was not changed or not there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        backup: Option<String>,
        /// Why the file was left as it is; absent if it was not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    }
}

wire! {
    /// What became of `AGENTS.md`.
    AgentsMdOutcome {
        /// Whether it was changed, or would be.
        updated: bool,
        /// The file, whether it exists or not.
        path: String,
        /// The lines that change; absent unless the change was only shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
        /// Why it was left as it is; absent if it was not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    }
}

wire! {
    /// What became of each file.
    BootstrapResult {
        /// How programs reach the gateway.
        transport: GatewayTransport,
        /// The address; absent for the transport `stdio`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        endpoint: Option<String>,
        /// What became of `AGENTS.md`; absent unless it was asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agents_md: Option<AgentsMdOutcome>,
        /// What became of each program's settings.
        results: Vec<BootstrapOutcome>,
    }
}

wire! {
    /// What became of each file.
    BootstrapRemoveResult {
        /// True if no program knows the gateway now, as far as it was asked for.
        removed: bool,
        /// What became of `AGENTS.md`; absent unless it was asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agents_md: Option<AgentsMdOutcome>,
        /// What became of each program's settings.
        results: Vec<BootstrapOutcome>,
    }
}

wire! {
    /// What the settings of one program say about the gateway.
    BootstrapClient {
        /// The program by its name, such as `codex`.
        client: String,
        /// Its settings file.
        path: String,
        /// Whether the file exists.
        present: bool,
        /// Whether it knows the gateway.
        configured: bool,
        /// How it reaches the gateway; absent if it does not know it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transport: Option<GatewayTransport>,
        /// The address; absent for the transport `stdio`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        endpoint: Option<String>,
        /// The program that it starts; absent for the transport `http`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        /// The arguments of that program; absent for the transport `http`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        args: Option<Vec<String>>,
        /// Why the file cannot be used; absent if it can.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    }
}

wire! {
    /// What the settings of all programs say about the gateway.
    BootstrapStatus {
        /// Every program that is known here.
        clients: Vec<BootstrapClient>,
    }
}
