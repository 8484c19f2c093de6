//! The host itself changes: its workspaces and the devices that may use it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{DeviceId, SessionId, WorkspaceId};
use crate::scope::Scope;

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

payload! {
    /// `pairing.locked`: an address sent too many wrong pairing codes, and none of its tries counts until another code is
    /// shown.
    PairingLockedPayload {
        /// Where they came from.
        address: String,
        /// How many of them came from there.
        wrong_tries: u32,
        /// Together with those of other addresses they were so many that the code itself is no longer good.
        code_withdrawn: bool,
    }
}

payload! {
    /// `git.operation.completed`: a client had something done with a workspace's repository.
    GitOperationCompletedPayload {
        /// Whose repository.
        workspace_id: WorkspaceId,
        /// What was done, such as `commit`.
        operation: String,
        /// It is finished; false also while conflicts wait.
        success: bool,
        /// What came of it, for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The commit that was made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha: Option<String>,
        /// The branch that it was about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// How many files it was about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files_affected: Option<u64>,
        /// Commits that went to the remote.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commits_pushed: Option<u64>,
        /// Commits that came from the remote.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commits_pulled: Option<u64>,
        /// Files whose conflict waits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conflicted_files: Option<Vec<String>>,
    }
}

payload! {
    /// `git.branch.changed`: another branch is checked out in a workspace.
    GitBranchChangedPayload {
        /// Whose repository.
        workspace_id: WorkspaceId,
        /// The branch before.
        from_branch: String,
        /// The branch now.
        to_branch: String,
        /// The session that did it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
    }
}
