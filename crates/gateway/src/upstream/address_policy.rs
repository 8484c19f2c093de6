//! Which addresses the gateway connects to, so that no server, redirect or name leads it into the machine or its network.
//!
//! A manifest may name a server on this machine. Everything else must be on the internet, unless the user allows its host.
//! Names are checked again when they are resolved, in the same step that connects.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// Which hosts may be reached.
#[derive(Clone, Debug, Default)]
pub struct AddressPolicy {
    /// If given, only these hosts may be reached, and they may have private addresses.
    allowed_hosts: Option<Arc<[String]>>,
}

/// Why an address is not connected to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressRefused {
    /// It is no address of a server.
    #[error("{0:?} is no address of a server; it must begin with http:// or https:// and have a host")]
    NotHttp(String),
    /// The user allows other hosts only.
    #[error("{0} is not among the allowed hosts; add it to `allowed_hosts` in [gateway] of roost.toml")]
    NotListed(String),
    /// It is in a private network.
    #[error(
        "{0} is an address of this machine or of a private network; to allow it, add the host to `allowed_hosts` in \
         [gateway] of roost.toml"
    )]
    Private(String),
}

impl AddressPolicy {
    /// The policy with a list of hosts; `None` allows all hosts of the internet.
    pub fn new(allowed_hosts: Option<Vec<String>>) -> Self {
        let lower = |hosts: Vec<String>| hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        Self { allowed_hosts: allowed_hosts.map(lower) }
    }

    /// The hosts of the variable `CLARITY_REMOTE_ALLOWED_HOSTS`, divided by commas.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let hosts =
            |text: String| text.split(',').map(|host| host.trim().to_owned()).filter(|host| !host.is_empty()).collect();
        Self::new(variable("CLARITY_REMOTE_ALLOWED_HOSTS").map(hosts).filter(|hosts: &Vec<_>| !hosts.is_empty()))
    }

    /// Checks the address that a manifest names, which may be on this machine.
    pub fn check_endpoint(&self, address: &Url) -> Result<(), AddressRefused> {
        self.check(address, true)
    }

    /// Checks an address that the server of `endpoint` named. Only a server on this machine may name this machine.
    pub fn check_linked(&self, address: &Url, endpoint: &Url) -> Result<(), AddressRefused> {
        self.check(address, names_this_machine(endpoint))
    }

    /// Checks an address that a module wants to reach. What is not on the internet must be among the allowed hosts, so that
    /// a policy of `*` does not open this machine to modules.
    pub(super) fn check_module(&self, address: &Url) -> Result<(), AddressRefused> {
        self.check(address, false)
    }

    fn check(&self, address: &Url, this_machine: bool) -> Result<(), AddressRefused> {
        let Some(host) = address.host_str().filter(|_| matches!(address.scheme(), "http" | "https")) else {
            return Err(AddressRefused::NotHttp(address.to_string()));
        };
        match &self.allowed_hosts {
            Some(allowed) if !allowed.iter().any(|allowed| allowed == host) => {
                return Err(AddressRefused::NotListed(host.into()));
            }
            Some(_) => return Ok(()),
            None => {}
        }
        let is_private = match address.host() {
            Some(Host::Ipv4(ip)) => is_private(ip.into()),
            Some(Host::Ipv6(ip)) => is_private(ip.into()),
            Some(Host::Domain(name)) => is_local_name(name),
            None => true,
        };
        match is_private && !(this_machine && names_this_machine(address)) {
            true => Err(AddressRefused::Private(host.into())),
            false => Ok(()),
        }
    }

    /// Whether a name that resolved to this address may be connected to.
    fn allows(&self, name: &str, ip: IpAddr) -> bool {
        let is_listed = self.allowed_hosts.as_ref().is_some_and(|allowed| allowed.iter().any(|host| host == name));
        is_listed || !is_private(ip) || (is_local_name(name) && ip.is_loopback())
    }
}

/// Whether the address is one of this machine by its own words.
fn names_this_machine(address: &Url) -> bool {
    match address.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => is_local_name(name),
        None => false,
    }
}

fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

/// Whether an address is not one of the internet.
fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_private_v4(ip),
        IpAddr::V6(ip) => is_private_v6(ip),
    }
}

fn is_private_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let protocols = (a, b, c) == (192, 0, 0);
    let benchmarks = a == 198 && (18..20).contains(&b);
    let special = shared || protocols || benchmarks || a == 0 || a >= 240;
    special || ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_multicast() || ip.is_documentation()
}

fn is_private_v6(ip: Ipv6Addr) -> bool {
    // The addresses of the older internet can be written in these as well.
    let embedded = match ip.segments() {
        [0, 0, 0, 0, 0, 0xffff | 0, a, b] | [0x64, 0xff9b, 0, 0, 0, 0, a, b] | [0x2002, a, b, ..] => {
            let ([a, b], [c, d]) = (a.to_be_bytes(), b.to_be_bytes());
            is_private_v4(Ipv4Addr::new(a, b, c, d))
        }
        _ => false,
    };
    let local = ip.is_unique_local() || ip.is_unicast_link_local() || ip.segments()[0] & 0xffc0 == 0xfec0;
    embedded
        || local
        || ip.is_loopback()
        || ip.is_unspecified()
        || ip.is_multicast()
        || ip.segments()[..2] == [0x2001, 0xdb8]
}

/// Resolves names for the HTTP client and lets only allowed addresses through.
impl Resolve for AddressPolicy {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.clone();
        Box::pin(async move {
            let host = name.as_str().to_ascii_lowercase();
            let found: Vec<_> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let allowed: Vec<_> = found.into_iter().filter(|address| policy.allows(&host, address.ip())).collect();
            match allowed.is_empty() {
                true => Err(AddressRefused::Private(host).into()),
                false => Ok(Box::new(allowed.into_iter()) as Addrs),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_manifest_may_name_this_machine_and_the_internet_only() {
        let policy = AddressPolicy::default();
        for (address, expected) in [
            ("http://127.0.0.1:3000/mcp", true),
            ("http://[::1]:3000/mcp", true),
            ("http://localhost:3000/mcp", true),
            ("https://mcp.example.com/mcp", true),
            ("https://93.184.216.34/", true),
            ("http://169.254.169.254/latest/meta-data", false),
            ("http://2852039166/", false),
            ("http://[::ffff:169.254.169.254]/", false),
            ("http://[64:ff9b::a9fe:a9fe]/", false),
            ("http://[fe80::1]/", false),
            ("http://[fd00::1]/", false),
            ("http://10.0.0.1/", false),
            ("http://192.168.1.1/", false),
            ("http://172.16.0.1/", false),
            ("http://100.64.0.1/", false),
            ("http://0.0.0.0:3000/", false),
            ("file:///etc/passwd", false),
        ] {
            assert_eq!(policy.check_endpoint(&url(address)).is_ok(), expected, "{address}");
        }
    }

    #[test]
    fn only_a_server_on_this_machine_may_lead_to_this_machine() {
        let policy = AddressPolicy::default();
        let (local, remote) = (url("http://localhost:3000/mcp"), url("https://mcp.example.com/mcp"));
        for (address, from_local, from_remote) in [
            ("http://127.0.0.1:9000/token", true, false),
            ("http://app.localhost/token", true, false),
            ("https://login.example.com/token", true, true),
            ("http://169.254.169.254/token", false, false),
        ] {
            assert_eq!(policy.check_linked(&url(address), &local).is_ok(), from_local, "{address}");
            assert_eq!(policy.check_linked(&url(address), &remote).is_ok(), from_remote, "{address}");
        }
    }

    #[test]
    fn a_list_allows_its_hosts_wherever_they_are_and_no_others() {
        let policy = AddressPolicy::from_variables(|_| Some("nas.home, 10.0.0.1".into()));
        assert!(policy.check_endpoint(&url("http://10.0.0.1/")).is_ok());
        assert!(policy.check_endpoint(&url("http://NAS.home/")).is_ok());
        let refused = policy.check_endpoint(&url("https://mcp.example.com/"));
        assert_eq!(refused, Err(AddressRefused::NotListed("mcp.example.com".into())));
        assert!(policy.allows("nas.home", Ipv4Addr::new(10, 0, 0, 9).into()));
    }

    #[test]
    fn a_name_must_not_resolve_to_a_private_address() {
        let policy = AddressPolicy::default();
        let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
        assert!(policy.allows("localhost", loopback));
        assert!(!policy.allows("rebind.example.com", loopback));
        assert!(!policy.allows("localhost", Ipv4Addr::new(10, 0, 0, 1).into()));
        assert!(policy.allows("mcp.example.com", Ipv4Addr::new(93, 184, 216, 34).into()));
    }
}
