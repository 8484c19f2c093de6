//! Guesses whether a file holds a secret, by its path alone.

use std::borrow::Cow;

use crate::index::extension;

/// Words in the names of settings files that hold secrets.
const SUBJECTS: &[&str] =
    &["api_key", "apikey", "credential", "password", "secret", "service-account", "service_account"];

/// Folders whose `config` or `config.json` may hold credentials.
const LOGINS: [&str; 3] = [".git", ".docker", ".kube"];

/// Whether the file at this path likely holds a secret.
pub fn is_sensitive(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let name = small(name);
    let name = name.as_ref();
    if matches!(name, "config" | "config.json") {
        let folder = folder.rsplit('/').next().unwrap_or_default();
        return LOGINS.contains(&folder);
    }
    match extension(name) {
        // A template holds the names of secrets and none of them.
        "dist" | "example" | "sample" | "template" => return false,
        // Keys, and stores of keys.
        "jks" | "kdbx" | "key" | "keystore" | "ovpn" | "p12" | "p8" | "pem" | "pfx" | "ppk" | "tfstate" | "tfvars" => {
            return true;
        }
        "cfg" | "conf" | "ini" | "json" | "properties" | "toml" | "txt" | "xml" | "yaml" | "yml" => {
            return SUBJECTS.iter().any(|subject| name.contains(subject)) || name.starts_with(".env.");
        }
        _ => {}
    }
    match name {
        ".dockercfg" | ".env" | ".envrc" | ".git-credentials" | ".htpasswd" | ".netrc" | ".npmrc" | ".pgpass"
        | ".pypirc" | "_netrc" | "credentials" | "id_dsa" | "id_ecdsa" | "id_ed25519" | "id_rsa" | "secrets" => true,
        _ => name.starts_with(".env."),
    }
}

/// The name in lower case. It is copied only if it has capital letters, because this is called for every file.
pub(crate) fn small(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) { name.to_ascii_lowercase().into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_and_others_are_not() {
        for name in [
            ".env",
            ".env.local",
            "id_rsa",
            "server.PEM",
            "credentials",
            "aws-credentials.json",
            ".npmrc",
            "a/.env",
            ".git/config",
            "home/.kube/config",
            ".docker/config.json",
        ] {
            assert!(is_sensitive(name), "{name}");
        }
        for name in [
            ".env.example",
            "environment.rs",
            "id_rsa.pub",
            "secrets.rs",
            "keys.md",
            "monkey",
            "README.md",
            "config.json",
            "src/config",
            ".env/main.rs",
        ] {
            assert!(!is_sensitive(name), "{name}");
        }
    }
}
