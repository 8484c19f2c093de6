//! What the daemon keeps of a service over restarts: one row beside the log.

use roost_log::{RowChange, RowKind};
use roost_model::ids::ServiceId;
use roost_model::service::manifest::Manifest;
use serde::{Deserialize, Serialize};

use crate::namespace::Namespace;
use crate::tool_pins::ToolPins;

/// A declared service, as its row holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredService {
    /// 1 for the first manifest, one more for each further one.
    pub version: u64,
    /// The manifest that was applied last.
    pub manifest: Manifest,
    /// The tools that are approved, as they were then.
    #[serde(default)]
    pub pins: ToolPins,
    /// Whether somebody has looked at the service, so that agents may read what it says besides its tools. Rows of earlier
    /// versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// Why the service is quarantined, which it stays over restarts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine: Option<String>,
}

impl StoredService {
    /// The prefix of its names.
    pub fn namespace(&self) -> Namespace {
        let spec = &self.manifest.spec;
        Namespace::from_text(spec.tool_namespace.as_deref().unwrap_or(&self.manifest.metadata.module))
    }

    /// Whether somebody, or the first use where that is enough, has approved the service: it, or one of its tools.
    pub fn is_approved(&self) -> bool {
        self.approved.unwrap_or(!self.pins.is_empty())
    }

    /// Whether the manifest lets this tool be offered and called.
    pub fn allows(&self, tool: &str) -> bool {
        let allowed = self.manifest.spec.origin.limits().and_then(|limits| limits.allowed_tools.as_ref());
        allowed.is_none_or(|allowed| allowed.iter().any(|name| name == tool))
    }

    /// The row that keeps it.
    pub fn to_row(&self, id: &ServiceId) -> Result<RowChange, serde_json::Error> {
        Ok(RowChange { kind: RowKind::Service, id: id.to_string(), body: Some(serde_json::to_string(self)?) })
    }
}

/// The change that forgets a service.
pub(super) fn removal(id: &ServiceId) -> RowChange {
    RowChange { kind: RowKind::Service, id: id.to_string(), body: None }
}
