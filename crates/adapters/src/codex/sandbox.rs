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
//!
//! **A command that was approved and then fails in the sandbox would be run again outside of it, unasked**: for Codex,
//! one approval covers both. It does not for a permission profile that denies the reading of any file, so the app
//! server gets profiles of our own that extend Codex's by such an entry ([`Sandbox::profile`]). A command still leaves
//! the sandbox where the agent asks for that in its call, which is an approval request of its own.

use std::path::{Path, PathBuf};

use roost_model::mode::Mode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::layers::{lay_over, nest};

/// Codex's setting for network access of the `workspace-write` sandbox.
const NETWORK_SETTING: &str = "sandbox_workspace_write.network_access";

/// The files whose reading our profiles deny: none that exists. Only that there is such an entry matters.
const DENIED_FILES: &str = "/nonexistent-roost/*";

/// The folders that Codex protects in every folder that its sandbox can write. Codex creates those that are missing to
/// protect them, and with a denied file leaves them behind, so missing ones are declared as writable.
const PROTECTED: [&str; 4] = [".agents", ".aws", ".codex", ".git"];

/// Codex's settings for its `workspace-write` sandbox, which a permission profile does not inherit.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WorkspaceSettings {
    writable_roots: Vec<String>,
    exclude_tmpdir_env_var: bool,
    exclude_slash_tmp: bool,
    /// Overrides the mode; `None` lets the mode decide.
    network_access: Option<bool>,
    /// The [`PROTECTED`] folders that do not exist.
    #[serde(skip)]
    missing: Vec<String>,
}

impl WorkspaceSettings {
    /// The user's own settings in the result of `config/read`, overridden by the session's. The mode decides about the
    /// network unless the session's settings do.
    pub(super) fn new(config_read: &Value, session: &Map<String, Value>) -> Self {
        let section = "sandbox_workspace_write";
        let own = config_read.get("config").and_then(|config| config.get(section)).and_then(Value::as_object);
        let mut settings = own.cloned().unwrap_or_default();
        settings.remove("network_access");
        if let Some(Value::Object(over)) = nest(session.clone()).remove(section) {
            lay_over(&mut settings, over);
        }
        settings.retain(|_, value| !value.is_null());
        serde_json::from_value(settings.into()).unwrap_or_default()
    }

    /// Looks which protected folders are missing, in the working directory and the other writable folders.
    pub(super) async fn with_missing_in(mut self, cwd: &Path) -> Self {
        let roots = [cwd.to_owned()].into_iter().chain(self.writable_roots.iter().map(PathBuf::from));
        for path in roots.flat_map(|root| PROTECTED.map(|name| root.join(name))) {
            if matches!(tokio::fs::try_exists(&path).await, Ok(false)) {
                self.missing.push(path.display().to_string());
            }
        }
        self
    }
}

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

    /// The sandbox that a value of `sandbox_mode` in Codex's settings names.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        [Self::ReadOnly, Self::Workspace, Self::Full].into_iter().find(|sandbox| sandbox.name() == name)
    }

    /// The permission profile by which the app server is told this sandbox; `None` for no sandbox at all.
    pub(super) fn profile_name(self) -> Option<&'static str> {
        match self {
            Self::ReadOnly => Some("roost-read-only"),
            Self::Workspace => Some("roost-workspace"),
            Self::WorkspaceOnline => Some("roost-workspace-online"),
            Self::Full => None,
        }
    }

    /// The settings that define all our profiles.
    pub(super) fn profiles(workspace: &WorkspaceSettings) -> Map<String, Value> {
        let all = [Self::ReadOnly, Self::Workspace, Self::WorkspaceOnline].into_iter();
        let define =
            |sandbox: Self| Some((format!("permissions.{}", sandbox.profile_name()?), sandbox.profile(workspace)));
        all.filter_map(define).collect()
    }

    fn profile(self, workspace: &WorkspaceSettings) -> Value {
        let mut files = Map::from_iter([(DENIED_FILES.to_owned(), Value::from("deny"))]);
        if self == Self::ReadOnly {
            return json!({ "extends": ":read-only", "filesystem": files, "network": { "enabled": false } });
        }
        let writable = workspace.writable_roots.iter().chain(&workspace.missing);
        files.extend(writable.map(|path| (path.clone(), "write".into())));
        let excluded = [(":tmpdir", workspace.exclude_tmpdir_env_var), (":slash_tmp", workspace.exclude_slash_tmp)];
        files.extend(excluded.into_iter().filter(|(_, out)| *out).map(|(name, _)| (name.to_owned(), "read".into())));
        let online = workspace.network_access.unwrap_or(self == Self::WorkspaceOnline);
        json!({ "extends": ":workspace", "filesystem": files, "network": { "enabled": online } })
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

    /// The sandbox as the `sandboxPolicy` of `turn/start`, for a Codex that does not know permission profiles.
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
    fn every_profile_denies_some_file_and_keeps_what_the_user_set_for_the_workspace() {
        let read = json!({ "config": { "sandbox_workspace_write": {
            "writable_roots": ["/own"], "network_access": true, "exclude_slash_tmp": true
        } } });
        let session = json!({ "sandbox_workspace_write.exclude_tmpdir_env_var": true });
        let workspace = WorkspaceSettings::new(&read, session.as_object().unwrap());
        let files = json!({ DENIED_FILES: "deny", "/own": "write", ":slash_tmp": "read", ":tmpdir": "read" });
        let profile =
            |online| json!({ "extends": ":workspace", "filesystem": files, "network": { "enabled": online } });
        let read_only = json!({
            "extends": ":read-only", "filesystem": { DENIED_FILES: "deny" }, "network": { "enabled": false }
        });
        let expected = json!({
            "permissions.roost-read-only": read_only,
            "permissions.roost-workspace": profile(false),
            "permissions.roost-workspace-online": profile(true),
        });
        assert_eq!(Value::Object(Sandbox::profiles(&workspace)), expected);
    }

    #[test]
    fn the_session_s_settings_decide_about_the_network_before_the_mode() {
        let session = json!({ "sandbox_workspace_write": { "network_access": false } });
        let workspace = WorkspaceSettings::new(&Value::Null, session.as_object().unwrap());
        let profiles = Sandbox::profiles(&workspace);
        assert_eq!(profiles["permissions.roost-workspace-online"]["network"]["enabled"], false);
    }

    #[test]
    fn a_sandbox_that_is_set_by_hand_is_left_alone() {
        assert_eq!(Sandbox::for_mode_unless_set(["model", "sandbox_mode"], Mode::Yolo, true), None);
        assert_eq!(Sandbox::for_mode_unless_set(["model"], Mode::Yolo, true), Some(Sandbox::Full));
    }
}
