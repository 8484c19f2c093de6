//! Gemini's files of sessions, and the one that a load would wipe.
//!
//! A load begins a new record named after the minute and the first eight characters of the id, then looks for the old
//! one. In the minute of the session's creation both are the same file, and what was in it is gone. Gemini knows a
//! session by what is in its file, so another name keeps it.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

/// A longer first line is no header.
const MAX_HEADER: u64 = 64 * 1024;

/// Puts a session's file out of the way of a load; false if there is no session of this id.
pub(super) async fn put_aside(home: PathBuf, id: String) -> bool {
    let found = tokio::task::spawn_blocking(move || put_aside_at(&home, &id, Timestamp::now()));
    match found.await.map_err(io::Error::from).flatten() {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(%error, "A session of Gemini's cannot be kept through a load, so it is not loaded.");
            false
        }
    }
}

fn put_aside_at(home: &Path, id: &str, now: Timestamp) -> io::Result<bool> {
    let files = files(home, id);
    // As Gemini writes the minute: "2026-11-15T13-55".
    let minute = now.to_string().get(..16).unwrap_or_default().replace(':', "-");
    let short = short(id);
    for file in &files {
        let endangered = format!("session-{minute}-{short}.jsonl");
        if file.file_name().is_some_and(|name| *name == *endangered) {
            let aside = file.with_file_name(format!("session-{minute}-kept-{short}.jsonl"));
            // If one was put aside in this very minute, this is the empty record that the load of then began.
            if !aside.exists() {
                fs::rename(file, aside)?;
            }
        }
    }
    Ok(!files.is_empty())
}

/// The files that hold this session, of every project.
fn files(home: &Path, id: &str) -> Vec<PathBuf> {
    let projects = fs::read_dir(home.join("tmp")).into_iter().flatten().flatten();
    let chats = projects.filter_map(|project| fs::read_dir(project.path().join("chats")).ok());
    let files = chats.flatten().flatten().map(|file| file.path());
    let end = format!("-{}.jsonl", short(id));
    let named = files.filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&end)));
    named.filter(|file| header(file).is_ok_and(|header| header["sessionId"] == id)).collect()
}

fn header(file: &Path) -> io::Result<Value> {
    let mut line = String::new();
    BufReader::new(File::open(file)?.take(MAX_HEADER)).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "1134a10f-082a-4395-998a-232fcb65abf3";

    fn write(chats: &Path, name: &str, id: &str) {
        fs::create_dir_all(chats).unwrap();
        fs::write(chats.join(name), format!("{{\"sessionId\":\"{id}\",\"kind\":\"main\"}}\n{{}}\n")).unwrap();
    }

    fn names(chats: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(chats).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_the_file_of_this_minute_is_put_aside_and_nothing_is_overwritten() {
        let home = tempfile::TempDir::new().unwrap();
        let chats = home.path().join("tmp/project/chats");
        let now: Timestamp = "2026-11-15T13:55:59Z".parse().unwrap();
        write(&chats, "session-2026-11-15T13-54-1134a10f.jsonl", ID);
        assert!(put_aside_at(home.path(), ID, now).unwrap());
        assert_eq!(names(&chats), ["session-2026-11-15T13-54-1134a10f.jsonl"]);

        write(&chats, "session-2026-11-15T13-55-1134a10f.jsonl", ID);
        assert!(put_aside_at(home.path(), ID, now).unwrap());
        let kept = ["session-2026-11-15T13-54-1134a10f.jsonl", "session-2026-11-15T13-55-kept-1134a10f.jsonl"];
        assert_eq!(names(&chats), kept);

        write(&chats, "session-2026-11-15T13-55-1134a10f.jsonl", ID);
        assert!(put_aside_at(home.path(), ID, now).unwrap());
        assert_eq!(names(&chats).len(), 3);
    }

    #[test]
    fn a_session_is_known_by_its_whole_id() {
        let home = tempfile::TempDir::new().unwrap();
        let chats = home.path().join("tmp/project/chats");
        write(&chats, "session-2026-11-15T13-55-1134a10f.jsonl", "1134a10f-another");
        let now: Timestamp = "2026-11-15T13:55:59Z".parse().unwrap();
        for id in [ID, "1", "latest", ""] {
            assert!(!put_aside_at(home.path(), id, now).unwrap(), "{id}");
        }
        assert_eq!(names(&chats), ["session-2026-11-15T13-55-1134a10f.jsonl"]);
    }
}
