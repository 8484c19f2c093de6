//! Gemini's home: the user's own, or one for a single run.
//!
//! Gemini reads settings only from its home; a machine-wide file counts only if root owns it. So a run with settings
//! gets its own home, in which everything but the settings is a symlink into the user's: sessions, logins and memories
//! stay where they are.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::layers::lay_over;

/// The name of Gemini's folder in a home.
pub(super) const FOLDER: &str = ".gemini";
/// The variable that sets the home.
pub(super) const VARIABLE: &str = "GEMINI_CLI_HOME";

const SETTINGS: &str = "settings.json";
/// The list of projects. It is not linked: Gemini replaces a link when it writes, and rebuilds a missing list.
const PROJECTS: &str = "projects.json";
/// Folders that Gemini creates. They are created in the user's home first, so that the links lead somewhere.
const MADE: [&str; 2] = ["history", "tmp"];
/// Files that Gemini may create. Links to missing ones make Gemini create them in the user's home.
const WRITTEN: [&str; 6] = [
    "GEMINI.md",
    "google_accounts.json",
    "installation_id",
    "mcp-oauth-tokens.json",
    "oauth_creds.json",
    "trustedFolders.json",
];
/// Files and folders that Gemini reads beside its own folder.
const BESIDE: [&str; 2] = [".agents", ".env"];

/// Creates the home `own` with these settings over those of the home `user`. Blocks on the disk.
pub(super) fn create_run_home(own: &Path, user: &Path, settings: Map<String, Value>) -> io::Result<()> {
    let (ours, theirs) = (own.join(FOLDER), user.join(FOLDER));
    let mut merged = read_settings(&theirs)?;
    lay_over(&mut merged, settings);
    DirBuilder::new().recursive(true).mode(0o700).create(&ours)?;
    for folder in MADE {
        fs::create_dir_all(theirs.join(folder))?;
    }
    let names = fs::read_dir(&theirs)?.map(|entry| entry.map(|entry| PathBuf::from(entry.file_name())));
    for name in names.chain(WRITTEN.map(|name| Ok(name.into()))) {
        let name = name?;
        if name != *SETTINGS && name != *PROJECTS && ours.join(&name).symlink_metadata().is_err() {
            symlink(theirs.join(&name), ours.join(&name))?;
        }
    }
    for name in BESIDE.iter().filter(|name| user.join(name).exists()) {
        symlink(user.join(name), own.join(name))?;
    }
    // Settings can hold secrets, so only this user may read the file.
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(ours.join(SETTINGS));
    file?.write_all(Value::Object(merged).to_string().as_bytes())
}

/// The settings in one of Gemini's folders; empty if there is no file.
pub(super) fn read_settings(folder: &Path) -> io::Result<Map<String, Value>> {
    let file = folder.join(SETTINGS);
    let text = match fs::read_to_string(&file) {
        Ok(text) => without_comments(&text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(error) => return Err(error),
    };
    serde_json::from_str(&text).map_err(|error| io::Error::other(format!("{}: {error}", file.display())))
}

/// The text without its comments, which Gemini allows in JSON.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            let end = string_end(rest);
            plain.push_str(&rest[..end]);
            end
        };
        rest = &rest[end..];
    }
    plain + rest
}

/// The length of the JSON string at the start of `text`; 1 if it starts with a slash that begins no comment.
fn string_end(text: &str) -> usize {
    let mut escaped = true;
    for (at, letter) in text.char_indices() {
        if letter == '"' && !escaped || !text.starts_with('"') {
            return at + letter.len_utf8();
        }
        escaped = letter == '\\' && !escaped;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_home_of_a_run_has_its_own_settings_and_the_rest_of_the_users() {
        let folder = tempfile::TempDir::new().unwrap();
        let (own, user) = (folder.path().join("own"), folder.path().join("user"));
        fs::create_dir_all(user.join(".gemini/commands")).unwrap();
        fs::write(user.join(".gemini/settings.json"), r#"{"ui": {"theme": "x"}, "general": {"vimMode": true}}"#)
            .unwrap();
        fs::write(user.join(".gemini/projects.json"), "{}").unwrap();
        fs::write(user.join(".gemini/oauth_creds.json"), "login").unwrap();
        create_run_home(&own, &user, map(&json!({ "general": { "vimMode": false } }))).unwrap();

        let merged = json!({ "ui": { "theme": "x" }, "general": { "vimMode": false } });
        assert_eq!(read_settings(&own.join(".gemini")).unwrap(), map(&merged));
        assert_eq!(fs::read_to_string(own.join(".gemini/oauth_creds.json")).unwrap(), "login");
        assert!(!own.join(".gemini/projects.json").exists());
        fs::create_dir(own.join(".gemini/tmp/project")).unwrap();
        fs::write(own.join(".gemini/GEMINI.md"), "remember").unwrap();
        fs::remove_dir_all(&own).unwrap();
        assert!(user.join(".gemini/tmp/project").exists() && user.join(".gemini/commands").exists());
        assert_eq!(fs::read_to_string(user.join(".gemini/GEMINI.md")).unwrap(), "remember");
    }

    #[test]
    fn comments_are_no_settings() {
        let cases = [
            ("{\"a\": 1} // end", json!({ "a": 1 })),
            ("/* b\n */{\"a\": /* c */ \"x\"}", json!({ "a": "x" })),
            (r#"{"a": "http://x", "b": "\"// no"}"#, json!({ "a": "http://x", "b": "\"// no" })),
        ];
        for (text, expected) in cases {
            assert_eq!(serde_json::from_str::<Value>(&without_comments(text)).unwrap(), expected, "{text}");
        }
    }
}
