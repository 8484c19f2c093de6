//! What a session is started with and events must not tell: the values of its variables, its runtime's own settings and
//! its tool servers, whose headers and variables are secrets.
//!
//! They are a row beside the log, so that they survive a restart; events and records have the names of the variables,
//! and of the settings the hash and what is no secret.

use std::collections::BTreeMap;

use roost_log::{Log, RowChange, RowKind};
use roost_model::ids::SessionId;
use roost_model::secret::Secret;
use roost_model::session::SessionRecord;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::adapter::McpServer;
use crate::error::Error;

/// The variables of a session.
pub(crate) type Variables = BTreeMap<String, Secret>;

/// Most variables of a session, and most bytes that they have together.
const MAX: usize = 64;
const MAX_BYTES: usize = 64 << 10;

/// The row of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Private {
    #[serde(default)]
    pub(crate) env: Variables,
    #[serde(default)]
    pub(crate) runtime_config: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) mcp_servers: Vec<McpServer>,
}

impl Private {
    /// Refuses variables that a session may not set.
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

    /// Stores it, if there is something to store.
    pub(crate) async fn store(&self, log: &dyn Log, session: &SessionId) -> Result<(), Error> {
        if *self == Self::default() {
            return Ok(());
        }
        // Texts and JSON always serialise.
        let body = serde_json::to_string(self).unwrap_or_default();
        Ok(log.keep(vec![change(session, Some(body))], Vec::new()).await?)
    }

    /// What is kept of a session. One that is gone was forgotten together with its session.
    pub(crate) async fn of(log: &dyn Log, record: &SessionRecord) -> Result<Self, Error> {
        let row = log.row(RowKind::Session, record.session_id.as_str()).await?;
        if let Some(private) = row.and_then(|body| serde_json::from_str(&body).ok()) {
            return Ok(private);
        }
        if record.env.is_empty() && record.runtime_config_hash.is_none() {
            // Sessions of earlier versions have their settings in their record.
            return Ok(Self { runtime_config: record.runtime_config.clone(), ..Self::default() });
        }
        tracing::warn!(session = %record.session_id, "The variables and settings of a session are gone.");
        Ok(Self::default())
    }

    /// Forgets what is kept of a session.
    pub(crate) async fn forget(log: &dyn Log, session: &SessionId) -> Result<(), Error> {
        Ok(log.keep(vec![change(session, None)], Vec::new()).await?)
    }
}

fn change(session: &SessionId, body: Option<String>) -> RowChange {
    RowChange { kind: RowKind::Session, id: session.to_string(), body }
}
