//! The methods for secrets of services: references to them, and the files that hold them (seed 003). No result holds a
//! secret.

use roost_model::secret::Secret;
use serde::{Deserialize, Serialize};

params! {
    /// Parameters of methods about one secret.
    SecretParams {
        /// A reference: `env:VARIABLE`, `file:RELATIVE/PATH`, `keyring:NAME`, `header_env:Header-Name:VARIABLE`, or a plain
        /// name.
        #[serde(alias = "authRef")]
        auth_ref: String,
        ;
    }
}

params! {
    /// Parameters of `secret/set`.
    SecretSetParams {
        /// A reference to a file or to the keyring: `file:RELATIVE/PATH` or `keyring:NAME`.
        #[serde(alias = "authRef")]
        auth_ref: String,
        /// The secret: one line of text.
        secret: Secret,
        ;
    }
}

wire! {
    /// A secret was written.
    #[serde(rename_all = "camelCase")]
    SecretWritten {
        /// The reference as it was given.
        auth_ref: String,
        /// The provider that keeps it: `file` or `keyring`.
        provider: String,
        /// Its path within the folder of secrets, or its name in the keyring.
        path: String,
        /// True in every answer; a failure is an error.
        written: bool,
    }
}

wire! {
    /// A secret was deleted.
    #[serde(rename_all = "camelCase")]
    SecretDeleted {
        /// The reference as it was given.
        auth_ref: String,
        /// The provider that keeps it: `file` or `keyring`.
        provider: String,
        /// Its path within the folder of secrets, or its name in the keyring.
        path: String,
        /// True in every answer; a failure is an error.
        deleted: bool,
    }
}

wire! {
    /// The secrets that are kept in files.
    SecretListResult {
        /// Number of secrets.
        count: u64,
        /// The secrets by path, at most 500.
        items: Vec<StoredSecret>,
    }
}

wire! {
    /// A secret that is kept in a file.
    #[serde(rename_all = "camelCase")]
    StoredSecret {
        /// The reference that a manifest may use.
        auth_ref: String,
        /// Its path within the folder of secrets.
        relative_path: String,
    }
}

wire! {
    /// Whether a reference can be used now.
    #[serde(rename_all = "camelCase")]
    SecretCheck {
        /// The reference as it was given.
        auth_ref: String,
        /// `legacy_env`, `env`, `file`, `header_env` or `keyring`; absent if it is no reference.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        /// Enough of what it leads to for somebody who knows it.
        target: String,
        /// The same text, under the name by which older clients look for it.
        redacted_target: String,
        /// Whether the secret is there and can be sent.
        valid: bool,
        /// Why not; empty if it can.
        issues: Vec<String>,
        /// The headers in which it would be sent.
        header_keys: Vec<String>,
        /// `environment`, `file` or `keyring`.
        source: String,
    }
}

wire! {
    /// A form of references.
    SecretProvider {
        /// `legacy_env`, `env`, `file`, `header_env` or `keyring`.
        name: String,
        /// Whether it can be used.
        supported: bool,
        /// Why it cannot be used; absent if it can.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issue: Option<String>,
    }
}

wire! {
    /// The forms of references, and the folder of secrets.
    #[serde(rename_all = "camelCase")]
    SecretProvidersResult {
        /// Every form that a reference may have.
        providers: Vec<SecretProvider>,
        /// The folder of secrets.
        file_root: String,
        /// Whether the folder exists; it is made for the first secret.
        file_root_exists: bool,
    }
}
