//! What Claude Code reads by itself: settings, instructions and memory, by path and hash.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use roost_model::canonical;
use roost_model::sources::{ImplicitSource, ImplicitSources, SourceKind};
use serde_json::{Map, Value};

use super::history;

/// Settings that an administrator forces on everybody.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";
/// A longer file is named without a hash.
const MAX_BYTES: u64 = 1024 * 1024;
/// More files than anybody has; the rest is not looked at.
const MAX_FILES: usize = 256;

/// Whether these settings switch off every hook, the host's among them.
pub(super) fn disables_hooks(settings: &Map<String, Value>) -> bool {
    settings.get("disableAllHooks").is_some_and(|value| *value != Value::Bool(false))
}

/// Where the CLI looks, and which of its three kinds of settings it was told to use.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) config: PathBuf,
    pub(super) cwd: PathBuf,
    pub(super) used: Used,
}

/// The kinds of settings that the CLI uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Used {
    user: bool,
    project: bool,
    local: bool,
}

impl Used {
    /// What these arguments of the CLI leave of them.
    pub(super) fn by(args: &[OsString]) -> Self {
        let texts: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
        let named = texts.iter().enumerate().rev().find_map(|(at, arg)| match arg.strip_prefix("--setting-sources") {
            Some("") => Some(texts.get(at + 1).map(ToString::to_string).unwrap_or_default()),
            Some(rest) => rest.strip_prefix('=').map(ToOwned::to_owned),
            None => None,
        });
        let has = |kind: &str| named.as_ref().is_none_or(|named| named.split(',').any(|one| one.trim() == kind));
        Self { user: has("user"), project: has("project"), local: has("local") }
    }
}

impl Places {
    /// The file with settings that switches off the hook by which the host sees every call; looks at the disk.
    pub(super) fn without_hooks(&self) -> Option<PathBuf> {
        let Used { user, project, local } = self.used;
        let files = [
            (MANAGED.into(), true),
            (self.cwd.join(".claude/settings.local.json"), local),
            (self.cwd.join(".claude/settings.json"), project),
            (self.config.join("settings.json"), user),
        ];
        let mut used = files.into_iter().filter(|(_, used)| *used).map(|(path, _)| path);
        used.find(|path: &PathBuf| {
            let read = std::fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok());
            read.is_some_and(|settings: Map<_, _>| disables_hooks(&settings))
        })
    }

    /// Everything that is there now; looks at the disk.
    pub(super) fn read(&self) -> ImplicitSources {
        let mut sources = Vec::new();
        let mut add = |path: PathBuf, kind: SourceKind, used: bool| {
            if sources.len() < MAX_FILES {
                sources.extend(source(&path, kind, used));
            }
        };
        let Used { user, project, local } = self.used;
        add(MANAGED.into(), SourceKind::Policy, true);
        add(self.cwd.join(".claude/settings.local.json"), SourceKind::Config, local);
        add(self.cwd.join(".claude/settings.json"), SourceKind::Config, project);
        add(self.config.join("settings.json"), SourceKind::Config, user);
        for folder in self.cwd.ancestors() {
            add(folder.join("CLAUDE.md"), SourceKind::ProjectInstruction, project);
            add(folder.join(".claude/CLAUDE.md"), SourceKind::ProjectInstruction, project);
            add(folder.join("CLAUDE.local.md"), SourceKind::ProjectInstruction, local);
        }
        for rule in markdown(&self.cwd.join(".claude/rules")) {
            add(rule, SourceKind::ProjectInstruction, project);
        }
        add(self.config.join("CLAUDE.md"), SourceKind::ProjectInstruction, user);
        let memory = self.config.join("projects").join(history::folder_of(&self.cwd)).join("memory/MEMORY.md");
        add(memory, SourceKind::Other, true);
        // The tool servers of the project are not used: the session has its own.
        add(self.cwd.join(".mcp.json"), SourceKind::ToolManifest, false);
        if sources.is_empty() {
            return ImplicitSources::disabled("none of the files that Claude Code reads by itself is there");
        }
        let precedence = ["managed", "flags", "local", "project", "user"].map(ToOwned::to_owned);
        ImplicitSources { disabled: false, reason: None, sources, precedence: Some(precedence.into()) }
    }
}

fn source(path: &Path, kind: SourceKind, used: bool) -> Option<ImplicitSource> {
    let size = std::fs::metadata(path).ok().filter(|file| file.is_file())?.len();
    let bytes = (size <= MAX_BYTES).then(|| std::fs::read(path).ok()).flatten();
    Some(ImplicitSource {
        path: path.display().to_string(),
        kind,
        redacted: bytes.is_none().then_some(true),
        hash: bytes.map(|bytes| canonical::hash_bytes(&bytes)),
        disabled: (!used).then_some(true),
    })
}

fn markdown(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_say_which_settings_are_used() {
        let all = Used { user: true, project: true, local: true };
        let none = Used { user: false, project: false, local: false };
        let cases: [(&[&str], Used); 5] = [
            (&[], all),
            (&["--setting-sources", ""], none),
            (&["--setting-sources", "user, local"], Used { project: false, ..all }),
            (&["--setting-sources=project"], Used { project: true, ..none }),
            (&["--debug", "--setting-sources"], none),
        ];
        for (args, expected) in cases {
            let args: Vec<_> = args.iter().map(OsString::from).collect();
            assert_eq!(Used::by(&args), expected, "{args:?}");
        }
    }

    #[test]
    fn a_file_that_switches_off_hooks_is_found_where_it_is_used() {
        let home = tempfile::TempDir::new().unwrap();
        let (config, cwd) = (home.path().join(".claude"), home.path().join("work"));
        std::fs::create_dir_all(cwd.join(".claude")).unwrap();
        let project = cwd.join(".claude/settings.json");
        let places = |project: bool| {
            let used = Used { user: true, project, local: true };
            Places { config: config.clone(), cwd: cwd.clone(), used }.without_hooks()
        };
        for (text, found) in
            [(r#"{"disableAllHooks":false}"#, false), ("torn", false), (r#"{"disableAllHooks":true}"#, true)]
        {
            std::fs::write(&project, text).unwrap();
            assert_eq!(places(true), found.then(|| project.clone()), "{text}");
        }
        assert_eq!(places(false), None);
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
        let used = Used { user: false, project: true, local: true };
        let found = Places { config, cwd: cwd.clone(), used }.read();
        assert!(!serde_json::to_string(&found).unwrap().contains("secret"));
        let instruction = found.sources.iter().find(|source| source.path.ends_with("work/CLAUDE.md")).unwrap();
        assert_eq!(instruction.hash, Some(canonical::hash_bytes(b"my secret")));
        let unused: Vec<_> = found.sources.iter().filter(|source| source.disabled.is_some()).collect();
        assert_eq!(unused.len(), 2, "{unused:?}");
    }
}
