//! The settings that a project brings, and who agreed to them.
//!
//! In a terminal the CLI asks whether a folder is to be trusted before it runs anything that the folder's settings name.
//! With `-p` it does not, so a cloned repository would run commands of its choice: hooks, helpers that fetch keys, plugins,
//! or any program by way of a variable. Roost therefore lets the CLI load such a file only if its user has trusted the
//! folder in the CLI, or has agreed in `roost.toml` to the file as it is.

use std::ffi::OsString;

use serde_json::{Map, Value};

use super::project_servers::CliState;
use super::settings_files::{SettingsScope, read_settings};
use super::sources::SourcePaths;
use crate::source_files::how_to_trust;

/// The settings of a project that can make the CLI run nothing, whatever they say. What a file allows is judged by Roost
/// ([`super::permissions`]), and so are the tool servers that it agrees to ([`super::project_servers`]).
const HARMLESS: [&str; 14] = [
    "$schema",
    "alwaysThinkingEnabled",
    "attribution",
    "cleanupPeriodDays",
    "companyAnnouncements",
    "disabledMcpjsonServers",
    "effortLevel",
    "enableAllProjectMcpServers",
    "enabledMcpjsonServers",
    "includeCoAuthoredBy",
    "language",
    "model",
    "outputStyle",
    "permissions",
];

/// Withholds the project's settings files that nobody agreed to and that may run something: the CLI is told by its
/// arguments which scopes to load. Returns what people should know. Blocks on the disk.
pub(super) fn withhold_settings(paths: &mut SourcePaths, args: &mut Vec<OsString>) -> Vec<String> {
    let (documents, unreadable) = read_settings(paths, &Map::new());
    let untrusted = documents.iter().filter(|document| document.scope.is_of_project() && !document.is_agreed);
    let risky: Vec<_> = untrusted.filter(|document| !risky_settings(&document.settings).is_empty()).collect();
    let is_of_project = |path: &std::path::PathBuf| path.starts_with(&paths.cwd);
    let torn: Vec<_> = unreadable.into_iter().filter(is_of_project).collect();
    if (risky.is_empty() && torn.is_empty()) || CliState::read(paths).trusts(&paths.cwd) {
        return Vec::new();
    }
    let mut notices = Vec::new();
    for document in &risky {
        match document.scope {
            SettingsScope::Local => paths.loaded.local = false,
            _ => paths.loaded.project = false,
        }
        let Some((path, contents)) = &document.file else { continue };
        let names = risky_settings(&document.settings).join(", ");
        let (how, path) = (how_to_trust(path, contents), path.display());
        notices.push(format!(
            "{path} may run something ({names}) and nobody agreed to it, so Claude Code loads nothing of its scope, also \
             not its CLAUDE.md; trust the folder in `claude`, or {how}"
        ));
    }
    for path in torn {
        // The CLI may read it differently.
        (paths.loaded.project, paths.loaded.local) = (false, false);
        let path = path.display();
        notices.push(format!("{path} cannot be read, so Claude Code loads no settings of the project"));
    }
    args.extend(["--setting-sources".into(), paths.loaded.as_argument().into()]);
    notices
}

/// The names of the settings that may run something.
fn risky_settings(settings: &Map<String, Value>) -> Vec<&str> {
    settings.keys().map(String::as_str).filter(|name| !HARMLESS.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_project_s_settings_that_may_run_something_are_withheld_unless_somebody_agreed() {
        let hooks = || json!({ "hooks": { "SessionStart": [] } });
        let trusted = json!({ "projects": { "$WORK": { "hasTrustDialogAccepted": true } } });
        let (project, local) = ("work/.claude/settings.json", "work/.claude/settings.local.json");
        let cases = [
            (vec![], None),
            (vec![(project, json!({ "model": "opus", "permissions": { "allow": ["Bash"] } }))], None),
            (vec![(project, hooks())], Some("user,local")),
            (vec![(project, json!({ "env": { "NODE_OPTIONS": "--require ./x.js" } }))], Some("user,local")),
            (vec![(project, json!({ "apiKeyHelper": "./x" }))], Some("user,local")),
            (vec![(project, json!({ "nobody_knows": true }))], Some("user,local")),
            (vec![(local, hooks())], Some("user,project")),
            (vec![(local, hooks()), (project, hooks())], Some("user")),
            (vec![(project, json!(["torn"]))], Some("user")),
            (vec![(project, hooks()), ("home/.claude.json", trusted)], None),
            (vec![("home/.claude/settings.json", hooks())], None),
        ];
        for (files, expected) in cases {
            let folder = tempfile::TempDir::new().unwrap();
            let work = folder.path().join("work");
            std::fs::create_dir_all(&work).unwrap();
            for (name, text) in &files {
                let path = folder.path().join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, text.to_string().replace("$WORK", &work.display().to_string())).unwrap();
            }
            let (mut paths, mut args) =
                (SourcePaths::of_test(&folder.path().join("home"), &work), vec!["--debug".into()]);
            let notices = withhold_settings(&mut paths, &mut args);
            let told: Vec<OsString> =
                expected.map(|scopes| ["--setting-sources".into(), scopes.into()]).into_iter().flatten().collect();
            assert_eq!((args[1..].to_vec(), notices.is_empty()), (told, expected.is_none()), "{files:?}");
        }
    }
}
