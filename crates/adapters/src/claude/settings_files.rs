//! The settings that Claude Code loads for a session, and which of them a person stands behind.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::sources::SourcePaths;
use crate::source_files::{parse_json, read_small};

/// Whose settings a document holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettingsScope {
    /// Imposed by an administrator of this machine.
    Managed,
    /// Those of `roost.toml` and `--runtime-config`.
    Session,
    /// The project's `.claude/settings.local.json`, in which the CLI keeps what its user chose there. A repository can
    /// bring one, too.
    Local,
    /// The project's `.claude/settings.json`, which a cloned repository brings.
    Project,
    /// The user's own, for all projects.
    User,
}

impl SettingsScope {
    /// The beginning of the names of its rules in events.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Managed => "claude_managed_settings",
            Self::Session => "claude_session_settings",
            Self::Local => "claude_local_settings",
            Self::Project => "claude_project_settings",
            Self::User => "claude_settings",
        }
    }

    /// Whether a repository can bring the document.
    pub(super) fn is_of_project(self) -> bool {
        matches!(self, Self::Local | Self::Project)
    }
}

/// One settings document.
pub(super) struct SettingsDocument {
    pub(super) scope: SettingsScope,
    /// The file it was read from, with its contents; `None` for the session's settings.
    pub(super) file: Option<(PathBuf, Vec<u8>)>,
    pub(super) settings: Map<String, Value>,
    /// A person stands behind it: it is the user's own, or one of the project's that was agreed to as it is.
    pub(super) is_agreed: bool,
}

impl SettingsDocument {
    /// The texts in a list of the settings; empty if there is no such list.
    pub(super) fn texts<'a>(&'a self, path: &[&str]) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut value = self.settings.get(path[0]);
        for name in &path[1..] {
            value = value.and_then(|value| value.get(name));
        }
        value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }
}

/// The loaded settings, the strongest first, and the files among them that are no JSON object. Blocks on the disk.
pub(super) fn read_settings(
    paths: &SourcePaths,
    session: &Map<String, Value>,
) -> (Vec<SettingsDocument>, Vec<PathBuf>) {
    let (mut documents, mut unreadable) = (Vec::new(), Vec::new());
    let from_session =
        SettingsDocument { scope: SettingsScope::Session, file: None, settings: session.clone(), is_agreed: true };
    documents.push(from_session);
    for (scope, path) in paths.settings_files() {
        if !path.exists() {
            continue;
        }
        let Some((contents, settings)) = read_object(&path) else {
            unreadable.push(path);
            continue;
        };
        let is_agreed = !scope.is_of_project() || paths.trusted.covers(&path, &contents);
        documents.push(SettingsDocument { scope, file: Some((path, contents)), settings, is_agreed });
    }
    (documents, unreadable)
}

fn read_object(path: &Path) -> Option<(Vec<u8>, Map<String, Value>)> {
    let contents = read_small(path)?;
    let settings = parse_json(&contents)?;
    Some((contents, settings))
}
