//! The tool servers that a project's `.mcp.json` names, and who agreed to them.
//!
//! In a terminal the CLI asks before it starts them. With `-p` it does not, so a cloned repository would run a command of
//! its choice. Roost therefore tells the CLI which of them it may start: those that the user has agreed to in the CLI, or
//! in `roost.toml` for the file as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::permissions::list;
use super::settings_files::{SettingsDocument, SettingsScope, read_settings};
use super::sources::SourcePaths;
use crate::source_files::{how_to_trust, parse_json, read_small};

/// The longest state file of the CLI's that is read, in bytes; it holds something about every project.
const MAX_STATE_BYTES: u64 = 64 * 1024 * 1024;

/// What is lost where the CLI cannot be told which servers it may start.
const ONLY_OURS: &str = "Claude Code starts none of its own tool servers in this session";

/// Which tool servers of the project the CLI may start.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ProjectServers {
    agreed: BTreeSet<String>,
    refused: BTreeSet<String>,
    /// It cannot be said which it may start, so it may only start those that Roost names.
    only_ours: bool,
    /// What people should know about those that are not started.
    pub(super) notices: Vec<String>,
}

/// A `.mcp.json`, as far as it matters here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServersFile {
    #[serde(default)]
    mcp_servers: Map<String, Value>,
}

/// The CLI's own state: `.claude.json`.
#[derive(Default, Deserialize)]
pub(super) struct CliState {
    #[serde(default)]
    projects: BTreeMap<PathBuf, ProjectState>,
}

/// What the CLI knows of one project.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ProjectState {
    has_trust_dialog_accepted: bool,
    enabled_mcpjson_servers: Vec<String>,
}

impl CliState {
    /// Reads the state; one that is missing or cannot be read knows nothing. Blocks on the disk.
    pub(super) fn read(paths: &SourcePaths) -> Self {
        let is_small =
            std::fs::metadata(&paths.state_file).is_ok_and(|file| file.is_file() && file.len() <= MAX_STATE_BYTES);
        let contents = is_small.then(|| std::fs::read(&paths.state_file).ok()).flatten();
        contents.and_then(|contents| parse_json(&contents)).unwrap_or_default()
    }

    /// Whether the user has trusted the folder, or one above it, when the CLI asked.
    pub(super) fn trusts(&self, folder: &Path) -> bool {
        let is_trusted =
            |folder| self.projects.get(folder).is_some_and(|project: &ProjectState| project.has_trust_dialog_accepted);
        folder.ancestors().any(is_trusted)
    }
}

impl ProjectServers {
    /// Finds the project's servers, from its folder up to the root as the CLI does. `args` are the CLI's configured
    /// arguments. Blocks on the disk.
    pub(super) fn find(paths: &SourcePaths, session: &Map<String, Value>, args: &[OsString]) -> Self {
        let mut found = Self::default();
        let files: Vec<_> = paths.mcp_files().filter(|path| path.symlink_metadata().is_ok()).collect();
        if files.is_empty() {
            return found;
        }
        let (documents, _) = read_settings(paths, session);
        let state = CliState::read(paths);
        let project = state.projects.get(&paths.cwd);
        let is_folder_trusted = state.trusts(&paths.cwd);
        let is_enabled = |name: &str| {
            let by_state = project.into_iter().flat_map(|project| &project.enabled_mcpjson_servers);
            by_state.into_iter().any(|enabled| is_same(enabled, name))
                || documents.iter().any(|document| enables(document, name, is_folder_trusted))
        };
        for path in files {
            let contents = read_small(&path);
            let Some((contents, file)) =
                contents.and_then(|contents| parse_json::<ServersFile>(&contents).map(|file| (contents, file)))
            else {
                // The CLI may read it differently.
                found.only_ours = true;
                found.notices.push(format!("{} cannot be read, so {ONLY_OURS}", path.display()));
                continue;
            };
            let is_pinned = paths.trusted.covers(&path, &contents);
            let (agreed, refused): (Vec<_>, Vec<_>) =
                file.mcp_servers.into_iter().map(|(name, _)| name).partition(|name| is_pinned || is_enabled(name));
            if !refused.is_empty() {
                let names: Vec<_> = refused.iter().map(String::as_str).collect();
                let (names, path_text) = (list(&names), path.display());
                let how = how_to_trust(&path, &contents);
                found.notices.push(format!(
                    "{path_text} names tool servers that nobody agreed to, so they are not started: {names}; agree to \
                     them in `claude` in this folder, or {how}"
                ));
            }
            found.agreed.extend(agreed);
            found.refused.extend(refused);
        }
        // A name that two files have stands for both.
        found.agreed.retain(|name| !found.refused.contains(name));
        // The CLI takes only one `--settings`, which is where it is told.
        let is_settings = |arg: &OsString| arg == "--settings" || arg.to_string_lossy().starts_with("--settings=");
        if !found.refused.is_empty() && args.iter().any(is_settings) {
            found.only_ours = true;
            found.notices.push(format!("`--settings` is among the arguments in roost.toml, so {ONLY_OURS}"));
        }
        found
    }

    /// The CLI's arguments that say which servers it may start. They hold names only, because everybody on this machine
    /// can read a command line.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        if self.only_ours {
            return vec!["--strict-mcp-config".into()];
        }
        if self.refused.is_empty() {
            return Vec::new();
        }
        let settings = json!({ "disabledMcpjsonServers": self.refused });
        vec!["--settings".into(), settings.to_string().into()]
    }

    /// Whether the CLI may start servers of the project.
    pub(super) fn has_agreed(&self) -> bool {
        !self.agreed.is_empty() && !self.only_ours
    }
}

/// Whether a settings document agrees to the server. A project's own file does so only if a person stands behind the file;
/// the one in which the CLI keeps its user's choices also if the user has trusted the folder in the CLI.
fn enables(document: &SettingsDocument, name: &str, is_folder_trusted: bool) -> bool {
    let counts = document.is_agreed || (document.scope == SettingsScope::Local && is_folder_trusted);
    counts
        && (document.settings.get("enableAllProjectMcpServers") == Some(&Value::Bool(true))
            || document.texts(&["enabledMcpjsonServers"]).any(|enabled| is_same(enabled, name)))
}

/// Whether two names are the same server to the CLI, which makes tool names of them.
fn is_same(one: &str, other: &str) -> bool {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    one.chars().map(plain).eq(other.chars().map(plain))
}

#[cfg(test)]
mod tests {
    use roost_model::canonical;

    use super::*;
    use crate::source_files::TrustedFiles;

    /// What is found in a project in which these files were written, by their paths from the folder of home and work.
    fn found(files: &[(&str, Value)], args: &[&str], trust: bool) -> ProjectServers {
        let folder = tempfile::TempDir::new().unwrap();
        let work = folder.path().join("code/work");
        std::fs::create_dir_all(&work).unwrap();
        let mut paths = SourcePaths::of_test(&folder.path().join("home"), &work);
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = text.to_string().replace("$WORK", &work.display().to_string());
            std::fs::write(&path, &text).unwrap();
            if trust {
                paths.trusted = TrustedFiles::new([(path, canonical::hash_bytes(text.as_bytes()))].into());
            }
        }
        ProjectServers::find(&paths, &Map::new(), &args.iter().map(OsString::from).collect::<Vec<_>>())
    }

    fn servers(name: &str) -> Value {
        json!({ "mcpServers": { name: { "command": "x" } } })
    }

    #[test]
    fn a_server_is_refused_unless_the_user_agreed_to_it() {
        let all = || json!({ "enableAllProjectMcpServers": true });
        let named = || json!({ "enabledMcpjsonServers": ["my_shop"] });
        let trusted = || json!({ "projects": { "$WORK": { "hasTrustDialogAccepted": true } } });
        let cases = [
            (vec![], false),
            (vec![("home/.claude/settings.json", all())], true),
            // The CLI takes names as they are in the names of tools.
            (vec![("home/.claude/settings.json", named())], true),
            (vec![("home/.claude.json", json!({ "projects": { "$WORK": named() } }))], true),
            (vec![("home/.claude.json", json!({ "projects": { "/elsewhere": named() } }))], false),
            (vec![("home/.claude.json", trusted())], false),
            (vec![("code/work/.claude/settings.json", all())], false),
            (vec![("code/work/.claude/settings.local.json", all())], false),
            (vec![("home/.claude.json", trusted()), ("code/work/.claude/settings.json", all())], false),
            (vec![("home/.claude.json", trusted()), ("code/work/.claude/settings.local.json", all())], true),
        ];
        for (mut files, agreed) in cases {
            // Further up, and named in a way that the CLI would change.
            files.push(("code/.mcp.json", servers("my.shop")));
            let found = found(&files, &[], false);
            assert_eq!((found.has_agreed(), found.refused.is_empty()), (agreed, agreed), "{files:?}");
            assert_eq!(found.notices.len(), usize::from(!agreed), "{found:?}");
            let told = OsString::from(r#"{"disabledMcpjsonServers":["my.shop"]}"#);
            assert_eq!(found.arguments().contains(&told), !agreed, "{found:?}");
        }
        let pinned = found(&[("code/work/.mcp.json", servers("shop"))], &[], true);
        assert!(pinned.has_agreed() && pinned.arguments().is_empty(), "{pinned:?}");
    }

    #[test]
    fn where_the_cli_cannot_be_told_it_starts_no_servers_of_its_own() {
        let strict = [OsString::from("--strict-mcp-config")];
        let unreadable = found(&[("code/work/.mcp.json", json!("torn"))], &[], false);
        assert_eq!((unreadable.arguments().as_slice(), unreadable.notices.len()), (strict.as_slice(), 1));
        for args in [&["--settings", "x.json"][..], &["--settings={}"]] {
            let told_otherwise = found(&[("code/work/.mcp.json", servers("shop"))], args, false);
            assert_eq!((told_otherwise.arguments().as_slice(), told_otherwise.notices.len()), (strict.as_slice(), 2));
        }
        assert_eq!(found(&[], &["--settings", "x.json"], false), ProjectServers::default());
    }
}
