//! A Codex home for one run of `codex exec` with settings.
//!
//! An old Codex takes settings from its command line, which everybody on this machine can read, or from its home. So a
//! run with settings gets a home of its own, in which everything but `config.toml` is a link into the user's home:
//! logins, sessions and instructions stay where they are.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::layers::{lay_over, nest};

const CONFIG: &str = "config.toml";
/// The folder with the threads. Created in the user's home if it is missing, because a later run must find this run's
/// thread.
const SESSIONS: &str = "sessions";
/// Files that Codex may create: they are linked even if they do not exist, so that they are created in the user's
/// home.
const LINKED_FILES: [&str; 2] = ["auth.json", "history.jsonl"];

/// Creates the home `own` with these settings over those of the home `user`. Blocks on the disk.
pub(super) fn create(own: &Path, user: &Path, settings: &Map<String, Value>) -> io::Result<()> {
    let mut merged = read_config(&user.join(CONFIG))?;
    lay_over(&mut merged, nest(settings.clone()));
    let merged = toml::to_string(&merged).map_err(io::Error::other)?;
    DirBuilder::new().recursive(true).mode(0o700).create(own)?;
    fs::create_dir_all(user.join(SESSIONS))?;
    let names = fs::read_dir(user)?.map(|entry| entry.map(|entry| PathBuf::from(entry.file_name())));
    for name in names.chain(LINKED_FILES.map(|name| Ok(name.into()))) {
        let name = name?;
        if name != *CONFIG && own.join(&name).symlink_metadata().is_err() {
            symlink(user.join(&name), own.join(&name))?;
        }
    }
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(own.join(CONFIG));
    file?.write_all(merged.as_bytes())
}

/// Reads a `config.toml`; empty if there is none.
fn read_config(file: &Path) -> io::Result<Map<String, Value>> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(error) => return Err(error),
    };
    toml::from_str(&text).map_err(|error| io::Error::other(format!("{}: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_home_of_a_run_has_its_own_settings_and_the_rest_of_the_users() {
        let folder = tempfile::TempDir::new().unwrap();
        let (own, user) = (folder.path().join("own"), folder.path().join("user"));
        fs::create_dir(&user).unwrap();
        fs::write(user.join(CONFIG), "model = 'a'\n[model_providers.x]\nname = 'x'\n").unwrap();
        fs::write(user.join("AGENTS.md"), "instructions").unwrap();
        let settings = json!({ "model": "b", "model_providers.x.experimental_bearer_token": "canary" });
        create(&own, &user, settings.as_object().unwrap()).unwrap();

        let merged = json!({
            "model": "b", "model_providers": { "x": { "name": "x", "experimental_bearer_token": "canary" } },
        });
        assert_eq!(Value::Object(read_config(&own.join(CONFIG)).unwrap()), merged);
        assert_eq!(fs::metadata(own.join(CONFIG)).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_to_string(own.join("AGENTS.md")).unwrap(), "instructions");
        fs::write(own.join("auth.json"), "login").unwrap();
        fs::write(own.join("sessions/thread"), "said").unwrap();
        fs::remove_dir_all(&own).unwrap();
        assert_eq!(fs::read_to_string(user.join("auth.json")).unwrap(), "login");
        assert!(user.join("sessions/thread").exists());
    }
}
