//! How the gateway is attached to the agents that Roost hosts: as one more MCP server of their session.
//!
//! Over HTTP with the session's token if the daemon listens on TCP without TLS, else through a process of the agent's own
//! that speaks to the local socket, where Roost sees which session the process belongs to.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::RwLock;
use roost_engine::GATEWAY_SERVER;
use roost_engine::adapter::{McpServer, McpServerTransport};
use roost_model::ids::SessionId;
use roost_model::secret::Secret;

use crate::endpoint::Endpoint;

/// Says whether there is a service whose tools agents could use.
type HasServices = Box<dyn Fn() -> bool + Send + Sync>;

/// Makes the MCP server entry of each session. Nothing is attached until [`Attachment::offer`] was called.
pub struct Attachment {
    /// The `roost` program and the state directory that leads it to this daemon.
    program: PathBuf,
    state: PathBuf,
    has_services: OnceLock<HasServices>,
    /// Where agents read which tools there are; it leads back here by way of the engine.
    endpoint: OnceLock<Weak<Endpoint>>,
    address: RwLock<Option<SocketAddr>>,
}

impl Attachment {
    /// An attachment by this `roost` program to the daemon of this state directory.
    pub fn new(program: PathBuf, state: PathBuf) -> Self {
        Self { program, state, has_services: OnceLock::new(), endpoint: OnceLock::new(), address: RwLock::new(None) }
    }

    /// From now on the gateway is attached to every runtime that is started while there are services. A second call
    /// changes nothing.
    pub fn offer(&self, has_services: impl Fn() -> bool + Send + Sync + 'static) {
        let _ = self.has_services.set(Box::new(has_services));
    }

    /// From now on turns wait for agents that read their tools here. A second call changes nothing.
    pub fn serve(&self, endpoint: &Arc<Endpoint>) {
        let _ = self.endpoint.set(Arc::downgrade(endpoint));
    }

    /// Waits, for a bounded time, until a session's agent has read the list of tools as it is now.
    pub async fn tools_read(&self, session: &SessionId) {
        if let Some(endpoint) = self.endpoint.get().and_then(Weak::upgrade) {
            endpoint.tools_read(session).await;
        }
    }

    /// From now on runtimes reach the gateway over plain HTTP at this address.
    pub fn listen_at(&self, address: SocketAddr) {
        *self.address.write() = Some(address);
    }

    /// The servers for a session with this token.
    pub fn servers(&self, token: &Secret) -> Vec<McpServer> {
        if !self.has_services.get().is_some_and(|has_services| has_services()) {
            return Vec::new();
        }
        let transport = match *self.address.read() {
            Some(address) => McpServerTransport::Http {
                url: format!("http://{}/mcp", from_this_machine(address)),
                headers: [("Authorization".to_owned(), format!("Bearer {}", token.expose()))].into(),
            },
            None => McpServerTransport::Stdio {
                command: self.program.clone(),
                args: ["--state", &self.state.to_string_lossy(), "gateway", "serve", "--stdio"].map(Into::into).into(),
                env: BTreeMap::new(),
            },
        };
        vec![McpServer { name: GATEWAY_SERVER.into(), transport }]
    }
}

/// The address by which a program of this machine reaches one that listens at `address`.
fn from_this_machine(address: SocketAddr) -> SocketAddr {
    let ip: IpAddr = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attachment() -> Attachment {
        Attachment::new("/usr/bin/roost".into(), "/home/ada/state".into())
    }

    #[test]
    fn nothing_is_attached_where_there_is_nothing_to_use() {
        let attachment = attachment();
        assert_eq!(attachment.servers(&"token".into()), []);
        attachment.offer(|| false);
        assert_eq!(attachment.servers(&"token".into()), []);
    }

    #[test]
    fn an_agent_reaches_the_gateway_over_http_or_through_the_local_socket() {
        let attachment = attachment();
        attachment.offer(|| true);
        let [McpServer { name, transport: McpServerTransport::Stdio { command, args, env } }] =
            &attachment.servers(&"token".into())[..]
        else {
            panic!()
        };
        assert_eq!((name.as_str(), command.to_str()), ("roost", Some("/usr/bin/roost")));
        assert_eq!(args.join(" "), "--state /home/ada/state gateway serve --stdio");
        assert!(env.is_empty(), "a process needs no token, because its session is seen");
        for (address, expected) in [
            ("127.0.0.1:8766", "http://127.0.0.1:8766/mcp"),
            ("0.0.0.0:8766", "http://127.0.0.1:8766/mcp"),
            ("[::]:80", "http://[::1]:80/mcp"),
            ("192.0.2.7:8766", "http://192.0.2.7:8766/mcp"),
        ] {
            attachment.listen_at(address.parse().unwrap());
            let [McpServer { transport: McpServerTransport::Http { url, headers }, .. }] =
                &attachment.servers(&"token".into())[..]
            else {
                panic!()
            };
            assert_eq!((url.as_str(), headers["Authorization"].as_str()), (expected, "Bearer token"));
        }
    }
}
