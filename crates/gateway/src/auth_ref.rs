//! Where the credentials of a remote service are kept, and how they are sent.
//!
//! A manifest never holds a secret, only a reference to one: a variable of the daemon, a file in its secrets folder, or an
//! entry of the desktop's keyring.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use roost_model::secret::Secret;

use crate::keyring::Keyring;

/// The variables of references without a form begin with this.
const NAMED_PREFIX: &str = "CLARITY_REMOTE_AUTH_";
/// A secret is a line, not a document.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// A reference to a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthRef {
    /// A variable of the daemon's environment.
    Variable(String),
    /// A file below the secrets folder.
    File(PathBuf),
    /// An entry of the desktop's keyring.
    Keyring(String),
    /// A variable of the daemon's environment, sent in a header of this name.
    Header {
        /// The header's name.
        header: String,
        /// The variable's name.
        variable: String,
    },
}

/// Why a reference cannot be used. Names what is referred to and never a secret.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthRefError {
    /// The text is none of the five forms.
    #[error(
        "\"{0}\" is no reference to a secret; write env:VARIABLE, file:RELATIVE/PATH, keyring:NAME, \
         header_env:Header-Name:VARIABLE, or the name of a variable that begins with {NAMED_PREFIX}"
    )]
    Malformed(String),
    /// The variable is not there, or empty.
    #[error("the daemon has no variable {0}; set it and restart the daemon")]
    NoVariable(String),
    /// The file is not there or cannot be used.
    #[error("{path}: {reason}")]
    File {
        /// As the reference names it.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The keyring cannot be used, or has no such entry.
    #[error("keyring:{name}: {reason}")]
    Keyring {
        /// As the reference names it.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The secret has characters that no header may have.
    #[error("the secret of \"{0}\" has line breaks or control characters in it; it must be one line of text")]
    NotALine(String),
}

impl AuthRef {
    /// Reads a reference.
    pub fn parse(text: &str) -> Result<Self, AuthRefError> {
        let malformed = || AuthRefError::Malformed(text.into());
        let variable = |name: &str| is_variable(name).then(|| name.to_owned()).ok_or_else(malformed);
        match text.split_once(':') {
            Some(("env", name)) => Ok(Self::Variable(variable(name)?)),
            Some(("file", path)) => {
                let is_below = |part: Component<'_>| matches!(part, Component::Normal(_));
                let path = PathBuf::from(path);
                match !path.as_os_str().is_empty() && path.components().all(is_below) {
                    true => Ok(Self::File(path)),
                    false => Err(malformed()),
                }
            }
            Some(("keyring", name)) if is_entry(name) => Ok(Self::Keyring(name.into())),
            Some(("header_env", rest)) => {
                let (header, name) = rest.split_once(':').ok_or_else(malformed)?;
                match is_header(header) {
                    true => Ok(Self::Header { header: header.into(), variable: variable(name)? }),
                    false => Err(malformed()),
                }
            }
            Some(_) => Err(malformed()),
            None if text.is_empty() => Err(malformed()),
            None => {
                let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
                Ok(Self::Variable(NAMED_PREFIX.chars().chain(text.chars().map(upper)).collect()))
            }
        }
    }

    /// The header that carries the secret, and its value. Blocks on the disk or the keyring if it is kept there.
    pub fn read(
        &self,
        variable: impl Fn(&str) -> Option<String>,
        secrets: &Path,
    ) -> Result<(String, Secret), AuthRefError> {
        let of_variable = |name: &String| {
            let value = variable(name).filter(|value| !value.trim().is_empty());
            value.ok_or_else(|| AuthRefError::NoVariable(name.clone()))
        };
        let (header, value) = match self {
            Self::Variable(name) => ("authorization", bearer(&of_variable(name)?)),
            Self::File(path) => ("authorization", bearer(&read_file(secrets, path)?)),
            Self::Keyring(name) => ("authorization", bearer(&read_entry(&variable, name)?)),
            Self::Header { header, variable } => (header.as_str(), of_variable(variable)?.trim().to_owned()),
        };
        match value.chars().any(char::is_control) {
            true => Err(AuthRefError::NotALine(self.to_string())),
            false => Ok((header.to_owned(), value.into())),
        }
    }
}

impl fmt::Display for AuthRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Keyring(name) => write!(f, "keyring:{name}"),
            Self::Header { header, variable } => write!(f, "header_env:{header}:{variable}"),
        }
    }
}

fn bearer(secret: &str) -> String {
    let secret = secret.trim();
    match secret.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer ")) {
        true => secret.to_owned(),
        false => format!("Bearer {secret}"),
    }
}

fn is_variable(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| plain(c) && !c.is_ascii_digit()) && name.chars().all(plain)
}

/// Whether this can name an entry of the keyring; what begins with a dash would be an option of the program behind it.
fn is_entry(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.len() <= 200 && name.chars().all(plain)
}

fn read_entry(variable: impl Fn(&str) -> Option<String>, name: &str) -> Result<String, AuthRefError> {
    let failed = |reason: String| AuthRefError::Keyring { name: name.into(), reason };
    let found = Keyring(variable).get(name).map_err(failed)?;
    found.filter(|secret| !secret.trim().is_empty()).ok_or_else(|| failed("there is no such secret".into()))
}

/// Whether a secret may be sent in this header; not in those that say how a message is read.
fn is_header(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let taken = ["accept", "connection", "content-length", "content-type", "host", "transfer-encoding"];
    let is_protocol = |name: &str| taken.contains(&name) || name.starts_with("mcp-");
    !name.is_empty() && name.chars().all(plain) && !is_protocol(&name.to_ascii_lowercase())
}

/// Reads a secret; links must not lead out of the folder.
fn read_file(secrets: &Path, path: &Path) -> Result<String, AuthRefError> {
    let failed = |reason: &str| AuthRefError::File { path: path.display().to_string(), reason: reason.into() };
    let root = secrets.canonicalize().map_err(|_| failed("there is no secrets folder"))?;
    let file = root.join(path).canonicalize().map_err(|_| failed("there is no such secret"))?;
    if !file.starts_with(&root) {
        return Err(failed("it is a link to a place outside of the secrets folder"));
    }
    let metadata = file.metadata().map_err(|_| failed("it cannot be read"))?;
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        return Err(failed("it is no file, or too long for a secret"));
    }
    let text = std::fs::read_to_string(file).map_err(|_| failed("it cannot be read as text"))?;
    match text.trim() {
        "" => Err(failed("it is empty")),
        secret => Ok(secret.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_five_forms_are_understood() {
        let header = AuthRef::Header { header: "X-Key".into(), variable: "KEY".into() };
        for (text, expected) in [
            ("my-server", AuthRef::Variable("CLARITY_REMOTE_AUTH_MY_SERVER".into())),
            ("env:TOKEN", AuthRef::Variable("TOKEN".into())),
            ("file:team/token", AuthRef::File("team/token".into())),
            ("keyring:team/token", AuthRef::Keyring("team/token".into())),
            ("header_env:X-Key:KEY", header),
        ] {
            assert_eq!(AuthRef::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "env:",
            "env:1A",
            "env:A-B",
            "file:",
            "file:../x",
            "file:/etc/passwd",
            "file:a/../../x",
            "keyring:",
            "keyring:--option",
            "keyring:a b",
            "header_env:X-Key",
            "header_env:Content-Type:KEY",
            "header_env:Mcp-Session-Id:KEY",
            "header_env:X Key:KEY",
            "vault:x",
        ] {
            assert_eq!(AuthRef::parse(text), Err(AuthRefError::Malformed(text.into())));
        }
    }

    #[test]
    fn a_secret_is_sent_as_its_reference_says() {
        let folder = tempfile::TempDir::new().unwrap();
        std::fs::write(folder.path().join("token"), "s3cret\n").unwrap();
        std::fs::write(folder.path().join("empty"), "\n").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("link")).unwrap();
        let variables = |name: &str| match name {
            "PLAIN" => Some("s3cret".to_owned()),
            "BEARER" => Some("bearer s3cret".to_owned()),
            "LINES" => Some("a\nb".to_owned()),
            "BLANK" => Some(" ".to_owned()),
            _ => None,
        };
        let cases = [
            ("env:PLAIN", Some(("authorization", "Bearer s3cret"))),
            ("env:BEARER", Some(("authorization", "bearer s3cret"))),
            ("header_env:X-Key:PLAIN", Some(("X-Key", "s3cret"))),
            ("file:token", Some(("authorization", "Bearer s3cret"))),
            ("env:LINES", None),
            ("env:BLANK", None),
            ("env:NONE", None),
            ("file:empty", None),
            ("file:none", None),
            ("file:link", None),
        ];
        for (text, expected) in cases {
            let read = AuthRef::parse(text).unwrap().read(variables, folder.path());
            let said = read.as_ref().map(|(header, value)| (header.as_str(), value.expose())).ok();
            assert_eq!(said, expected, "{text}");
            assert!(!format!("{read:?}").contains("s3cret"), "{read:?}");
        }
    }
}
