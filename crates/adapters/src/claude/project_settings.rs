//! The settings that a project brings, and who agreed to them.
//!
//! In a terminal the CLI asks whether a folder is to be trusted before it runs anything that the folder's settings name.
//! With `-p` it does not, so a cloned repository would run commands of its choice: hooks, helpers that fetch keys, plugins,
//! or any program by way of a variable. Roost therefore lets the CLI load such a file only if its user has trusted the
//! folder in the CLI, or has agreed in `roost.toml` to the file as it is. Slash commands, skills and agents name hooks,
//! too, in their front matter, also those in folders below that the CLI finds while it works; so in a folder that nobody
//! trusted, the CLI is told to run no hooks but ours. A user who has hooks of their own keeps them: then a project with
//! such a file is not loaded.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::project_servers::CliState;
use super::settings_files::{SettingsScope, read_settings};
use super::sources::SourcePaths;
use crate::source_files::{MAX_FILES, files_below, how_to_trust, read_small};

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

/// Makes the CLI run only the hooks of plugins and of whoever started it. The user's own are then off, too.
const ONLY_OUR_HOOKS: &str = r#"{"strictPluginOnlyCustomization":["hooks"]}"#;

/// Withholds what the project brings, nobody agreed to and may run something: the CLI is told by its arguments which
/// scopes to load and whose hooks to run. `session` are the settings of the session. Returns what people should know.
/// Blocks on the disk.
pub(super) fn withhold_settings(
    paths: &mut SourcePaths,
    session: &Map<String, Value>,
    args: &mut Vec<OsString>,
) -> Vec<String> {
    if CliState::read(paths).trusts(&paths.cwd) {
        return Vec::new();
    }
    let (documents, unreadable) = read_settings(paths, session);
    let untrusted = documents.iter().filter(|document| document.scope.is_of_project() && !document.is_agreed);
    let mut notices = Vec::new();
    for document in untrusted {
        let names = risky_settings(&document.settings).join(", ");
        let Some((path, contents)) = document.file.as_ref().filter(|_| !names.is_empty()) else { continue };
        match document.scope {
            SettingsScope::Local => paths.loaded.local = false,
            _ => paths.loaded.project = false,
        }
        let (how, path) = (how_to_trust(path, contents), path.display());
        notices.push(format!(
            "{path} may run something ({names}) and nobody agreed to it, so Claude Code loads nothing of its scope, also \
             not its CLAUDE.md; trust the folder in `claude`, or {how}"
        ));
    }
    for path in unreadable.iter().filter(|path| path.starts_with(&paths.cwd)) {
        // The CLI may read it differently.
        (paths.loaded.project, paths.loaded.local) = (false, false);
        let path = path.display();
        notices.push(format!("{path} cannot be read, so Claude Code loads no settings of the project"));
    }
    let agreed = documents.iter().filter(|document| !document.scope.is_of_project() || document.is_agreed);
    // An administrator's settings replace ours, and the lock would switch off the user's hooks.
    let is_locked = !agreed
        .clone()
        .any(|document| document.scope == SettingsScope::Managed || document.settings.contains_key("hooks"));
    if is_locked {
        args.extend(["--managed-settings".into(), ONLY_OUR_HOOKS.into()]);
    }
    if paths.loaded.project
        && let Some(path) = file_with_hooks(paths)
    {
        let what = match is_locked {
            true => "its hooks do not run",
            false => {
                paths.loaded.project = false;
                "Claude Code loads nothing of the project's settings, commands, skills and agents"
            }
        };
        let path = path.display();
        notices
            .push(format!("{path} may name hooks and nobody agreed to them, so {what}; trust the folder in `claude`"));
    }
    if paths.loaded != paths.scopes {
        args.extend(["--setting-sources".into(), paths.loaded.as_argument().into()]);
    }
    notices
}

/// The first of the project's commands, skills and agents, which the CLI looks for from its folder up to the root, whose
/// front matter may name hooks.
fn file_with_hooks(paths: &SourcePaths) -> Option<PathBuf> {
    let folders = paths.cwd.ancestors().map(|folder| folder.join(".claude")).filter(|folder| *folder != paths.config);
    let kinds = folders.flat_map(|folder| ["commands", "skills", "agents"].map(|kind| folder.join(kind)));
    kinds.into_iter().find_map(|folder| {
        let files = files_below(&folder, "md");
        match files.len() < MAX_FILES {
            true => files.into_iter().find(|path| read_small(path).is_none_or(|contents| may_name_hooks(&contents))),
            false => Some(folder),
        }
    })
}

/// Whether the front matter of a Markdown file has the word; a backslash may spell it in another way.
fn may_name_hooks(contents: &[u8]) -> bool {
    let text = String::from_utf8_lossy(contents);
    let mut lines = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).lines();
    let has_front_matter = lines.next().is_some_and(|line| line.starts_with("---"));
    has_front_matter
        && lines.take_while(|line| line.trim_end() != "---").any(|line| line.contains("hooks") || line.contains('\\'))
}

/// The names of the settings that may run something.
fn risky_settings(settings: &Map<String, Value>) -> Vec<&str> {
    settings.keys().map(String::as_str).filter(|name| !HARMLESS.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOOKS: &str = r#"{"hooks":{"SessionStart":[]}}"#;
    const SKILL: &str = "---\nname: x\nhooks:\n  Stop: []\n---\n";

    #[test]
    fn what_a_project_brings_and_may_run_something_is_withheld_unless_somebody_agreed() {
        let trusted = r#"{"projects":{"$WORK":{"hasTrustDialogAccepted":true}}}"#;
        let (project, local) = ("work/.claude/settings.json", "work/.claude/settings.local.json");
        let (user, skill) = ("home/.claude/settings.json", "work/.claude/skills/x/SKILL.md");
        let locked = Some("--managed-settings");
        // The files, whether only our hooks run, the scopes that are named, whether somebody is told.
        let cases: [(&[(&str, &str)], _, _, _); 17] = [
            (&[], locked, None, false),
            (&[(project, r#"{"model":"opus","permissions":{"allow":["Bash"]}}"#)], locked, None, false),
            (&[(project, HOOKS)], locked, Some("user,local"), true),
            (&[(project, r#"{"env":{"NODE_OPTIONS":"--require ./x.js"}}"#)], locked, Some("user,local"), true),
            (&[(project, r#"{"apiKeyHelper":"./x"}"#)], locked, Some("user,local"), true),
            (&[(project, r#"{"nobody_knows":true}"#)], locked, Some("user,local"), true),
            (&[(local, HOOKS)], locked, Some("user,project"), true),
            (&[(local, HOOKS), (project, HOOKS)], locked, Some("user"), true),
            (&[(project, "[]")], locked, Some("user"), true),
            (&[(project, HOOKS), ("home/.claude.json", trusted)], None, None, false),
            (&[(user, HOOKS)], None, None, false),
            (&[(skill, SKILL)], locked, None, true),
            (&[(skill, SKILL), (user, HOOKS)], None, Some("user,local"), true),
            (&[(".claude/commands/deep/x.md", SKILL), (user, HOOKS)], None, Some("user,local"), true),
            (&[("home/.claude/skills/x/SKILL.md", SKILL), (user, HOOKS)], None, None, false),
            (&[(skill, "---\nname: x\n---\nhooks:"), (user, HOOKS)], None, None, false),
            (&[(skill, SKILL), (user, HOOKS), ("home/.claude.json", trusted)], None, None, false),
        ];
        for (files, lock, scopes, is_told) in cases {
            let folder = tempfile::TempDir::new().unwrap();
            let work = folder.path().join("work");
            std::fs::create_dir_all(&work).unwrap();
            for (name, text) in files {
                let path = folder.path().join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, text.replace("$WORK", &work.display().to_string())).unwrap();
            }
            let (mut paths, mut args) = (SourcePaths::of_test(&folder.path().join("home"), &work), vec![]);
            let notices = withhold_settings(&mut paths, &Map::new(), &mut args);
            let mut expected: Vec<OsString> =
                lock.into_iter().flat_map(|it| [it, ONLY_OUR_HOOKS]).map(Into::into).collect();
            expected.extend(scopes.into_iter().flat_map(|it| ["--setting-sources", it]).map(Into::into));
            assert_eq!((args, !notices.is_empty()), (expected, is_told), "{files:?}");
        }
    }

    #[test]
    fn hooks_of_the_session_s_own_settings_keep_running() {
        let folder = tempfile::TempDir::new().unwrap();
        let (mut paths, mut args) = (SourcePaths::of_test(folder.path(), folder.path()), vec![]);
        let session: Map<_, _> = serde_json::from_str(HOOKS).unwrap();
        withhold_settings(&mut paths, &session, &mut args);
        assert!(args.is_empty(), "{args:?}");
    }
}
