//! What a mode lets Codex's own sandbox do: one table for the app server and for `codex exec`.
//!
//! | mode | app server, which asks | `codex exec`, which cannot |
//! |---|---|---|
//! | plan | read-only | read-only |
//! | ask | workspace-write | read-only |
//! | accept-edits | workspace-write | workspace-write |
//! | auto | workspace-write with network | workspace-write with network |
//! | yolo | danger-full-access | danger-full-access |
//!
//! The app server asks about everything in every mode, so its sandbox only has to let through what our policy can say
//! yes to; where nobody can be asked, the sandbox refuses what would be asked about. `auto` says yes to the network, so
//! both let it through.

use roost_model::mode::Mode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Codex's setting for the network in a workspace.
const NETWORK: &str = "sandbox_workspace_write.network_access";

/// A sandbox of Codex's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Sandbox {
    ReadOnly,
    Workspace,
    WorkspaceOnline,
    Full,
}

impl Sandbox {
    /// The sandbox of a mode; `asks` if Codex can ask about what it wants to do.
    pub(super) fn of(mode: Mode, asks: bool) -> Self {
        match mode {
            Mode::Plan => Self::ReadOnly,
            Mode::Ask if !asks => Self::ReadOnly,
            Mode::Ask | Mode::AcceptEdits => Self::Workspace,
            Mode::Auto => Self::WorkspaceOnline,
            Mode::Yolo => Self::Full,
        }
    }

    /// The sandbox of a mode, unless these settings name one.
    pub(super) fn unless_set(
        settings: impl IntoIterator<Item = impl AsRef<str>>,
        mode: Mode,
        asks: bool,
    ) -> Option<Self> {
        let named = settings.into_iter().any(|name| name.as_ref() == "sandbox_mode");
        (!named).then(|| Self::of(mode, asks))
    }

    /// Its name in Codex's settings.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Workspace | Self::WorkspaceOnline => "workspace-write",
            Self::Full => "danger-full-access",
        }
    }

    /// What people are told.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::WorkspaceOnline => "workspace-write with network",
            _ => self.name(),
        }
    }

    /// Codex's setting for the network, where its sandbox has one.
    pub(super) fn network(self) -> Option<(&'static str, bool)> {
        match self {
            Self::Workspace => Some((NETWORK, false)),
            Self::WorkspaceOnline => Some((NETWORK, true)),
            Self::ReadOnly | Self::Full => None,
        }
    }

    /// The whole of it as Codex's settings.
    pub(super) fn settings(self) -> Map<String, Value> {
        let network = self.network().map(|(name, on)| (name.to_owned(), on.into()));
        [("sandbox_mode".to_owned(), self.name().into())].into_iter().chain(network).collect()
    }

    /// The same as a turn wants it.
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
            assert_eq!([true, false].map(|asks| Sandbox::of(mode, asks).label()), [asking, silent], "{mode}");
        }
    }

    #[test]
    fn a_sandbox_means_the_same_in_settings_and_in_a_turn() {
        for sandbox in [Sandbox::ReadOnly, Sandbox::Workspace, Sandbox::WorkspaceOnline, Sandbox::Full] {
            let (settings, policy) = (sandbox.settings(), sandbox.policy());
            let network = settings.get(NETWORK).cloned().unwrap_or(false.into());
            assert_eq!(policy.get("networkAccess").cloned().unwrap_or(false.into()), network, "{sandbox:?}");
        }
        assert_eq!(Sandbox::WorkspaceOnline.policy()["networkAccess"], true);
    }

    #[test]
    fn a_sandbox_that_is_set_by_hand_is_left_alone() {
        assert_eq!(Sandbox::unless_set(["model", "sandbox_mode"], Mode::Yolo, true), None);
        assert_eq!(Sandbox::unless_set(["model"], Mode::Yolo, true), Some(Sandbox::Full));
    }
}
