//! The TLS setting, as `--tls` and `server.tls` write it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const SELF_SIGNED: &str = "self-signed";

/// Where the certificate comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Tls {
    /// The daemon makes one for itself, in its state directory.
    SelfSigned,
    /// PEM files of the user's.
    Files {
        /// The certificate chain, the server's own first.
        cert: PathBuf,
        /// The private key of the first certificate.
        key: PathBuf,
    },
}

impl FromStr for Tls {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(',') {
            None if text == SELF_SIGNED => Ok(Self::SelfSigned),
            Some((cert, key)) if !cert.is_empty() && !key.is_empty() => {
                Ok(Self::Files { cert: cert.into(), key: key.into() })
            }
            _ => Err(format!("\"{text}\" is neither `{SELF_SIGNED}` nor two PEM files, as in cert.pem,key.pem")),
        }
    }
}

impl TryFrom<String> for Tls {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Tls> for String {
    fn from(tls: Tls) -> Self {
        tls.to_string()
    }
}

impl fmt::Display for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SelfSigned => f.write_str(SELF_SIGNED),
            Self::Files { cert, key } => write!(f, "{},{}", cert.display(), key.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encryption_is_self_signed_or_two_files() {
        let files = Tls::Files { cert: "a.pem".into(), key: "b.pem".into() };
        assert_eq!("self-signed".parse(), Ok(Tls::SelfSigned));
        assert_eq!("a.pem,b.pem".parse(), Ok(files));
        for wrong in ["", "yes", "a.pem", "a.pem,", ",b.pem"] {
            assert!(wrong.parse::<Tls>().is_err(), "{wrong:?}");
        }
    }
}
