//! The files that a project brings for Gemini, and whether they could make it run something.
//!
//! In a terminal Gemini asks whether a folder is to be trusted, and uses nothing of it before. Roost answers yes, so that
//! `GEMINI.md` and slash commands work, but not where the project's files may name programs: hooks, tool servers, policies.
//! There Gemini itself looks up what its user answered in the terminal (`trustedFolders.json`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use roost_engine::adapter::Draft;
use roost_model::payload::{NoticeLevel, NoticeSource};

use super::home;
use crate::host;

/// What may lie in a project's `.gemini` without a question. Settings are looked into.
const HARMLESS_FILES: [&str; 7] =
    [".gitignore", "GEMINI.md", "commands", "settings.json", "skills", "styleguide.md", "system.md"];
/// The sections of settings that name no program, no file to run and no host.
const HARMLESS_SETTINGS: [&str; 6] = ["$schema", "context", "general", "model", "output", "ui"];

/// What in the project's `.gemini` may make Gemini run something; empty where that is the user's own folder `home`.
/// Blocks on the disk.
pub(super) fn risks(cwd: &Path, home: &Path) -> Vec<String> {
    let folder = cwd.join(home::FOLDER);
    if folder == *home {
        return Vec::new();
    }
    let names = match fs::read_dir(&folder) {
        Ok(entries) => entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(_) => vec![home::FOLDER.to_owned()],
    };
    let files = names.into_iter().filter(|name| !HARMLESS_FILES.contains(&name.as_str()));
    // What cannot be read here may be read by Gemini.
    let settings = home::read_settings(&folder).map_or_else(
        |_| vec!["settings.json".to_owned()],
        |settings| settings.into_iter().map(|(name, _)| name).collect(),
    );
    let mut risks: Vec<_> =
        files.chain(settings.into_iter().filter(|name| !HARMLESS_SETTINGS.contains(&name.as_str()))).collect();
    risks.sort();
    risks
}

/// The notice about files that Gemini uses only in a trusted folder; `None` if there are none.
pub(super) async fn notice(home: PathBuf, cwd: PathBuf) -> Option<Draft> {
    let risks = tokio::task::spawn_blocking(move || risks(&cwd, &home)).await.ok()?;
    let message = format!(
        "the project's .gemini may run something ({}), so Gemini uses it, the project's GEMINI.md and tool servers only \
         if you trusted this folder in `gemini`",
        risks.join(", ")
    );
    (!risks.is_empty()).then(|| host::notice(NoticeLevel::Warning, NoticeSource::Engine, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_a_program_is_a_risk_and_what_only_tells_is_none() {
        let cases = [
            ("GEMINI.md", "x", vec![]),
            ("settings.json", r#"{"model":{"name":"m"},"ui":{}}"#, vec![]),
            ("settings.json", r#"{"hooks":{},"mcpServers":{},"model":{}}"#, vec!["hooks", "mcpServers"]),
            ("settings.json", r#"{"tools":{"discoveryCommand":"x"}}"#, vec!["tools"]),
            ("settings.json", r#"{"nobody_knows":1}"#, vec!["nobody_knows"]),
            ("settings.json", "torn", vec!["settings.json"]),
            (".env", "NODE_OPTIONS=x", vec![".env"]),
            ("policies/all.toml", "x", vec!["policies"]),
        ];
        for (name, text, expected) in cases {
            let project = tempfile::TempDir::new().unwrap();
            assert_eq!(risks(project.path(), Path::new("/home/ada/.gemini")), [""; 0], "no folder at all");
            let path = project.path().join(".gemini").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
            assert_eq!(risks(project.path(), Path::new("/home/ada/.gemini")), expected, "{name} {text}");
            assert_eq!(risks(project.path(), &project.path().join(".gemini")), [""; 0], "the user's own");
        }
    }
}
