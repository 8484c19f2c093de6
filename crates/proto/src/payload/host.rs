//! The host itself changes: its workspaces and the devices that may use it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{DeviceId, WorkspaceId};
use crate::rpc::Scope;

payload! {
    /// `workspace.added`: clients may now work in this directory.
    WorkspaceAddedPayload {
        /// Which workspace.
        workspace_id: WorkspaceId,
        /// Its name for people.
        name: String,
        /// Its directory; absolute.
        path: String,
    }
}

payload! {
    /// `workspace.updated`: what changed about a workspace; absent means unchanged.
    WorkspaceUpdatedPayload {
        /// Which workspace.
        workspace_id: WorkspaceId,
        /// Its name for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Whether a session is started in it when Roost starts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        auto_start: Option<bool>,
    }
}

payload! {
    /// `workspace.removed`: clients no longer see this directory; nothing in it is touched.
    WorkspaceRemovedPayload {
        /// Which workspace.
        workspace_id: WorkspaceId,
        /// Its name for people.
        name: String,
        /// Its directory; absolute.
        path: String,
    }
}

payload! {
    /// `device.paired`: a device may now use this host.
    DevicePairedPayload {
        /// Which device.
        device_id: DeviceId,
        /// Its name for people.
        name: String,
        /// What it may do.
        scope: Scope,
    }
}

payload! {
    /// `device.revoked`: a device may no longer use this host.
    DeviceRevokedPayload {
        /// Which device.
        device_id: DeviceId,
        /// Why.
        reason: String,
    }
}
