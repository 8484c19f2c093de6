//! The file of a module: read up to a size, hashed, and compared with what the manifest says.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use roost_model::canonical;

use crate::regular_file;

/// The first bytes of every wasm file.
const MAGIC: &[u8] = b"\0asm";
/// The version of a core module, as it follows the magic bytes.
const CORE_VERSION: &[u8] = &[1, 0, 0, 0];
/// The version and layer of a component.
const COMPONENT_VERSION: &[u8] = &[0x0d, 0, 1, 0];

/// What kind of wasm a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactKind {
    /// A core module.
    Module,
    /// A component, with WIT types.
    Component,
}

/// A module as it was read.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// Where it was read from.
    pub path: PathBuf,
    /// The whole file.
    pub bytes: Vec<u8>,
    /// What kind of wasm it is.
    pub kind: ArtifactKind,
    /// The SHA-256 of the bytes, in hex.
    pub sha256: String,
}

/// What changes when a file is written anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStamp {
    size: u64,
    modified: Option<SystemTime>,
}

/// Why an artifact cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// It cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// Where the manifest says it is.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// It is larger than the host takes.
    #[error("{path} is larger than {limit} bytes; make it smaller, or raise the host's limit for artifacts")]
    TooLarge {
        /// Where the manifest says it is.
        path: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// It does not begin like wasm.
    #[error("{0} is no wasm binary: it must begin with \\0asm and the version of a core module or of a component")]
    NotWasm(String),
    /// It is not the artifact that the manifest means.
    #[error(
        "{path} has the SHA-256 {actual}, and the manifest says {expected}; apply a manifest for the new artifact, or \
         restore the old one"
    )]
    WrongHash {
        /// Where the manifest says it is.
        path: String,
        /// As the manifest has it.
        expected: String,
        /// As it was computed.
        actual: String,
    },
}

impl Artifact {
    /// Reads a file of at most `limit` bytes that must have the expected hash, if there is one. Blocks on the disk.
    pub fn read(path: &Path, limit: u64, expected: Option<&str>) -> Result<Self, ArtifactError> {
        let name = || path.display().to_string();
        let bytes = regular_file::open(path).and_then(|file| regular_file::read(file, limit));
        let bytes = bytes.map_err(|source| match source.kind() {
            io::ErrorKind::FileTooLarge => ArtifactError::TooLarge { path: name(), limit },
            _ => ArtifactError::Unreadable { path: name(), source },
        })?;
        let kind = kind_of(&bytes).ok_or_else(|| ArtifactError::NotWasm(name()))?;
        let hash = canonical::hash_bytes(&bytes);
        let sha256 = hash.strip_prefix("sha256:").unwrap_or(&hash).to_owned();
        match expected {
            Some(expected) if !expected.eq_ignore_ascii_case(&sha256) => {
                Err(ArtifactError::WrongHash { path: name(), expected: expected.into(), actual: sha256 })
            }
            _ => Ok(Self { path: path.into(), bytes, kind, sha256 }),
        }
    }
}

impl FileStamp {
    /// The stamp of a file as it is now; `None` if it cannot be looked at. Blocks on the disk.
    pub fn read(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self { size: metadata.len(), modified: metadata.modified().ok() })
    }
}

fn kind_of(bytes: &[u8]) -> Option<ArtifactKind> {
    let version = bytes.strip_prefix(MAGIC)?.get(..4)?;
    match version {
        CORE_VERSION => Some(ArtifactKind::Module),
        COMPONENT_VERSION => Some(ArtifactKind::Component),
        _ => None,
    }
}
