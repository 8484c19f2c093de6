//! The id of one run of a runtime, which all its descendants have in their environment.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Error;

/// The environment variable that carries the [`RunId`] to every descendant of a runtime.
pub(crate) const RUN_VARIABLE: &str = "ROOST_RUN";

/// Whether this process has `ROOST_RUN` in its environment, as every process that a runtime started.
pub fn is_inside_a_run() -> bool {
    std::env::var_os(RUN_VARIABLE).is_some()
}

/// Identifies one run of a runtime; safe as a file name, a cgroup name and an environment value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

impl RunId {
    /// A new id that no other run has.
    pub fn fresh() -> Self {
        Self(uuid::Uuid::now_v7().to_string())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RunId {
    type Error = Error;

    fn try_from(id: String) -> Result<Self, Error> {
        let safe = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if (1..=64).contains(&id.len()) && id.bytes().all(safe) { Ok(Self(id)) } else { Err(Error::BadRunId(id)) }
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
