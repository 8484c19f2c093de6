//! A server that somebody else runs: configured by its address, never started or stopped by Roost.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use roost_engine::NAMESPACE;
use roost_engine::adapter::{AdapterError, Availability, OpenSession};
use roost_model::runtime::{AuthModel, AuthStatus, RuntimeEnv};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::http::Client;
use super::launch::environment;
use super::version;
use crate::host::AgentCommand;

/// How long the health request may take.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(5);

/// The address of an OpenCode server: `http://HOST:PORT`, without a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServerUrl(String);

impl FromStr for ServerUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let server = text.strip_prefix("http://").map(|rest| rest.strip_suffix('/').unwrap_or(rest));
        let port = |server: &&str| server.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        match server.filter(port).filter(|server| !server.contains(['/', '?', '#', '@'])) {
            Some(server) => Ok(Self(server.to_owned())),
            None => Err(format!("\"{text}\" is no address of an OpenCode server; write it as http://HOST:PORT")),
        }
    }
}

impl TryFrom<String> for ServerUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ServerUrl> for String {
    fn from(url: ServerUrl) -> Self {
        url.to_string()
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.0)
    }
}

impl ServerUrl {
    /// A client for this server and the environment's working directory. User name and password come from the
    /// variables that OpenCode itself uses.
    pub(super) fn client(&self, command: &AgentCommand, env: &RuntimeEnv) -> Client {
        let all = environment(command, env);
        let text = |name: &str| all.get(name).map(|text| text.to_string_lossy().into_owned());
        let user = text("OPENCODE_SERVER_USERNAME").unwrap_or_else(|| "opencode".into());
        let password = text("OPENCODE_SERVER_PASSWORD").unwrap_or_default();
        Client::new(&self.0, &user, &password).within(&env.cwd)
    }

    /// Whether the server answers, and which version it is.
    pub(super) async fn availability(&self, client: &Client) -> Availability {
        let health = match tokio::time::timeout(HEALTH_TIMEOUT, client.get("/global/health")).await {
            Ok(Ok(health)) => health,
            Ok(Err(error)) => return self.missing(&error.to_string()),
            Err(_) => return self.missing("it does not answer"),
        };
        let version = health.get("version").and_then(Value::as_str);
        match version.and_then(version::too_old) {
            Some(too_old) => self.missing(&too_old),
            None => Availability::Installed { version: version.map(Into::into) },
        }
    }

    fn missing(&self, why: &str) -> Availability {
        let reason = format!(
            "the OpenCode server at {self} cannot be used: {why}; start it, or correct `url` and \
             OPENCODE_SERVER_PASSWORD"
        );
        Availability::Missing { reason }
    }

    /// Always ready: logins are the business of whoever runs the server.
    pub(super) fn auth_status(&self) -> AuthStatus {
        let details = json!({ "server": self.to_string() });
        AuthStatus {
            ok: true,
            logged_in: true,
            auth_model: AuthModel::Unknown,
            account_label: None,
            details: details.as_object().cloned(),
        }
    }

    /// Refuses options that only whoever starts a server can give it.
    pub(super) fn refuse_launch_options(
        &self,
        settings: &Map<String, Value>,
        open: &OpenSession,
    ) -> Result<(), AdapterError> {
        let refusal = |what: &str| {
            AdapterError::Spawn(format!(
                "{what} cannot be given to the OpenCode server at {self}, which runs already; what it is to have is configured there"
            ))
        };
        let given = [
            ("settings", !settings.is_empty()),
            ("tool servers", !open.mcp_servers.is_empty()),
            ("variables", !open.input.variables.is_empty()),
            ("a home of the session's own (isolation)", open.env.isolation.is_some()),
            ("a credential namespace", open.env.credential_namespace != NAMESPACE),
        ];
        given.iter().find(|(_, is_given)| *is_given).map_or(Ok(()), |(what, _)| Err(refusal(what)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port() {
        for (text, server) in [("http://127.0.0.1:4096", "127.0.0.1:4096"), ("http://box.lan:80/", "box.lan:80")] {
            assert_eq!(text.parse(), Ok(ServerUrl(server.into())));
        }
        for text in ["https://127.0.0.1:4096", "127.0.0.1:4096", "http://box", "http://a:b@c:1", "http://a:1/x", ""] {
            assert!(text.parse::<ServerUrl>().unwrap_err().contains("http://HOST:PORT"), "{text}");
        }
    }
}
