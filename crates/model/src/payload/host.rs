//! Events about the daemon itself: its workspaces, its devices and changes to repositories.

use serde::{Deserialize, Serialize};

use crate::ids::{DeviceId, SessionId, WorkspaceId};
use crate::scope::Scope;

payload! {
    /// `workspace.added`: clients may now work in this folder.
    WorkspaceAddedPayload {
        /// Its new id.
        workspace_id: WorkspaceId,
        /// Display name; the folder's name unless the client gave one.
        name: String,
        /// The folder, absolute.
        path: String,
    }
}

payload! {
    /// `workspace.updated`: what changed about a workspace; absent means unchanged.
    WorkspaceUpdatedPayload {
        /// The workspace that changed.
        workspace_id: WorkspaceId,
        /// The new display name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Whether the daemon creates a session in it on start, if it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        auto_start: Option<bool>,
    }
}

payload! {
    /// `workspace.removed`: clients no longer see this folder. Its files and sessions stay.
    WorkspaceRemovedPayload {
        /// The id that it had.
        workspace_id: WorkspaceId,
        /// The display name that it had.
        name: String,
        /// The folder, absolute.
        path: String,
    }
}

payload! {
    /// `device.paired`: a device may now use this host.
    DevicePairedPayload {
        /// Its new id.
        device_id: DeviceId,
        /// Display name: what the device calls itself.
        name: String,
        /// What the device may do.
        scope: Scope,
    }
}

payload! {
    /// `device.revoked`: a device may no longer use this host.
    DeviceRevokedPayload {
        /// The device whose tokens no longer work.
        device_id: DeviceId,
        /// Why it was revoked, for people.
        reason: String,
    }
}

payload! {
    /// `pairing.locked`: an address sent too many wrong pairing codes, and none of its tries counts until another
    /// code is shown.
    PairingLockedPayload {
        /// The address that the codes came from; for IPv6 its network.
        address: String,
        /// Wrong codes from this address since the code was shown.
        wrong_tries: u32,
        /// True if wrong codes from all addresses together have also made the code itself invalid.
        code_withdrawn: bool,
    }
}

payload! {
    /// `git.operation.completed`: a git operation for a client ended.
    GitOperationCompletedPayload {
        /// The workspace whose repository it was.
        workspace_id: WorkspaceId,
        /// Name of the operation, such as `commit` or `stash/pop`.
        operation: String,
        /// False if it failed, or if conflicts have to be resolved first.
        success: bool,
        /// The result for people, at most 2 KiB; absent if there is nothing to say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Why it failed, at most 2 KiB; absent if it did not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The commit that it made; absent if it made none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha: Option<String>,
        /// The branch that it changed or used; absent if it concerned none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// How many paths or files it changed; absent if it does not count them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files_affected: Option<u64>,
        /// Commits that were sent to the remote; only for a push.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commits_pushed: Option<u64>,
        /// Commits that came from the remote; only for a pull or fetch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commits_pulled: Option<u64>,
        /// Files with conflicts, at most 100; absent if there are none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conflicted_files: Option<Vec<String>>,
    }
}

payload! {
    /// `git.branch.changed`: another branch was checked out, by a client or by anybody else.
    GitBranchChangedPayload {
        /// The workspace whose repository it is.
        workspace_id: WorkspaceId,
        /// The branch before; `HEAD` if none was checked out.
        from_branch: String,
        /// The branch that is checked out now.
        to_branch: String,
        /// The session that did it; always absent in this version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
    }
}
