//! The addresses under which clients reach this daemon.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

/// What a client learns about this daemon when it pairs.
#[derive(Clone, Debug, Default)]
pub struct Endpoint {
    /// Where it listens; `None` if only on the local socket.
    pub address: Option<SocketAddr>,
    /// Whether the address serves TLS, and so `https` and `wss`.
    pub tls: bool,
    /// The certificate's SHA-256, where it is self-signed.
    pub fingerprint: Option<String>,
    /// The URL that clients reach it under, where that is not the address.
    pub external_url: Option<String>,
    /// The id of this run of the daemon.
    pub session: String,
    /// The default workspace's name; empty if there is none.
    pub repo: String,
    /// Whether clients need a token; shown to a client before it pairs.
    pub require_auth: bool,
}

/// The HTTP and WebSocket URLs of this daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Urls {
    pub(super) http: String,
    pub(super) ws: String,
}

impl Endpoint {
    /// The URLs for a client that addressed us by this name and port, or that has yet to learn how.
    pub(super) fn urls(&self, host: Option<&str>) -> Option<Urls> {
        let http = self.external_url.as_deref().map(|url| url.trim_end_matches('/').to_owned());
        let http = http.or_else(|| {
            let named = host.filter(|host| !is_loopback(host)).map(str::to_owned);
            Some(self.url(&named.unwrap_or(self.reachable()?.to_string())))
        })?;
        let ws = match http.split_once("://") {
            Some(("https", rest)) => format!("wss://{rest}/ws"),
            Some((_, rest)) => format!("ws://{rest}/ws"),
            None => format!("ws://{http}/ws"),
        };
        Some(Urls { http, ws })
    }

    /// The page as a browser on this machine reaches it.
    pub(super) fn page(&self, one_time: &str) -> Option<String> {
        Some(format!("{}/pair#{one_time}", self.local_url()?))
    }

    /// The URL for programs on this machine; `None` if only the local socket is listened on.
    pub(crate) fn local_url(&self) -> Option<String> {
        let mut address = self.address?;
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        Some(self.url(&address.to_string()))
    }

    fn url(&self, authority: &str) -> String {
        format!("{}://{authority}", if self.tls { "https" } else { "http" })
    }

    /// The address for other machines: where all interfaces are listened on, that of the default route.
    fn reachable(&self) -> Option<SocketAddr> {
        let mut address = self.address?;
        if address.ip().is_unspecified() {
            address.set_ip(way_out().unwrap_or(Ipv4Addr::LOCALHOST.into()));
        }
        Some(address)
    }
}

impl Urls {
    /// The link that a phone's camera opens: the pairing page with this code filled in. `None` if only this machine can
    /// reach it.
    pub(super) fn link(&self, code: &str) -> Option<String> {
        let (_, authority) = self.http.split_once("://")?;
        (!is_loopback(authority)).then(|| format!("{}/pair#{code}", self.http))
    }
}

/// The address that this machine would send from; nothing is sent.
fn way_out() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    // An address for documentation: it only picks the route.
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    socket.local_addr().ok().map(|address| address.ip())
}

/// A name and port that only this machine knows itself by.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name == "localhost" || name.ends_with(".localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(address: &str) -> Endpoint {
        Endpoint { address: Some(address.parse().unwrap()), ..Endpoint::default() }
    }

    #[test]
    fn urls_follow_the_address_the_name_that_was_used_and_what_is_configured() {
        let tls = Endpoint { tls: true, ..place("192.168.1.5:8766") };
        let external = Endpoint { external_url: Some("https://roost.example/".into()), ..place("127.0.0.1:8766") };
        let cases = [
            (place("127.0.0.1:8766"), None, "http://127.0.0.1:8766", "ws://127.0.0.1:8766/ws"),
            (place("127.0.0.1:8766"), Some("localhost:8766"), "http://127.0.0.1:8766", "ws://127.0.0.1:8766/ws"),
            (place("0.0.0.0:8766"), Some("box.lan:8766"), "http://box.lan:8766", "ws://box.lan:8766/ws"),
            (place("[::1]:8766"), None, "http://[::1]:8766", "ws://[::1]:8766/ws"),
            (tls, None, "https://192.168.1.5:8766", "wss://192.168.1.5:8766/ws"),
            (external, Some("box.lan"), "https://roost.example", "wss://roost.example/ws"),
        ];
        for (place, host, http, ws) in cases {
            let urls = place.urls(host).unwrap();
            assert_eq!((urls.http.as_str(), urls.ws.as_str()), (http, ws), "{host:?}");
        }
        assert_eq!(Endpoint::default().urls(Some("box.lan")), None);
    }

    #[test]
    fn an_address_that_means_all_is_never_told_to_a_client() {
        let urls = place("0.0.0.0:8766").urls(Some("localhost:8766")).unwrap();
        assert!(!urls.http.contains("0.0.0.0") && urls.http.ends_with(":8766"), "{urls:?}");
    }

    #[test]
    fn a_phone_gets_a_link_only_where_it_can_follow_it() {
        let tls = Endpoint { tls: true, ..place("192.168.1.5:8766") };
        let external = Endpoint { external_url: Some("https://roost.example/".into()), ..place("127.0.0.1:8766") };
        let cases = [
            (place("127.0.0.1:8766"), None),
            (place("[::1]:8766"), None),
            (tls, Some("https://192.168.1.5:8766/pair#164194")),
            (external, Some("https://roost.example/pair#164194")),
        ];
        for (place, link) in cases {
            assert_eq!(place.urls(None).unwrap().link("164194").as_deref(), link, "{place:?}");
        }
    }

    #[test]
    fn the_page_is_opened_on_this_machine() {
        assert_eq!(place("0.0.0.0:8766").page("s").unwrap(), "http://127.0.0.1:8766/pair#s");
        assert_eq!(place("127.0.0.1:9").page("s").unwrap(), "http://127.0.0.1:9/pair#s");
    }
}
