//! Files whose names say that they hold secrets.

/// Names, and endings of names, of files that people keep secrets in; examples of such files hold none.
const NAMES: [&str; 13] = [
    ".env",
    ".envrc",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    "credentials",
    "credentials.json",
    "secrets.json",
    "secrets.yaml",
    "secrets.yml",
    "secrets.toml",
];
const KEYS: [&str; 4] = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
const ENDINGS: [&str; 7] = [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx"];
const HARMLESS: [&str; 4] = [".example", ".sample", ".template", ".pub"];

/// A file of this name probably holds secrets.
pub fn is_sensitive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    if HARMLESS.iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    NAMES.contains(&name.as_str())
        || name.starts_with(".env.")
        || KEYS.contains(&name.as_str())
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_keep_secrets_in_is_told_by_its_name() {
        for name in [".env", ".env.local", "ID_RSA", "id_ed25519", "server.pem", "tls.KEY", "credentials", ".npmrc"] {
            assert!(is_sensitive(name), "{name}");
        }
        for name in [".env.example", "id_rsa.pub", "main.rs", "keys.md", "environment", "id_card.txt", "monkey"] {
            assert!(!is_sensitive(name), "{name}");
        }
    }
}
