//! Credential namespaces: which home and XDG directories a runtime sees.

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

pub use roost_model::runtime::IsolationLevel as Isolation;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Environment, Error};

/// A credential namespace such as `default`, `user:anna` or `ci:42`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Namespace(pub String);

impl Namespace {
    /// The name of its directory: one path component, and never that of another namespace.
    pub fn directory_name(&self) -> String {
        directory_name(&self.0)
    }
}

const SUBDIRECTORIES: [(&str, &str); 5] = [
    ("HOME", "home"),
    ("XDG_CONFIG_HOME", "config"),
    ("XDG_STATE_HOME", "state"),
    ("XDG_CACHE_HOME", "cache"),
    ("XDG_DATA_HOME", "data"),
];
const EPHEMERAL_PREFIX: &str = "session-";
const LONGEST_NAME: usize = 200;

/// Sets the home and XDG variables for this isolation level, and creates the directories they name.
///
/// The guard of an ephemeral session must be kept until the session ends: it removes the directories.
pub async fn isolate(
    isolation: Isolation,
    base: &Path,
    namespace: &Namespace,
    session: &str,
    environment: &mut Environment,
) -> Result<Option<EphemeralDir>, Error> {
    let directory = base.join(namespace.directory_name());
    let directory = match isolation {
        Isolation::Shared => return Ok(None),
        Isolation::Namespaced => directory,
        Isolation::Ephemeral => ephemeral(base, namespace, session),
    };
    let guard = (isolation == Isolation::Ephemeral).then(|| EphemeralDir(Some(directory.clone())));
    for (variable, name) in SUBDIRECTORIES {
        environment.set(variable, directory.join(name));
    }
    blocking(move || {
        let directories = SUBDIRECTORIES.map(|(_, name)| directory.join(name));
        [&directory].into_iter().chain(&directories).try_for_each(|path| private_directory(path))
    })
    .await?;
    Ok(guard)
}

/// Removes the directories of ephemeral sessions that a crashed daemon left below `base`, except those of sessions that
/// still run.
pub async fn remove_ephemeral_leftovers(base: PathBuf, going_on: &[&EphemeralDir]) -> Result<(), Error> {
    let kept: Vec<_> = going_on.iter().filter_map(|dir| dir.0.clone()).collect();
    blocking(move || {
        let sessions = directories_in(&base).flat_map(|namespace| directories_in(&namespace));
        let leftover = |path: &PathBuf| {
            let is_one =
                path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(EPHEMERAL_PREFIX.as_bytes()));
            is_one && !kept.contains(path)
        };
        sessions.filter(leftover).try_for_each(|path| remove_all(&path))
    })
    .await
}

/// Guards the directories of an ephemeral session: removes them when it is dropped.
#[must_use = "dropping it removes the session's directories"]
#[derive(Debug)]
pub struct EphemeralDir(Option<PathBuf>);

impl EphemeralDir {
    /// Guards the directories of a session that an earlier daemon started.
    pub fn of_running(base: &Path, namespace: &Namespace, session: &str) -> Self {
        Self(Some(ephemeral(base, namespace, session)))
    }

    /// Removes the directories and everything in them.
    pub async fn remove(mut self) -> Result<(), Error> {
        match self.0.take() {
            Some(path) => blocking(move || remove_all(&path)).await,
            None => Ok(()),
        }
    }
}

impl Drop for EphemeralDir {
    fn drop(&mut self) {
        let Some(path) = self.0.take() else { return };
        let remove = move || {
            if let Err(error) = remove_all(&path) {
                tracing::warn!(%error, "An ephemeral session's directory is left behind.");
            }
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }
}

fn ephemeral(base: &Path, namespace: &Namespace, session: &str) -> PathBuf {
    base.join(namespace.directory_name()).join(format!("{EPHEMERAL_PREFIX}{}", directory_name(session)))
}

async fn blocking(work: impl FnOnce() -> Result<(), Error> + Send + 'static) -> Result<(), Error> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Error::ShuttingDown)?
}

fn private_directory(path: &Path) -> Result<(), Error> {
    let make = || {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        // It may have been there before, with other permissions.
        fs::set_permissions(path, Permissions::from_mode(0o700))
    };
    make().map_err(|source| Error::Storage { path: path.to_owned(), source })
}

fn remove_all(path: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::Storage { path: path.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

fn directories_in(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
}

/// Keeps plain characters and writes every other byte as `%XX`, so different names stay different.
fn directory_name(name: &str) -> String {
    let mut encoded = String::new();
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            // Neither `.`, `..` nor a hidden directory.
            b'.' if at == 0 => encoded.push_str("%2E"),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' => encoded.push(byte.into()),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    // `%` is otherwise always followed by two digits, so these two forms clash with no other name.
    if encoded.is_empty() {
        return "%".to_owned();
    }
    if encoded.len() > LONGEST_NAME {
        let digest = Sha256::digest(name.as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        return format!("{}%+{hex}", &encoded[..100]);
    }
    encoded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn directory_names_are_readable_where_they_can_be() {
        let table = [
            ("default", "default"),
            ("user:anna", "user%3Aanna"),
            ("user_anna", "user_anna"),
            ("", "%"),
            (".", "%2E"),
            ("..", "%2E."),
            ("a/b", "a%2Fb"),
            ("%", "%25"),
            ("é", "%C3%A9"),
        ];
        for (name, expected) in table {
            assert_eq!(directory_name(name), expected);
        }
    }

    fn names() -> impl Strategy<Value = String> {
        prop_oneof![any::<String>(), "[a%.:/2E_+-]{0,6}", "[.a:]{190,220}"]
    }

    proptest! {
        #[test]
        fn different_namespaces_have_different_directories(one in names(), other in names()) {
            prop_assert_eq!(one == other, directory_name(&one) == directory_name(&other));
        }

        #[test]
        fn a_directory_name_is_one_safe_path_component(name in names()) {
            let encoded = directory_name(&name);
            prop_assert!((1..=LONGEST_NAME).contains(&encoded.len()));
            prop_assert!(!encoded.starts_with('.'));
            prop_assert!(encoded.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/'));
        }
    }
}
