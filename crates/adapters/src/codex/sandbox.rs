//! Which of Codex's sandboxes each mode uses: one table for the app server and for `codex exec`.
//!
//! | mode | app server, which asks | `codex exec`, which cannot |
//! |---|---|---|
//! | plan | read-only | read-only |
//! | ask | workspace-write | read-only |
//! | accept-edits | workspace-write | workspace-write |
//! | auto | workspace-write with network | workspace-write with network |
//! | yolo | danger-full-access | danger-full-access |
//!
//! The app server requests an approval for everything in every mode, so its sandbox must permit whatever our policy may
//! approve. `codex exec` cannot ask, so its sandbox forbids what would need an approval. The policy of `auto` approves
//! network access, so both permit it.

use roost_model::mode::Mode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Codex's setting for network access of the `workspace-write` sandbox.
const NETWORK_SETTING: &str = "sandbox_workspace_write.network_access";

/// One of Codex's sandboxes. Stored in the resume point of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Sandbox {
    ReadOnly,
    Workspace,
    WorkspaceOnline,
    Full,
}

impl Sandbox {
    /// The sandbox of a mode. `asks` is true for the app server, which can request approvals.
    pub(super) fn for_mode(mode: Mode, requests: bool) -> Self {
        match mode {
            Mode::Plan => Self::ReadOnly,
            Mode::Ask if !requests => Self::ReadOnly,
            Mode::Ask | Mode::AcceptEdits => Self::Workspace,
            Mode::Auto => Self::WorkspaceOnline,
            Mode::Yolo => Self::Full,
        }
    }

    /// The sandbox of a mode; `None` if these setting names include `sandbox_mode`, which then decides.
    pub(super) fn for_mode_unless_set(
        settings: impl IntoIterator<Item = impl AsRef<str>>,
        mode: Mode,
        requests: bool,
    ) -> Option<Self> {
        let named = settings.into_iter().any(|name| name.as_ref() == "sandbox_mode");
        (!named).then(|| Self::for_mode(mode, requests))
    }

    /// The value of `sandbox_mode` in Codex's settings.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Workspace | Self::WorkspaceOnline => "workspace-write",
            Self::Full => "danger-full-access",
        }
    }

    /// The name that people are shown.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::WorkspaceOnline => "workspace-write with network",
            _ => self.name(),
        }
    }

    /// The setting for network access; `None` for sandboxes that have none.
    pub(super) fn network(self) -> Option<(&'static str, bool)> {
        match self {
            Self::Workspace => Some((NETWORK_SETTING, false)),
            Self::WorkspaceOnline => Some((NETWORK_SETTING, true)),
            Self::ReadOnly | Self::Full => None,
        }
    }

    /// The sandbox as Codex's settings, for `codex exec`.
    pub(super) fn settings(self) -> Map<String, Value> {
        let network = self.network().map(|(name, on)| (name.to_owned(), on.into()));
        [("sandbox_mode".to_owned(), self.name().into())].into_iter().chain(network).collect()
    }

    /// The sandbox as the `sandboxPolicy` of `turn/start`.
    pub(super) fn policy(self) -> Value {
        match self {
            Self::ReadOnly => json!({ "type": "readOnly", "networkAccess": false }),
            Self::Workspace | Self::WorkspaceOnline => json!({
                "type": "workspaceWrite",
                "writableRoots": [],
                "networkAccess": self == Self::WorkspaceOnline,
                "excludeTmpdirEnvVar": false,
                "excludeSlashTmp": false,
            }),
            Self::Full => json!({ "type": "dangerFullAccess" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_its_sandbox() {
        let table = [
            (Mode::Plan, "read-only", "read-only"),
            (Mode::Ask, "workspace-write", "read-only"),
            (Mode::AcceptEdits, "workspace-write", "workspace-write"),
            (Mode::Auto, "workspace-write with network", "workspace-write with network"),
            (Mode::Yolo, "danger-full-access", "danger-full-access"),
        ];
        for (mode, asking, silent) in table {
            assert_eq!(
                [true, false].map(|requests| Sandbox::for_mode(mode, requests).label()),
                [asking, silent],
                "{mode}"
            );
        }
    }

    #[test]
    fn a_sandbox_means_the_same_in_settings_and_in_a_turn() {
        for sandbox in [Sandbox::ReadOnly, Sandbox::Workspace, Sandbox::WorkspaceOnline, Sandbox::Full] {
            let (settings, policy) = (sandbox.settings(), sandbox.policy());
            let network = settings.get(NETWORK_SETTING).cloned().unwrap_or(false.into());
            assert_eq!(policy.get("networkAccess").cloned().unwrap_or(false.into()), network, "{sandbox:?}");
        }
        assert_eq!(Sandbox::WorkspaceOnline.policy()["networkAccess"], true);
    }

    #[test]
    fn a_sandbox_that_is_set_by_hand_is_left_alone() {
        assert_eq!(Sandbox::for_mode_unless_set(["model", "sandbox_mode"], Mode::Yolo, true), None);
        assert_eq!(Sandbox::for_mode_unless_set(["model"], Mode::Yolo, true), Some(Sandbox::Full));
    }
}
