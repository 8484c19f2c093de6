//! Encryption: a certificate from files, or one of our own whose fingerprint is in the QR code.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::settings::Tls;

/// Names that a certificate of our own is good for.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The acceptor of TLS connections, with our certificate.
pub(crate) struct Identity {
    pub(crate) acceptor: TlsAcceptor,
    /// SHA-256 of our own certificate, for clients that pin it.
    pub(crate) fingerprint: Option<String>,
}

/// Reads or makes the certificate. One of our own is kept in the state directory, so that it stays the same.
pub(crate) fn identity(tls: &Tls, state: &Path, address: std::net::IpAddr) -> io::Result<Identity> {
    let (cert, key) = match tls {
        Tls::Files { cert, key } => (cert.clone(), key.clone()),
        Tls::SelfSigned => own(state, address)?,
    };
    let chain: Vec<_> =
        CertificateDer::pem_file_iter(&cert).and_then(Iterator::collect).map_err(|error| bad(&cert, &error))?;
    let private = PrivateKeyDer::from_pem_file(&key).map_err(|error| bad(&key, &error))?;
    let first = chain.first().ok_or_else(|| bad(&cert, &"it holds no certificate"))?;
    let fingerprint = matches!(tls, Tls::SelfSigned)
        .then(|| Sha256::digest(first).iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":"));
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| bad(&cert, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Identity { acceptor: TlsAcceptor::from(Arc::new(config)), fingerprint })
}

fn bad(path: &Path, why: &dyn std::fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {why}", path.display()))
}

fn own(state: &Path, address: std::net::IpAddr) -> io::Result<(PathBuf, PathBuf)> {
    let (cert, key) = (state.join("tls.crt"), state.join("tls.key"));
    if cert.exists() && key.exists() {
        return Ok((cert, key));
    }
    let mut names: Vec<_> = NAMES.map(String::from).into();
    if !address.is_unspecified() && !address.is_loopback() {
        names.push(address.to_string());
    }
    let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
    for (path, text) in [(&key, made.signing_key.serialize_pem()), (&cert, made.cert.pem())] {
        let file = roost_log::private_file().write(true).create(true).truncate(true).open(path);
        file?.write_all(text.as_bytes())?;
    }
    Ok((cert, key))
}
