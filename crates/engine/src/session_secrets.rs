//! The parts of a session that events must not hold, because they may be secret: the values of its variables, its
//! runtime's own settings, and its MCP servers with their headers and variables.
//!
//! They are stored in a row beside the log, so that they survive a restart. Events and records have the names of the
//! variables, and the hash and the redacted form of the settings.

use std::collections::BTreeMap;

use roost_log::{Log, RowChange, RowKind};
use roost_model::ids::SessionId;
use roost_model::secret::Secret;
use roost_model::session::SessionRecord;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::adapter::McpServer;
use crate::error::Error;

/// The environment variables of a session by their names.
pub(crate) type Variables = BTreeMap<String, Secret>;

/// The most variables that a session may set.
const MAX: usize = 64;
/// The most bytes that their names and values may have together.
const MAX_BYTES: usize = 64 << 10;

/// The row of one session, stored as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionSecrets {
    #[serde(default)]
    pub(crate) env: Variables,
    #[serde(default)]
    pub(crate) runtime_config: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) mcp_servers: Vec<McpServer>,
}

impl SessionSecrets {
    /// [`Error::BadVariable`] if a variable is reserved or malformed, or if there are too many.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let bad = |name: &str, why: String| Error::BadVariable { name: name.into(), why };
        for (name, value) in &self.env {
            roost_process::check_variable(name, value.expose()).map_err(|why| bad(name, why.into()))?;
        }
        let bytes: usize = self.env.iter().map(|(name, value)| name.len() + value.expose().len()).sum();
        match self.env.last_key_value() {
            Some((name, _)) if self.env.len() > MAX || bytes > MAX_BYTES => {
                Err(bad(name, format!("a session has {MAX} variables of {MAX_BYTES} bytes together at most")))
            }
            _ => Ok(()),
        }
    }

    /// Stores the row; nothing is stored if all parts are empty.
    pub(crate) async fn store(&self, log: &dyn Log, session: &SessionId) -> Result<(), Error> {
        if *self == Self::default() {
            return Ok(());
        }
        // Texts and JSON always serialise.
        let body = serde_json::to_string(self).unwrap_or_default();
        Ok(log.keep(vec![change(session, Some(body))], Vec::new()).await?)
    }

    /// Reads a session's row. If it is missing although it should be there, as for a deleted session, all parts are
    /// empty.
    pub(crate) async fn load(log: &dyn Log, record: &SessionRecord) -> Result<Self, Error> {
        let row = log.row(RowKind::Session, record.session_id.as_str()).await?;
        if let Some(secrets) = row.and_then(|body| serde_json::from_str(&body).ok()) {
            return Ok(secrets);
        }
        if record.env.is_empty() && record.runtime_config_hash.is_none() {
            // Sessions of earlier versions have their settings in their record.
            return Ok(Self { runtime_config: record.runtime_config.clone(), ..Self::default() });
        }
        tracing::warn!(session = %record.session_id, "The variables and settings of a session are gone.");
        Ok(Self::default())
    }

    /// Deletes a session's row.
    pub(crate) async fn forget(log: &dyn Log, session: &SessionId) -> Result<(), Error> {
        Ok(log.keep(vec![change(session, None)], Vec::new()).await?)
    }
}

fn change(session: &SessionId, body: Option<String>) -> RowChange {
    RowChange { kind: RowKind::Session, id: session.to_string(), body }
}
