//! What a manifest says about a wasm module: the limits of its calls, and what it wants to do outside of its memory.

use serde::{Deserialize, Serialize};

/// What a call of a wasm module may take; a limit that is not given has the host's default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WasmLimits {
    /// How many wasm instructions it may run, roughly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u64>,
    /// How long it may run, in milliseconds; waiting for a person or a model does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How large its memory may become.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// How many elements each of its tables may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_elements: Option<u64>,
    /// The size of a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
    /// How many calls of the service may be under way at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrency: Option<u16>,
}

impl WasmLimits {
    /// Whether every limit is left to the host.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a wasm module may do outside of its own memory; nothing unless named.
///
/// A manifest says with it what a module wants, the server's policy what any module may have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WasmCapabilities {
    /// The models that it may call; `*` at the end of a name stands for any rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// The hosts that it may reach over HTTP; `*.` at the beginning stands for any host of a domain, `*` for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub http_hosts: Vec<String>,
    /// The folders whose files it may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<FolderGrant>,
    /// The names of the secrets that it may read; `*` at the end of a name stands for any rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// The tools of the gateway that it may list and call; `*` at the end of a name stands for any rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Whether it may ask a person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ask: bool,
    /// Whether it may read the clock and sleep.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clock: bool,
    /// Whether it gets random numbers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub random: bool,
}

impl WasmCapabilities {
    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A folder whose files may be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FolderGrant {
    /// The absolute path of the folder.
    pub path: String,
    /// What may be done to the files below it.
    pub access: FolderAccess,
}

/// What may be done to the files of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FolderAccess {
    /// They may be listed and read.
    Read,
    /// They may also be written, made and removed.
    Write,
}
