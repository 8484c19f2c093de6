//! The secrets that references of manifests lead to: which there are, whether one can be used, and files that are set here.
//!
//! Decisions:
//! * Variables are set where the daemon is started and never here; only files and entries of the keyring can be set and
//!   deleted.
//! * The folder is entered by `cap-std`, so that no link leads a write or a deletion out of it.
//! * Nothing that is returned holds a secret, or more of a target than is needed to recognise it.
//! * Entries of the keyring are not listed: its program tells their secrets with their names.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, OpenOptions, OpenOptionsExt};
use roost_model::secret::Secret;
use uuid::Uuid;

use crate::auth_ref::{AuthRef, AuthRefError};
use crate::keyring::Keyring;

/// Secrets that are listed at most.
const MAX_LISTED: usize = 500;
/// Folders within folders that are looked into.
const MAX_DEPTH: usize = 8;
/// The most bytes of a secret; it is one line of text.
const MAX_SECRET: usize = 64 * 1024;
/// What the name of a file begins with that is not in its place yet.
const UNFINISHED: &str = ".new-";

/// Where the value of a variable comes from.
pub type Variables = fn(&str) -> Option<String>;

/// The folder of secrets, and the daemon's variables.
pub struct Secrets {
    root: PathBuf,
    variables: Variables,
}

/// Why a secret cannot be set, deleted or listed. Names what is referred to and never a secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The reference is none.
    #[error(transparent)]
    Reference(#[from] AuthRefError),
    /// It is a reference to a variable.
    #[error(
        "{0} is a variable of the daemon; set it where the daemon is started. Only file:… and keyring:… can be set here"
    )]
    Variable(String),
    /// The keyring cannot be used.
    #[error("{reference}: {reason}")]
    Keyring {
        /// As it was given.
        reference: String,
        /// What is wrong.
        reason: String,
    },
    /// The text cannot be a secret.
    #[error("a secret is one line of at most 64 KiB without control characters, and not empty")]
    NotALine,
    /// There is no such secret.
    #[error("there is no secret {0}")]
    Unknown(String),
    /// The folder or a file cannot be used.
    #[error("the folder of secrets cannot be used for {reference}: {source}")]
    Folder {
        /// As it was given.
        reference: String,
        /// What the system says.
        source: io::Error,
    },
}

/// Whether a reference can be used now, and what it would lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedReference {
    /// One of [`PROVIDERS`]; `None` if the reference is none.
    pub provider: Option<&'static str>,
    /// Enough of what it leads to for somebody who knows it.
    pub redacted_target: String,
    /// Why it cannot be used; empty if it can.
    pub issues: Vec<String>,
    /// The headers in which the secret would be sent.
    pub header_keys: Vec<String>,
    /// Where the secret is: `environment`, `file` or `keyring`.
    pub source: &'static str,
}

/// The forms of references, by the names of their providers. All but the keyring are there on every machine.
pub const PROVIDERS: [&str; 5] = ["legacy_env", "env", "file", "header_env", KEYRING];
/// The provider that is the desktop's keyring.
pub const KEYRING: &str = "keyring";

impl Secrets {
    /// Secrets in files below `root`, which need not exist yet, and in these variables.
    pub fn new(root: PathBuf, variables: Variables) -> Self {
        Self { root, variables }
    }

    /// The folder of secrets.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The header that carries the secret of a reference, and its value. Blocks on the disk.
    pub fn read(&self, reference: &str) -> Result<(String, Secret), AuthRefError> {
        AuthRef::parse(reference)?.read(self.variables, &self.root)
    }

    /// Whether a reference can be used now. Blocks on the disk.
    pub fn check(&self, reference: &str) -> CheckedReference {
        let parsed = match AuthRef::parse(reference) {
            Ok(parsed) => parsed,
            Err(error) => {
                let (provider, redacted_target) = (None, redact(reference));
                let (issues, header_keys) = (vec![error.to_string()], Vec::new());
                return CheckedReference { provider, redacted_target, issues, header_keys, source: "environment" };
            }
        };
        let (provider, redacted_target) = match &parsed {
            AuthRef::Variable(name) if !reference.starts_with("env:") => ("legacy_env", redact(name)),
            AuthRef::Variable(name) => ("env", redact(name)),
            AuthRef::File(path) => ("file", format!(".../{}", path.file_name().unwrap_or_default().to_string_lossy())),
            AuthRef::Keyring(name) => (KEYRING, redact(name)),
            AuthRef::Header { header, .. } => ("header_env", format!("{header}:***")),
        };
        let (issues, header_keys) = match parsed.read(self.variables, &self.root) {
            Ok((header, _)) => (Vec::new(), vec![header]),
            // The name of a variable or file is what was redacted.
            Err(AuthRefError::NoVariable(_)) => {
                (vec!["the daemon has no such variable, or it is empty".into()], vec![])
            }
            Err(AuthRefError::File { reason, .. } | AuthRefError::Keyring { reason, .. }) => (vec![reason], vec![]),
            Err(error) => (vec![error.to_string()], vec![]),
        };
        let source = match parsed {
            AuthRef::File(_) => "file",
            AuthRef::Keyring(_) => KEYRING,
            AuthRef::Variable(_) | AuthRef::Header { .. } => "environment",
        };
        CheckedReference { provider: Some(provider), redacted_target, issues, header_keys, source }
    }

    /// Why there is no keyring, if so. Blocks on it.
    pub fn check_keyring(&self) -> Result<(), String> {
        Keyring(self.variables).check()
    }

    /// Keeps a secret where the reference says, in place of an earlier one. Blocks on the disk or the keyring.
    pub fn set(&self, reference: &str, secret: &Secret) -> Result<(), SecretError> {
        let place = settable(reference)?;
        let text = secret.expose().trim();
        if text.is_empty() || text.len() > MAX_SECRET || text.chars().any(char::is_control) {
            return Err(SecretError::NotALine);
        }
        let path = match place {
            Place::File(path) => path,
            Place::Keyring(name) => {
                let failed = |reason| SecretError::Keyring { reference: reference.into(), reason };
                return Keyring(self.variables).set(&name, text).map_err(failed);
            }
        };
        let failed = |source| SecretError::Folder { reference: reference.into(), source };
        let write = || {
            make_private_folder(&self.root)?;
            let root = Dir::open_ambient_dir(&self.root, ambient_authority())?;
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                root.create_dir_with_all(folder)?;
            }
            let unfinished = path.with_file_name(format!("{UNFINISHED}{}", Uuid::new_v4().simple()));
            let mut new = root.open_with(&unfinished, OpenOptions::new().write(true).create_new(true).mode(0o600))?;
            let written = new.write_all(text.as_bytes()).and_then(|()| new.sync_all());
            let placed = written.and_then(|()| root.rename(&unfinished, &root, &path));
            placed.inspect_err(|_| drop(root.remove_file(&unfinished)))
        };
        write().map_err(failed)
    }

    /// Deletes what the reference names. Blocks on the disk or the keyring.
    pub fn delete(&self, reference: &str) -> Result<(), SecretError> {
        let path = match settable(reference)? {
            Place::File(path) => path,
            Place::Keyring(name) => {
                return match Keyring(self.variables).delete(&name) {
                    Ok(true) => Ok(()),
                    Ok(false) => Err(SecretError::Unknown(reference.into())),
                    Err(reason) => Err(SecretError::Keyring { reference: reference.into(), reason }),
                };
            }
        };
        let deleted = Dir::open_ambient_dir(&self.root, ambient_authority()).and_then(|root| root.remove_file(&path));
        deleted.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => SecretError::Unknown(reference.into()),
            _ => SecretError::Folder { reference: reference.into(), source },
        })
    }

    /// The paths of the files in the folder, ordered; at most 500. Blocks on the disk.
    pub fn list(&self) -> Result<Vec<String>, SecretError> {
        let mut found = Vec::new();
        let listed = match Dir::open_ambient_dir(&self.root, ambient_authority()) {
            Ok(root) => collect(&root, "", 0, &mut found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        };
        listed.map_err(|source| SecretError::Folder { reference: "file:".into(), source })?;
        found.sort();
        found.truncate(MAX_LISTED);
        Ok(found)
    }
}

/// Where a secret can be set.
enum Place {
    File(PathBuf),
    Keyring(String),
}

fn settable(reference: &str) -> Result<Place, SecretError> {
    match AuthRef::parse(reference)? {
        AuthRef::File(path) => Ok(Place::File(path)),
        AuthRef::Keyring(name) => Ok(Place::Keyring(name)),
        other => Err(SecretError::Variable(redact(&other.to_string()))),
    }
}

/// The first and the last two characters, as the original shows a target.
fn redact(target: &str) -> String {
    let all: Vec<_> = target.chars().collect();
    match all.len() {
        0..=4 => "***".into(),
        length => [&all[..2], &['*', '*', '*'], &all[length - 2..]].concat().into_iter().collect(),
    }
}

/// Makes a folder for nobody but its owner. One that exists stays as it is: it may be the user's own.
fn make_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Makes a folder and those above it, for nobody but their owner.
trait CreatePrivate {
    fn create_dir_with_all(&self, folder: &Path) -> io::Result<()>;
}

impl CreatePrivate for Dir {
    fn create_dir_with_all(&self, folder: &Path) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        self.create_dir_with(folder, builder.recursive(true).mode(0o700))
    }
}

fn collect(folder: &Dir, above: &str, depth: usize, found: &mut Vec<String>) -> io::Result<()> {
    for entry in folder.entries()? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if above.is_empty() { name.clone() } else { format!("{above}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_file() && !name.starts_with(UNFINISHED) {
            found.push(path);
        } else if kind.is_dir() && depth < MAX_DEPTH && found.len() < 2 * MAX_LISTED {
            collect(&entry.open_dir()?, &path, depth + 1, found)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use tempfile::TempDir;

    use super::*;

    fn secrets(home: &TempDir) -> Secrets {
        let variables = |name: &str| (name == "TOKEN_OF_SERVER").then(|| "s3cret".to_owned());
        Secrets::new(home.path().join("secrets"), variables)
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_secret_is_kept_for_its_owner_alone_and_found_again() {
        let home = TempDir::new().unwrap();
        let secrets = secrets(&home);
        assert_eq!(secrets.list().unwrap(), Vec::<String>::new());
        secrets.set("file:team/token", &"first".into()).unwrap();
        secrets.set("file:team/token", &"s3cret\n".into()).unwrap();
        let file = secrets.root().join("team/token");
        assert_eq!(fs::read_to_string(&file).unwrap(), "s3cret");
        let modes = [secrets.root(), file.parent().unwrap(), &file].map(mode);
        assert_eq!(modes, [0o700, 0o700, 0o600]);
        // A folder that somebody else made and others may look into stays as it is.
        fs::set_permissions(secrets.root(), fs::Permissions::from_mode(0o755)).unwrap();
        secrets.set("file:team/token", &"s3cret".into()).unwrap();
        assert_eq!(mode(secrets.root()), 0o755);
        assert_eq!(secrets.list().unwrap(), ["team/token"]);
        assert_eq!(secrets.read("file:team/token").unwrap().1.expose(), "Bearer s3cret");
        secrets.delete("file:team/token").unwrap();
        assert!(matches!(secrets.delete("file:team/token"), Err(SecretError::Unknown(_))));
        assert_eq!(secrets.list().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn nothing_is_written_or_deleted_outside_of_the_folder() {
        let home = TempDir::new().unwrap();
        let secrets = secrets(&home);
        secrets.set("file:mine", &"x".into()).unwrap();
        let outside = home.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "theirs").unwrap();
        symlink(&outside, secrets.root().join("link")).unwrap();
        for reference in
            ["file:../outside/file", "file:/etc/hostname", "file:link/file", "file:link/new", "env:HOME", "name"]
        {
            assert!(secrets.set(reference, &"evil".into()).is_err(), "{reference}");
            assert!(secrets.delete(reference).is_err(), "{reference}");
        }
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "theirs");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert_eq!(secrets.list().unwrap(), ["mine"], "links are not followed");
    }

    #[test]
    fn what_is_no_line_of_text_is_no_secret() {
        let home = TempDir::new().unwrap();
        for text in ["", " \n", "a\nb", "a\u{7}b", &"x".repeat(MAX_SECRET + 1)] {
            let refused = secrets(&home).set("file:token", &text.into()).unwrap_err();
            assert!(matches!(refused, SecretError::NotALine), "{refused}");
        }
    }

    #[test]
    fn a_check_says_what_is_wrong_and_shows_neither_the_target_nor_the_secret() {
        let home = TempDir::new().unwrap();
        let secrets = secrets(&home);
        secrets.set("file:team/token-of-server", &"s3cret".into()).unwrap();
        let cases = [
            ("env:TOKEN_OF_SERVER", Some("env"), "TO***ER", true),
            ("env:OTHER_VARIABLE", Some("env"), "OT***LE", false),
            ("my-server", Some("legacy_env"), "CL***ER", false),
            ("file:team/token-of-server", Some("file"), ".../token-of-server", true),
            ("file:nothing", Some("file"), ".../nothing", false),
            ("header_env:X-Key:TOKEN_OF_SERVER", Some("header_env"), "X-Key:***", true),
            ("file:../etc", None, "fi***tc", false),
        ];
        for (reference, provider, target, is_valid) in cases {
            let checked = secrets.check(reference);
            assert_eq!((checked.provider, &*checked.redacted_target), (provider, target), "{reference}");
            assert_eq!(checked.issues.is_empty(), is_valid, "{reference}: {checked:?}");
            assert!(!format!("{checked:?}").contains("s3cret"), "{checked:?}");
        }
    }
}
