//! The files of Gemini's sessions, and two workarounds without which loading a session deletes it.
//!
//! A load first creates a new record, named after the minute and the first eight characters of the id, and then
//! continues in the old one. In the minute in which the session was created both have the same name, so the old record
//! would be overwritten: it is renamed before, which is safe because Gemini identifies a session by the contents of its
//! file. In every other minute the new record stays behind empty. The next Gemini that starts there deletes empty
//! records together with all files of the same eight characters, so the empty record is removed after the load.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::history::Record;

/// Prepares a session to be loaded; false if this directory has no session of this id with a message in it.
pub(super) async fn make_ready(home: PathBuf, cwd: PathBuf, id: String) -> bool {
    let made = tokio::task::spawn_blocking(move || make_ready_at(&home, &cwd, &id, Timestamp::now())).await;
    made.map_err(io::Error::from).flatten().unwrap_or_else(|error| {
        tracing::warn!(%error, "A session of Gemini's cannot be kept through a load, so it is not loaded.");
        false
    })
}

/// Removes the empty record that a load left behind; a failure is only logged.
pub(super) async fn tidy(home: PathBuf, cwd: PathBuf, id: String) {
    let tidied = tokio::task::spawn_blocking(move || resumable_files(&home, &cwd, &id)).await;
    if let Err(error) = tidied.map_err(io::Error::from).flatten() {
        tracing::warn!(%error, "The empty record beside a session of Gemini's stays; Gemini may remove both.");
    }
}

fn make_ready_at(home: &Path, cwd: &Path, id: &str, now: Timestamp) -> io::Result<bool> {
    let files = resumable_files(home, cwd, id)?;
    // Gemini's format of the minute: "2026-11-15T13-55".
    let minute = now.to_string().get(..16).unwrap_or_default().replace(':', "-");
    let short = short(id);
    for file in &files {
        if file.file_name().is_some_and(|name| *name == *format!("session-{minute}-{short}.jsonl")) {
            fs::rename(file, file.with_file_name(format!("session-{minute}-kept-{short}.jsonl")))?;
        }
    }
    Ok(!files.is_empty())
}

/// The files of a session that Gemini would load. If there are any, the session's empty files are removed.
fn resumable_files(home: &Path, cwd: &Path, id: &str) -> io::Result<Vec<PathBuf>> {
    let (mut resumable, mut empty) = (Vec::new(), Vec::new());
    for file in files_of(home, cwd, id)? {
        let record = Record::read(&file)?;
        if record.id != id {
            continue;
        }
        if record.can_be_resumed() { resumable.push(file) } else { empty.push(file) }
    }
    if !resumable.is_empty() {
        empty.into_iter().try_for_each(fs::remove_file)?;
    }
    Ok(resumable)
}

/// The files of a directory whose names match this session; only their contents tell whether they are its own.
pub(super) fn files_of(home: &Path, cwd: &Path, id: &str) -> io::Result<Vec<PathBuf>> {
    let end = format!("-{}.jsonl", short(id));
    let mut files = files(home, cwd)?;
    files.retain(|file| file.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&end)));
    Ok(files)
}

/// The files of all sessions of a directory.
pub(super) fn files(home: &Path, cwd: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for project in projects(home, cwd)? {
        files.extend(entries(&project.join("chats"))?);
    }
    let named = |name: &str| name.starts_with("session-") && name.ends_with(".jsonl");
    files.retain(|file| file.file_name().and_then(|name| name.to_str()).is_some_and(named));
    Ok(files)
}

/// Gemini's folders for a working directory, which each names in `.project_root`. Without that file, `projects.json`
/// tells the folder's directory.
fn projects(home: &Path, cwd: &Path) -> io::Result<Vec<PathBuf>> {
    let list = fs::read(home.join("projects.json")).unwrap_or_default();
    let list: Value = serde_json::from_slice(&list).unwrap_or_default();
    let listed = list["projects"][cwd.to_string_lossy().as_ref()].as_str().map(ToOwned::to_owned);
    let mut projects = entries(&home.join("tmp"))?;
    projects.retain(|project| match fs::read_to_string(project.join(".project_root")) {
        Ok(owner) => Path::new(owner.trim()) == cwd,
        Err(_) => listed.as_deref().is_some_and(|listed| project.ends_with(listed)),
    });
    Ok(projects)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "1134a10f-082a-4395-998a-232fcb65abf3";
    const PROMPT: &str = r#"{"id":"m1","type":"user","content":[{"text":"hello"}]}"#;

    struct ChatsFixture {
        home: tempfile::TempDir,
        chats: PathBuf,
    }

    impl ChatsFixture {
        fn new() -> Self {
            let home = tempfile::TempDir::new().unwrap();
            let chats = home.path().join("tmp/project/chats");
            fs::create_dir_all(&chats).unwrap();
            fs::write(home.path().join("tmp/project/.project_root"), "/w").unwrap();
            Self { home, chats }
        }

        fn write(&self, name: &str, id: &str, message: &str) {
            let header = format!(r#"{{"sessionId":"{id}","projectHash":"x","kind":"main"}}"#);
            fs::write(self.chats.join(name), format!("{header}\n{message}\n")).unwrap();
        }

        fn names(&self) -> Vec<String> {
            let mut names: Vec<_> = fs::read_dir(&self.chats)
                .unwrap()
                .map(|file| file.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        }

        fn make_ready(&self, cwd: &str, id: &str) -> bool {
            let now: Timestamp = "2026-11-15T13:55:59Z".parse().unwrap();
            make_ready_at(self.home.path(), Path::new(cwd), id, now).unwrap()
        }
    }

    #[test]
    fn only_the_file_of_this_minute_gets_another_name() {
        let fixture = ChatsFixture::new();
        fixture.write("session-2026-11-15T13-54-1134a10f.jsonl", ID, PROMPT);
        assert!(fixture.make_ready("/w", ID));
        assert_eq!(fixture.names(), ["session-2026-11-15T13-54-1134a10f.jsonl"]);

        let fixture = ChatsFixture::new();
        fixture.write("session-2026-11-15T13-55-1134a10f.jsonl", ID, PROMPT);
        assert!(fixture.make_ready("/w", ID) && fixture.make_ready("/w", ID));
        assert_eq!(fixture.names(), ["session-2026-11-15T13-55-kept-1134a10f.jsonl"]);
    }

    #[test]
    fn the_empty_record_of_a_load_is_taken_away_and_nothing_else() {
        let fixture = ChatsFixture::new();
        fixture.write("session-2026-11-15T13-50-1134a10f.jsonl", ID, PROMPT);
        fixture.write("session-2026-11-15T13-55-1134a10f.jsonl", ID, "{}");
        fixture.write("session-2026-11-15T13-51-1134a10f.jsonl", "1134a10f-another", "{}");
        assert!(fixture.make_ready("/w", ID));
        let left = ["session-2026-11-15T13-50-1134a10f.jsonl", "session-2026-11-15T13-51-1134a10f.jsonl"];
        assert_eq!(fixture.names(), left);
    }

    #[test]
    fn a_session_is_known_by_its_whole_id_and_in_its_own_directory() {
        let fixture = ChatsFixture::new();
        fixture.write("session-2026-11-15T13-55-1134a10f.jsonl", "1134a10f-another", PROMPT);
        for id in [ID, "1", "latest", ""] {
            assert!(!fixture.make_ready("/w", id), "{id}");
        }
        assert!(!fixture.make_ready("/elsewhere", "1134a10f-another"));
        assert_eq!(fixture.names(), ["session-2026-11-15T13-55-1134a10f.jsonl"]);
    }

    #[test]
    fn a_folder_that_does_not_say_whose_it_is_is_looked_up() {
        let fixture = ChatsFixture::new();
        fixture.write("session-2026-11-15T13-55-1134a10f.jsonl", ID, PROMPT);
        fs::remove_file(fixture.home.path().join("tmp/project/.project_root")).unwrap();
        assert!(!fixture.make_ready("/w", ID));
        fs::write(fixture.home.path().join("projects.json"), r#"{"projects":{"/w":"project"}}"#).unwrap();
        assert!(fixture.make_ready("/w", ID));
    }
}
