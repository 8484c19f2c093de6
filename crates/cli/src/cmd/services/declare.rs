//! Manifests from the command line and from files.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tokio::io::AsyncReadExt;

use super::agent_flags::AgentFlags;
use crate::error::Error;

/// Programs that run another one, which their first argument names.
const RUNNERS: [&str; 6] = ["npx", "bunx", "pnpx", "uvx", "pipx", "docker"];

/// What both kinds of services have.
#[derive(clap::Args)]
pub(crate) struct Common {
    /// The name of the service, which its tools begin with [default: from the address or the command]
    #[arg(long)]
    module: Option<String>,
    /// A name for people
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// What the names of its tools begin with [default: the module]
    #[arg(long)]
    namespace: Option<String>,
    /// How long a call may take, in milliseconds
    #[arg(long)]
    timeout_ms: Option<u64>,
    /// The tools to offer, divided by commas [default: all]
    #[arg(long, value_delimiter = ',', value_name = "TOOLS")]
    allow_tools: Option<Vec<String>>,
    /// The size of a request and of an answer, in bytes
    #[arg(long)]
    max_payload_bytes: Option<u64>,
    /// How many calls may be under way at once
    #[arg(long)]
    max_concurrency: Option<u16>,
    /// Do not start it with the daemon
    #[arg(long)]
    no_autostart: bool,
    /// Do not start it now
    #[arg(long)]
    pub(crate) no_start: bool,
}

/// A server at an address.
#[derive(clap::Args)]
pub(crate) struct Remote {
    /// The address at which it speaks MCP
    #[arg(long)]
    endpoint: String,
    /// How it speaks HTTP
    #[arg(long, default_value = "streamable_http", value_parser = ["streamable_http", "sse_http"])]
    transport: String,
    /// Where its credentials are: env:VARIABLE, file:PATH in the secrets folder, or header_env:Header:VARIABLE
    #[arg(long, value_name = "REF")]
    auth_ref: Option<String>,
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    agent: AgentFlags,
}

impl Remote {
    pub(crate) fn manifest(&self) -> Result<Map<String, Value>, Error> {
        let module = self.common.module.clone().unwrap_or_else(|| module_of_endpoint(&self.endpoint));
        let mut origin = json!({ "type": "remote_mcp", "endpoint": self.endpoint, "transport": self.transport });
        put(&mut origin, "authRef", self.auth_ref.as_ref());
        let kind = self.agent.metadata(&module)?;
        Ok(self.common.manifest(&self.endpoint, &module, origin, kind))
    }
}

/// A program that speaks MCP on its standard input and output.
#[derive(clap::Args)]
pub(super) struct StdioProgram {
    /// A variable for the program, as NAME=VALUE; secrets are better kept with --secret-env
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// A variable whose value is kept elsewhere, as NAME=env:VARIABLE or NAME=file:PATH
    #[arg(long, value_name = "NAME=REF")]
    secret_env: Vec<String>,
    /// The folder that it works in [default: the daemon's state directory]
    #[arg(long)]
    cwd: Option<PathBuf>,
    #[command(flatten)]
    pub(super) common: Common,
    #[command(flatten)]
    agent: AgentFlags,
    /// The program and its arguments, after `--`
    #[arg(required = true, last = true)]
    command: Vec<String>,
}

impl StdioProgram {
    pub(super) fn manifest(&self) -> Result<Map<String, Value>, Error> {
        let [command, args @ ..] = self.command.as_slice() else {
            return Err(Error::BadManifest("the program is missing; write it after `--`".into()));
        };
        let module = self.common.module.clone().unwrap_or_else(|| module_of_command(command, args));
        let mut variables = Vec::new();
        for (texts, member) in [(&self.env, "value"), (&self.secret_env, "secretRef")] {
            for text in texts {
                let Some((name, value)) = text.split_once('=') else {
                    return Err(Error::BadManifest(format!("\"{text}\" is no variable; write NAME=VALUE")));
                };
                variables.push(json!({ "name": name, member: value }));
            }
        }
        let mut origin = json!({ "type": "stdio_mcp", "command": command });
        put(&mut origin, "args", (!args.is_empty()).then_some(args));
        put(&mut origin, "env", (!variables.is_empty()).then_some(variables));
        let cwd = self.cwd.as_deref().map(std::path::absolute).transpose().map_err(Error::NoCwd)?;
        put(&mut origin, "cwd", cwd.map(|cwd| cwd.to_string_lossy().into_owned()));
        let kind = self.agent.metadata(&module)?;
        Ok(self.common.manifest(command, &module, origin, kind))
    }
}

impl Common {
    fn manifest(&self, source: &str, module: &str, mut origin: Value, kind: Map<String, Value>) -> Map<String, Value> {
        put(&mut origin, "timeoutMs", self.timeout_ms);
        put(&mut origin, "allowedTools", self.allow_tools.as_ref());
        put(&mut origin, "maxPayloadBytes", self.max_payload_bytes);
        put(&mut origin, "maxConcurrency", self.max_concurrency);
        let mut metadata = json!({ "sourceFile": source, "module": module });
        put(&mut metadata, "displayName", self.name.as_ref());
        for (name, value) in kind {
            metadata[name] = value;
        }
        let mut spec = spec(origin, !self.no_autostart);
        put(&mut spec, "toolNamespace", self.namespace.as_ref());
        document(metadata, spec)
    }
}

/// How a service is kept running, unless somebody says otherwise.
pub(super) fn spec(origin: Value, autostart: bool) -> Value {
    json!({
        "origin": origin, "enabled": true, "autostart": autostart,
        "restartPolicy": { "mode": "on-failure", "maxRestarts": 5, "windowSeconds": 60 }, "policyRef": "default",
    })
}

/// A manifest of these two parts.
pub(super) fn document(metadata: Value, spec: Value) -> Map<String, Value> {
    Map::from_iter([
        ("apiVersion".to_owned(), json!("clarity.runtime/v1")),
        ("kind".to_owned(), json!("MCPService")),
        ("metadata".to_owned(), metadata),
        ("spec".to_owned(), spec),
    ])
}

/// Adds a member that was given.
pub(super) fn put(object: &mut Value, key: &str, value: Option<impl serde::Serialize>) {
    if let Some(value) = value {
        object[key] = json!(value);
    }
}

/// The last part of the path that says something, else the host.
fn module_of_endpoint(endpoint: &str) -> String {
    let rest = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let mut parts = rest.split('/');
    let host = parts.next().unwrap_or_default().split(':').next().unwrap_or_default().to_owned();
    let named = parts.rfind(|part| !["", "mcp", "sse"].contains(part));
    named.map_or(host, ToOwned::to_owned)
}

/// The program's name; for one that runs packages, the package's.
fn module_of_command(command: &str, args: &[String]) -> String {
    let stem = |text: &str| {
        let name = text.rsplit('/').next().unwrap_or(text);
        let name = name.split('@').next().filter(|name| !name.is_empty()).unwrap_or(name);
        name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
    };
    let package = || args.iter().find(|arg| !arg.starts_with('-') && *arg != "run");
    match stem(command) {
        name if RUNNERS.contains(&name.as_str()) => package().map_or(name, |package| stem(package)),
        name => name,
    }
}

/// Reads a manifest from a file, or from stdin for `-`.
pub(super) async fn read(file: &Path) -> Result<Map<String, Value>, Error> {
    let text = match file.to_str() {
        Some("-") => {
            let mut text = String::new();
            tokio::io::stdin().read_to_string(&mut text).await.map(|_| text).map_err(Error::Input)?
        }
        _ => tokio::fs::read_to_string(file)
            .await
            .map_err(|error| Error::BadManifest(format!("{} cannot be read: {error}", file.display())))?,
    };
    serde_json::from_str(&text)
        .map_err(|error| Error::BadManifest(format!("{} is no object of JSON: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct RemoteLine {
        #[command(flatten)]
        remote: Remote,
    }

    #[test]
    fn every_option_of_a_remote_service_arrives_in_its_manifest() {
        let line = "x --endpoint https://mcp.example.com/mcp --module docs --name Docs --namespace d --auth-ref env:TOKEN \
                    --transport sse_http --timeout-ms 1500 --allow-tools search,read --max-payload-bytes 2048 \
                    --max-concurrency 3 --no-autostart";
        let manifest = RemoteLine::parse_from(line.split_whitespace()).remote.manifest().unwrap();
        let expected = json!({
            "type": "remote_mcp", "endpoint": "https://mcp.example.com/mcp", "transport": "sse_http",
            "authRef": "env:TOKEN", "timeoutMs": 1500, "allowedTools": ["search", "read"], "maxPayloadBytes": 2048,
            "maxConcurrency": 3,
        });
        assert_eq!(manifest["spec"]["origin"], expected);
        assert_eq!(manifest["spec"]["autostart"], false);
        assert_eq!(manifest["metadata"]["module"], "docs");
        assert_eq!(manifest["metadata"]["displayName"], "Docs");
    }

    #[test]
    fn a_service_is_named_after_its_address_or_package() {
        for (endpoint, expected) in [
            ("http://127.0.0.1:39001/mcp", "127.0.0.1"),
            ("https://mcp.example.com/docs/mcp?x=1", "docs"),
            ("https://mcp.example.com", "mcp.example.com"),
        ] {
            assert_eq!(module_of_endpoint(endpoint), expected, "{endpoint}");
        }
        for (command, expected) in [
            (&["npx", "-y", "@modelcontextprotocol/server-everything@1.2"][..], "server-everything"),
            (&["uvx", "mcp-server-git"][..], "mcp-server-git"),
            (&["docker", "run", "-i", "mcp/time"][..], "time"),
            (&["/opt/tools/notes.py", "--stdio"][..], "notes"),
        ] {
            let args: Vec<_> = command[1..].iter().map(|arg| (*arg).to_owned()).collect();
            assert_eq!(module_of_command(command[0], &args), expected, "{command:?}");
        }
    }
}
