//! Which files likely hold a secret, by their names alone.

/// Names that hold a secret whole.
const NAMES: &[&str] = &[
    ".dockercfg",
    ".envrc",
    ".git-credentials",
    ".htpasswd",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    "_netrc",
    "credentials",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "secrets",
];

/// How the name of a key or of a key store ends.
const ENDINGS: &[&str] =
    &[".jks", ".kdbx", ".key", ".keystore", ".ovpn", ".p12", ".p8", ".pem", ".pfx", ".ppk", ".tfstate", ".tfvars"];

/// Files of settings in which a secret is likely when they are named after one.
const SETTINGS: &[&str] = &["cfg", "conf", "ini", "json", "properties", "toml", "txt", "xml", "yaml", "yml"];

/// What such a file is named after.
const SUBJECTS: &[&str] = &["api_key", "apikey", "credential", "password", "secret", "service-account", "service_account"];

/// What a template is called, which holds the names of secrets and none of them.
const TEMPLATES: &[&str] = &[".dist", ".example", ".sample", ".template"];

/// Whether a file of this name likely holds a secret.
pub fn is_sensitive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    if TEMPLATES.iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    let is_settings = name.rsplit_once('.').is_some_and(|(_, extension)| SETTINGS.contains(&extension));
    name == ".env"
        || name.starts_with(".env.")
        || NAMES.contains(&name.as_str())
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || (is_settings && SUBJECTS.iter().any(|subject| name.contains(subject)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_and_others_are_not() {
        for name in [".env", ".env.local", "id_rsa", "server.PEM", "credentials", "aws-credentials.json", ".npmrc"] {
            assert!(is_sensitive(name), "{name}");
        }
        for name in [".env.example", "environment.rs", "id_rsa.pub", "secrets.rs", "keys.md", "monkey", "README.md"] {
            assert!(!is_sensitive(name), "{name}");
        }
    }
}
