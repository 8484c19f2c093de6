//! The environment of a runtime: empty, plus the allow-listed variables of the daemon, plus what the launch adds.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

/// Variables that pass from the daemon to a runtime.
const ALLOWED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TZ",
    "TMPDIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
];

/// Prefixes of further variables that pass.
const ALLOWED_PREFIXES: &[&str] = &["LC_", "XDG_", "SSL_CERT_"];

/// The complete environment of a launch. The runtime inherits nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// The allow-listed variables of the daemon's own environment.
    pub fn allowed_from(daemon: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self(daemon.into_iter().filter(|(name, _)| is_allowed(name)).collect())
    }

    /// Adds or replaces one variable.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> &mut Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// The value of a variable; `None` if it is not set.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.0.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// All variables in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

/// Variables that a session may not set, because they decide which programs run or where the runtime stores its state.
const REFUSED: &[&str] = &["PATH", "HOME", "NODE_OPTIONS", "BASH_ENV", "ENV"];

/// Prefixes of further variables that a session may not set.
const REFUSED_PREFIXES: &[&str] = &["LD_", "DYLD_", "XDG_", "ROOST_"];

/// Checks a variable that a session wants to set; the error says why it may not.
pub fn check_variable(name: &str, value: &str) -> Result<(), &'static str> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) || !name.bytes().all(is_name) {
        return Err("a name has letters, digits and underscores, and does not begin with a digit");
    }
    if value.contains('\0') {
        return Err("its value has a NUL byte, which no environment can hold");
    }
    if REFUSED.contains(&name) || REFUSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return Err(
            "it decides which programs run or where a runtime lives; set it for all sessions of a runtime under \
                    [runtimes.<id>.env] in roost.toml, or choose an isolation",
        );
    }
    Ok(())
}

fn is_allowed(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| ALLOWED.contains(&name) || ALLOWED_PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_may_not_set_what_decides_which_programs_run() {
        let table = [
            ("GREETING", true),
            ("_x1", true),
            ("PATHS", true),
            ("PATH", false),
            ("HOME", false),
            ("LD_PRELOAD", false),
            ("XDG_CONFIG_HOME", false),
            ("ROOST_RUN", false),
            ("NODE_OPTIONS", false),
            ("1x", false),
            ("a b", false),
            ("", false),
        ];
        for (name, may) in table {
            assert_eq!(check_variable(name, "value").is_ok(), may, "{name}");
        }
        assert!(check_variable("GREETING", "a\0b").is_err());
    }

    #[test]
    fn only_the_allow_list_passes() {
        let table = [
            ("PATH", true),
            ("LC_ALL", true),
            ("XDG_RUNTIME_DIR", true),
            ("SSL_CERT_FILE", true),
            ("https_proxy", true),
            ("Path", false),
            ("LC", false),
            ("AWS_SECRET_ACCESS_KEY", false),
            ("GITHUB_TOKEN", false),
            ("LD_PRELOAD", false),
            ("ROOST_RUN", false),
            ("", false),
        ];
        for (name, allowed) in table {
            let environment = Environment::allowed_from([(name.into(), "value".into())]);
            assert_eq!(environment.get(name).is_some(), allowed, "{name}");
        }
    }
}
