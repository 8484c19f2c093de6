//! The files that the Gemini CLI reads by itself: settings, policies and instructions, recorded by path and hash.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use roost_model::sources::{ImplicitSource, ImplicitSources, SourceKind};

use crate::source_files::{MAX_FILES, files_with_extension, source};

/// The machine-wide settings files: the variable that can name another file, and the default path. The first file
/// overrides the user's settings, the second holds defaults.
const SYSTEM: [(&str, &str); 2] = [
    ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "/etc/gemini-cli/settings.json"),
    ("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "/etc/gemini-cli/system-defaults.json"),
];

/// The paths of the machine-wide settings in this environment.
pub(super) fn system(env: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let named = |(variable, usual): (&str, &str)| {
        env.get(variable).filter(|path| !path.is_empty()).map_or(usual.into(), Into::into)
    };
    SYSTEM.map(named).into()
}

/// The files that exist now.
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
    files.extend(
        files_with_extension(&home.join("policies"), "toml").into_iter().map(|path| (path, SourceKind::Policy)),
    );
    files.push((cwd.join(".gemini/system.md"), SourceKind::ProjectInstruction));
    files.extend(cwd.ancestors().map(|folder| (folder.join("GEMINI.md"), SourceKind::ProjectInstruction)));
    files.push((home.join("GEMINI.md"), SourceKind::ProjectInstruction));
    files.into_iter().take(MAX_FILES).filter_map(|(path, kind)| source(&path, kind)).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use roost_model::canonical;

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
