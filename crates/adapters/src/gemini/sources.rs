//! What the Gemini CLI reads by itself: settings, policies and instructions, by path and hash.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use roost_model::canonical;
use roost_model::sources::{ImplicitSource, ImplicitSources, SourceKind};

/// A longer file is named without a hash.
const MAX_BYTES: u64 = 1024 * 1024;
/// More files than anybody has; the rest is not looked at.
const MAX_FILES: usize = 256;

/// Settings for everybody on the machine, by the variables that can name other files: what nobody overrides first, then
/// what everybody may.
const SYSTEM: [(&str, &str); 2] = [
    ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "/etc/gemini-cli/settings.json"),
    ("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "/etc/gemini-cli/system-defaults.json"),
];

/// The settings for everybody on the machine in this environment.
pub(super) fn system(env: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let named = |(variable, usual): (&str, &str)| {
        env.get(variable).filter(|path| !path.is_empty()).map_or(usual.into(), Into::into)
    };
    SYSTEM.map(named).into()
}

/// Everything that is there now.
pub(super) async fn read(home: PathBuf, cwd: PathBuf, system: Vec<PathBuf>) -> ImplicitSources {
    let found = tokio::task::spawn_blocking(move || sources(&home, &cwd, system)).await.unwrap_or_default();
    if found.is_empty() {
        return ImplicitSources::disabled("none of the files that Gemini reads by itself is there");
    }
    let precedence = ["system", "config", "project", "user"].map(ToOwned::to_owned);
    ImplicitSources { disabled: false, reason: None, sources: found, precedence: Some(precedence.into()) }
}

fn sources(home: &Path, cwd: &Path, system: Vec<PathBuf>) -> Vec<ImplicitSource> {
    let mut files: Vec<_> = system.into_iter().map(|path| (path, SourceKind::Policy)).collect();
    files.extend([
        (cwd.join(".gemini/settings.json"), SourceKind::Config),
        (home.join("settings.json"), SourceKind::Config),
    ]);
    files.extend(policies(&home.join("policies")).into_iter().map(|path| (path, SourceKind::Policy)));
    files.push((cwd.join(".gemini/system.md"), SourceKind::ProjectInstruction));
    files.extend(cwd.ancestors().map(|folder| (folder.join("GEMINI.md"), SourceKind::ProjectInstruction)));
    files.push((home.join("GEMINI.md"), SourceKind::ProjectInstruction));
    files.into_iter().take(MAX_FILES).filter_map(|(path, kind)| source(&path, kind)).collect()
}

fn source(path: &Path, kind: SourceKind) -> Option<ImplicitSource> {
    let size = fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len();
    let bytes = (size <= MAX_BYTES).then(|| fs::read(path).ok()).flatten();
    Some(ImplicitSource {
        path: path.display().to_string(),
        kind,
        redacted: bytes.is_none().then_some(true),
        hash: bytes.map(|bytes| canonical::hash_bytes(&bytes)),
        disabled: None,
    })
}

fn policies(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn files_are_named_with_a_hash_and_without_their_contents() {
        let place = tempfile::TempDir::new().unwrap();
        let (home, cwd) = (place.path().join(".gemini"), place.path().join("work"));
        fs::create_dir_all(home.join("policies")).unwrap();
        fs::create_dir(&cwd).unwrap();
        for path in [home.join("settings.json"), home.join("policies/a.toml"), cwd.join("GEMINI.md")] {
            fs::write(path, "my secret").unwrap();
        }
        let system = place.path().join("system.json");
        fs::write(&system, "my secret").unwrap();
        let env = BTreeMap::from([("GEMINI_CLI_SYSTEM_SETTINGS_PATH".to_owned(), system.display().to_string())]);
        assert_eq!(super::system(&env), [system, "/etc/gemini-cli/system-defaults.json".into()]);
        let found = read(home, cwd, super::system(&env)).await;
        assert!(!serde_json::to_string(&found).unwrap().contains("secret"));
        let ours: Vec<_> =
            found.sources.iter().filter(|source| source.path.starts_with(place.path().to_str().unwrap())).collect();
        assert_eq!(ours.len(), 4, "{found:?}");
        assert!(ours.iter().all(|source| source.hash == Some(canonical::hash_bytes(b"my secret"))));
    }
}
