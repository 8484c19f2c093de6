//! Which version of the CLI is installed: asked once, and not waited for long.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::process::Command;

/// How long the CLI may take to tell; the first start of a new install is slow.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first version whose control protocol is the one that Roost speaks.
const OLDEST: u32 = 2;

/// What to do about a version that is too old; `None` if it is not.
pub(super) fn too_old(version: &str) -> Option<String> {
    let major: u32 = version.split('.').next()?.parse().ok()?;
    (major < OLDEST).then(|| {
        format!("Claude Code {version} is too old, Roost needs {OLDEST}.0 or later; update it with `claude update`")
    })
}

/// The versions that are known, by program and the time of its last change.
#[derive(Default)]
pub(super) struct Versions(Mutex<HashMap<(PathBuf, Option<SystemTime>), String>>);

impl Versions {
    /// The version of this program; `None` if it does not tell.
    pub(super) async fn of(&self, program: PathBuf, env: &BTreeMap<String, String>) -> Option<String> {
        let changed = tokio::fs::metadata(&program).await.ok().and_then(|file| file.modified().ok());
        let key = (program, changed);
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Some(known.clone());
        }
        let mut command = Command::new(&key.0);
        command.arg("--version").env_clear().envs(env).stdin(Stdio::null()).kill_on_drop(true);
        let output = tokio::time::timeout(PATIENCE, command.output()).await.ok()?.ok()?;
        let version = read(&String::from_utf8_lossy(&output.stdout))?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, version.clone());
        Some(version)
    }
}

/// The version in `2.1.197 (Claude Code)`.
fn read(said: &str) -> Option<String> {
    let first = said.split_whitespace().next()?;
    first.starts_with(|first: char| first.is_ascii_digit()).then(|| first.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_before_the_second_is_too_old() {
        for (version, expected) in [("1.0.128", true), ("2.0.0", false), ("2.1.197", false), ("10.0.0", false)] {
            assert_eq!(too_old(version).is_some(), expected, "{version}");
        }
    }

    #[test]
    fn a_version_begins_with_a_digit() {
        let cases = [("2.1.197 (Claude Code)\n", Some("2.1.197")), ("", None), ("Usage: claude", None)];
        for (said, expected) in cases {
            assert_eq!(read(said).as_deref(), expected, "{said}");
        }
    }
}
