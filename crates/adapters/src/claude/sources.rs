//! The files that Claude Code reads by itself: settings, instructions, memory and tool servers, recorded by path and hash.

use std::ffi::OsString;
use std::path::PathBuf;

use roost_model::sources::{ImplicitSource, ImplicitSources, SourceKind};
use serde_json::{Map, Value};

use super::history;
use super::project_servers::ProjectServers;
use super::settings_files::SettingsScope;
use crate::source_files::{MAX_FILES, TrustedFiles, files_with_extension, parse_json, read_small, source};

/// Settings that an administrator imposes on every user of the machine.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";
/// Further ones, each a file in this folder.
const MANAGED_FOLDER: &str = "/etc/claude-code/managed-settings.d";

/// Whether these settings switch off every hook, including the host's.
pub(super) fn disables_hooks(settings: &Map<String, Value>) -> bool {
    settings.get("disableAllHooks").is_some_and(|value| *value != Value::Bool(false))
}

/// The folders in which the CLI looks for its files, and the scopes of settings that it loads.
#[derive(Clone, Debug)]
pub(super) struct SourcePaths {
    pub(super) home: PathBuf,
    pub(super) config: PathBuf,
    /// The CLI's own state: what it knows of each project.
    pub(super) state_file: PathBuf,
    pub(super) cwd: PathBuf,
    /// The scopes that the configured arguments ask for; their rules about permissions are read.
    pub(super) scopes: SettingScopes,
    /// The scopes that the CLI loads: those that it is asked for, without what is withheld from it.
    pub(super) loaded: SettingScopes,
    /// The project's files that a person has agreed to.
    pub(super) trusted: TrustedFiles,
}

/// The scopes of settings that the CLI loads, as `--setting-sources` names them. The default is all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SettingScopes {
    pub(super) user: bool,
    pub(super) project: bool,
    pub(super) local: bool,
}

impl SettingScopes {
    /// Reads the scopes from the CLI's arguments; of several `--setting-sources` the last counts.
    pub(super) fn from_args(args: &[OsString]) -> Self {
        let texts: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
        let named = texts.iter().enumerate().rev().find_map(|(at, arg)| match arg.strip_prefix("--setting-sources") {
            Some("") => Some(texts.get(at + 1).map(ToString::to_string).unwrap_or_default()),
            Some(rest) => rest.strip_prefix('=').map(ToOwned::to_owned),
            None => None,
        });
        let has = |kind: &str| named.as_ref().is_none_or(|named| named.split(',').any(|one| one.trim() == kind));
        Self { user: has("user"), project: has("project"), local: has("local") }
    }

    /// The scopes as the CLI's argument names them.
    pub(super) fn as_argument(self) -> String {
        let scopes = [("user", self.user), ("project", self.project), ("local", self.local)];
        scopes.into_iter().filter(|(_, is_loaded)| *is_loaded).map(|(name, _)| name).collect::<Vec<_>>().join(",")
    }
}

impl SourcePaths {
    /// The settings files that the CLI loads, the strongest first; not all of them exist.
    pub(super) fn settings_files(&self) -> Vec<(SettingsScope, PathBuf)> {
        let SettingScopes { user, project, local } = self.scopes;
        let managed = [MANAGED.into()].into_iter().chain(files_with_extension(MANAGED_FOLDER.as_ref(), "json"));
        let others = [
            (SettingsScope::Local, self.cwd.join(".claude/settings.local.json"), local),
            (SettingsScope::Project, self.cwd.join(".claude/settings.json"), project),
            (SettingsScope::User, self.config.join("settings.json"), user),
        ];
        let loaded = others.into_iter().filter(|(.., is_loaded)| *is_loaded).map(|(scope, path, _)| (scope, path));
        managed.map(|path| (SettingsScope::Managed, path)).chain(loaded).collect()
    }

    /// The files in which a project names tool servers, from its folder up to the root; not all of them exist.
    pub(super) fn mcp_files(&self) -> impl Iterator<Item = PathBuf> {
        self.cwd.ancestors().map(|folder| folder.join(".mcp.json"))
    }

    /// The first loaded settings file that switches off hooks, and with them the host's. Blocks on the disk.
    pub(super) fn file_disabling_hooks(&self) -> Option<PathBuf> {
        let disables = |path: &PathBuf| {
            let settings = read_small(path).and_then(|contents| parse_json(&contents));
            settings.is_some_and(|settings: Map<_, _>| disables_hooks(&settings))
        };
        self.settings_files().into_iter().map(|(_, path)| path).find(disables)
    }

    /// The files that exist now, including those that the CLI will not load, which are marked. Blocks on the disk.
    pub(super) fn read(&self, project_servers: &ProjectServers) -> ImplicitSources {
        let mut sources = Vec::new();
        let mut add = |path: PathBuf, kind: SourceKind, used: bool| {
            if sources.len() < MAX_FILES {
                let source = source(&path, kind);
                sources.extend(source.map(|source| ImplicitSource { disabled: (!used).then_some(true), ..source }));
            }
        };
        let SettingScopes { user, project, local } = self.loaded;
        add(MANAGED.into(), SourceKind::Policy, true);
        add(self.cwd.join(".claude/settings.local.json"), SourceKind::Config, local);
        add(self.cwd.join(".claude/settings.json"), SourceKind::Config, project);
        add(self.config.join("settings.json"), SourceKind::Config, user);
        for folder in self.cwd.ancestors() {
            add(folder.join("CLAUDE.md"), SourceKind::ProjectInstruction, project);
            add(folder.join(".claude/CLAUDE.md"), SourceKind::ProjectInstruction, project);
            add(folder.join("CLAUDE.local.md"), SourceKind::ProjectInstruction, local);
        }
        for rule in files_with_extension(&self.cwd.join(".claude/rules"), "md") {
            add(rule, SourceKind::ProjectInstruction, project);
        }
        add(self.config.join("CLAUDE.md"), SourceKind::ProjectInstruction, user);
        let memory = self.config.join("projects").join(history::folder_of(&self.cwd)).join("memory/MEMORY.md");
        add(memory, SourceKind::Other, true);
        for path in self.mcp_files() {
            add(path, SourceKind::ToolManifest, project_servers.has_agreed());
        }
        if sources.is_empty() {
            return ImplicitSources::disabled("none of the files that Claude Code reads by itself is there");
        }
        let precedence = ["managed", "flags", "local", "project", "user"].map(ToOwned::to_owned);
        ImplicitSources { disabled: false, reason: None, sources, precedence: Some(precedence.into()) }
    }
}

#[cfg(test)]
impl SourcePaths {
    /// The usual places of a home and a project, with all settings loaded and nothing agreed to.
    pub(super) fn of_test(home: &std::path::Path, cwd: &std::path::Path) -> Self {
        Self {
            home: home.to_owned(),
            config: home.join(".claude"),
            state_file: home.join(".claude.json"),
            cwd: cwd.to_owned(),
            scopes: SettingScopes::from_args(&[]),
            loaded: SettingScopes::from_args(&[]),
            trusted: TrustedFiles::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use roost_model::canonical;

    use super::*;

    #[test]
    fn the_arguments_say_which_settings_are_used() {
        let all = SettingScopes { user: true, project: true, local: true };
        let none = SettingScopes { user: false, project: false, local: false };
        let cases: [(&[&str], SettingScopes); 5] = [
            (&[], all),
            (&["--setting-sources", ""], none),
            (&["--setting-sources", "user, local"], SettingScopes { project: false, ..all }),
            (&["--setting-sources=project"], SettingScopes { project: true, ..none }),
            (&["--debug", "--setting-sources"], none),
        ];
        for (args, expected) in cases {
            let args: Vec<_> = args.iter().map(OsString::from).collect();
            assert_eq!(SettingScopes::from_args(&args), expected, "{args:?}");
        }
    }

    #[test]
    fn a_file_that_switches_off_hooks_is_found_where_it_is_used() {
        let home = tempfile::TempDir::new().unwrap();
        let cwd = home.path().join("work");
        std::fs::create_dir_all(cwd.join(".claude")).unwrap();
        let project = cwd.join(".claude/settings.json");
        let disabling = |project: bool| {
            let scopes = SettingScopes { user: true, project, local: true };
            SourcePaths { scopes, ..SourcePaths::of_test(home.path(), &cwd) }.file_disabling_hooks()
        };
        for (text, found) in
            [(r#"{"disableAllHooks":false}"#, false), ("torn", false), (r#"{"disableAllHooks":true}"#, true)]
        {
            std::fs::write(&project, text).unwrap();
            assert_eq!(disabling(true), found.then(|| project.clone()), "{text}");
        }
        assert_eq!(disabling(false), None);
    }

    #[test]
    fn files_are_named_with_a_hash_and_without_their_contents() {
        let home = tempfile::TempDir::new().unwrap();
        let (config, cwd) = (home.path().join(".claude"), home.path().join("work"));
        std::fs::create_dir_all(cwd.join(".claude/rules")).unwrap();
        std::fs::create_dir(&config).unwrap();
        for (path, text) in [
            (config.join("settings.json"), "{}"),
            (cwd.join("CLAUDE.md"), "my secret"),
            (cwd.join(".claude/rules/a.md"), "a"),
            (cwd.join(".mcp.json"), "{}"),
        ] {
            std::fs::write(path, text).unwrap();
        }
        let scopes = SettingScopes { user: false, project: true, local: true };
        let paths = SourcePaths { loaded: scopes, ..SourcePaths::of_test(home.path(), &cwd) };
        let found = paths.read(&ProjectServers::default());
        assert!(!serde_json::to_string(&found).unwrap().contains("secret"));
        let instruction = found.sources.iter().find(|source| source.path.ends_with("work/CLAUDE.md")).unwrap();
        assert_eq!(instruction.hash, Some(canonical::hash_bytes(b"my secret")));
        let unused: Vec<_> = found.sources.iter().filter(|source| source.disabled.is_some()).collect();
        assert_eq!(unused.len(), 2, "{unused:?}");
    }
}
