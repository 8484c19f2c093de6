//! The artifact store: content-addressed files, each named by the SHA-256 of its bytes.
//!
//! Ids are made only here. An id that comes from outside must parse as one, so it can never name another file. Equal
//! bytes are stored once. A file's modification time is that of its last use: by it the collector knows that no stored
//! event refers to the file any more.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use lru::LruCache;
use parking_lot::Mutex;
use roost_model::canonical;
use roost_model::content::ArtifactRef;
use roost_model::ids::ArtifactId;
use roost_model::time::Timestamp;

/// Hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;
const PREFIX: &str = "art_";

/// Why an artifact could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// The text is not `art_` and 64 hexadecimal digits.
    #[error("\"{0}\" is not an artifact id")]
    BadId(String),
    /// No file is stored under this id; retention may have removed it.
    #[error("artifact {0} is not here; retention may have removed it")]
    NotFound(ArtifactId),
    /// The bytes on disk are not those that were stored.
    #[error("artifact {id} was changed on disk ({}); it is not used", path.display())]
    Changed {
        /// The artifact whose hash does not match.
        id: ArtifactId,
        /// The file that was changed.
        path: PathBuf,
    },
    /// A file or folder could not be read, written or removed.
    #[error("cannot use {}: {source}", path.display())]
    Io {
        /// The file or folder; empty if the failure is not about one.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// Artifacts in the memory cache.
const RECENT: NonZeroUsize = NonZeroUsize::new(16).unwrap();
/// Bytes above which an artifact is not cached, so that the cache has 1 MiB at most.
const RECENT_BYTES: usize = 64 << 10;

/// A handle to the artifact store; clones share its cache.
#[derive(Clone, Debug)]
pub struct Artifacts {
    folder: Arc<Path>,
    /// The artifacts that were stored last: an answer that was too big for its event is shown at once, without a read.
    recent: Arc<Mutex<LruCache<ArtifactId, Arc<[u8]>>>>,
}

impl Artifacts {
    /// A store in this folder, which is created together with the first artifact.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into().into(), recent: Arc::new(Mutex::new(LruCache::new(RECENT))) }
    }

    /// Stores bytes and returns their reference once the file is complete. `name` is only a label for people.
    pub async fn put(&self, bytes: Vec<u8>, content_type: &str, name: &str) -> Result<ArtifactRef, ArtifactError> {
        let content_hash = canonical::hash_bytes(&bytes);
        let id = ArtifactId::from(content_hash.replace("sha256:", PREFIX));
        let stored = ArtifactRef {
            artifact_id: id.clone(),
            content_type: Some(content_type.into()),
            size_bytes: Some(bytes.len() as u64),
            content_hash: Some(content_hash),
            name: Some(name.into()),
        };
        let path = self.path(&id)?;
        let bytes: Arc<[u8]> = bytes.into();
        let written = bytes.clone();
        blocking(move || write(&path, &written).map_err(|source| ArtifactError::Io { path, source })).await?;
        if bytes.len() <= RECENT_BYTES {
            self.recent.lock().put(id, bytes);
        }
        Ok(stored)
    }

    /// The bytes of an artifact if they are in the memory cache. Never reads the disk.
    pub fn recent(&self, id: &ArtifactId) -> Option<Arc<[u8]>> {
        self.recent.lock().get(id).cloned()
    }

    /// The bytes of an artifact, read from disk and checked against the hash in its id.
    pub async fn get(&self, id: &ArtifactId) -> Result<Vec<u8>, ArtifactError> {
        let path = self.path(id)?;
        let id = id.clone();
        blocking(move || match fs::read(&path) {
            Ok(bytes) if name_of(&bytes) == id => Ok(bytes),
            Ok(_) => Err(ArtifactError::Changed { id, path }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ArtifactError::NotFound(id)),
            Err(source) => Err(ArtifactError::Io { path, source }),
        })
        .await
    }

    /// Removes artifacts that were last used before this time, because no stored event refers to them. Returns how
    /// many.
    pub async fn collect(&self, oldest_event: Timestamp) -> Result<u64, ArtifactError> {
        let folder = self.folder.clone();
        let millis = u64::try_from(oldest_event.as_millis()).unwrap_or(0);
        let oldest = SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
        blocking(move || {
            collect(&folder, oldest).map_err(|source| ArtifactError::Io { path: folder.to_path_buf(), source })
        })
        .await
    }

    pub(crate) fn path(&self, id: &ArtifactId) -> Result<PathBuf, ArtifactError> {
        let digits = id.as_str().strip_prefix(PREFIX).filter(|digits| {
            digits.len() == DIGITS && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        });
        let digits = digits.ok_or_else(|| ArtifactError::BadId(id.to_string()))?;
        // Two levels, so that no folder gets large.
        Ok(self.folder.join(&digits[..2]).join(&digits[2..]))
    }
}

fn name_of(bytes: &[u8]) -> ArtifactId {
    canonical::hash_bytes(bytes).replace("sha256:", PREFIX).into()
}

/// Writes a file atomically. One that is there already only gets a new modification time.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|stored| stored == bytes) {
        return fs::File::options().append(true).open(path)?.set_modified(SystemTime::now());
    }
    let folder = path.parent().unwrap_or(path);
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

fn collect(folder: &Path, oldest: SystemTime) -> io::Result<u64> {
    let mut removed = 0;
    let folders = match fs::read_dir(folder) {
        Ok(folders) => folders,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    for folder in folders {
        for file in fs::read_dir(folder?.path())? {
            let file = file?;
            if file.metadata()?.modified()? < oldest {
                fs::remove_file(file.path())?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ArtifactError> + Send + 'static,
) -> Result<T, ArtifactError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        // The pool refuses work only while the whole async runtime goes down.
        Err(error) => Err(ArtifactError::Io { path: PathBuf::new(), source: io::Error::other(error) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, Artifacts) {
        let folder = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::new(folder.path().join("artifacts"));
        (folder, artifacts)
    }

    #[tokio::test]
    async fn what_is_stored_is_read_back_under_its_hash() {
        let (_folder, store) = store();
        let stored = store.put(b"hello".to_vec(), "text/plain", "hello.txt").await.unwrap();
        assert_eq!(
            stored.content_hash.as_deref(),
            Some("sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
        );
        assert_eq!(store.get(&stored.artifact_id).await.unwrap(), b"hello");
    }

    #[tokio::test]
    async fn what_was_stored_last_is_at_hand_and_the_rest_is_read() {
        let (_folder, store) = store();
        let big = store.put(vec![b'x'; RECENT_BYTES + 1], "text/plain", "big").await.unwrap();
        assert!(store.recent(&big.artifact_id).is_none(), "memory is not for big ones");
        let mut stored = Vec::new();
        for k in 0..=RECENT.get() {
            stored.push(store.put(k.to_string().into_bytes(), "text/plain", "a").await.unwrap().artifact_id);
        }
        assert!(store.recent(&stored[0]).is_none(), "the oldest made room");
        assert_eq!(store.recent(&stored[1]).as_deref(), Some("1".as_bytes()));
        assert_eq!(store.get(&stored[0]).await.unwrap(), b"0");
    }

    #[tokio::test]
    async fn equal_bytes_are_stored_once() {
        let (folder, store) = store();
        let first = store.put(b"same".to_vec(), "text/plain", "a").await.unwrap();
        let second = store.put(b"same".to_vec(), "text/plain", "b").await.unwrap();
        assert_eq!(first.artifact_id, second.artifact_id);
        let files = fs::read_dir(folder.path().join("artifacts")).unwrap().count();
        assert_eq!(files, 1);
    }

    #[tokio::test]
    async fn bytes_that_were_changed_on_disk_are_refused() {
        let (_folder, store) = store();
        let stored = store.put(b"truth".to_vec(), "text/plain", "a").await.unwrap();
        fs::write(store.path(&stored.artifact_id).unwrap(), b"a lie").unwrap();
        assert!(matches!(store.get(&stored.artifact_id).await, Err(ArtifactError::Changed { .. })));
    }

    #[tokio::test]
    async fn an_id_from_outside_never_names_another_file() {
        let (_folder, store) = store();
        let long = "0".repeat(DIGITS - 1);
        for id in [
            "",
            "../../etc/passwd",
            "art_",
            "art_../x",
            &format!("art_{long}"),
            &format!("art_{long}G"),
            &format!("{long}0"),
        ] {
            let refused = store.get(&ArtifactId::from(id)).await;
            assert!(matches!(refused, Err(ArtifactError::BadId(_))), "{id}");
        }
    }

    #[tokio::test]
    async fn a_missing_artifact_is_an_answer() {
        let (_folder, store) = store();
        let id = ArtifactId::from(format!("art_{}", "0".repeat(DIGITS)));
        assert!(matches!(store.get(&id).await, Err(ArtifactError::NotFound(_))));
    }

    #[tokio::test]
    async fn the_collector_removes_only_what_was_last_used_before_the_oldest_event() {
        let (_folder, store) = store();
        let old = store.put(b"old".to_vec(), "text/plain", "a").await.unwrap().artifact_id;
        let used = store.put(b"used again".to_vec(), "text/plain", "b").await.unwrap().artifact_id;
        let past = SystemTime::now() - Duration::from_secs(3600);
        for id in [&old, &used] {
            let file = fs::File::options().append(true).open(store.path(id).unwrap()).unwrap();
            file.set_modified(past).unwrap();
        }
        store.put(b"used again".to_vec(), "text/plain", "b").await.unwrap();
        let oldest = Timestamp::from_millis(Timestamp::now().as_millis() - 60_000);
        assert_eq!(store.collect(oldest).await.unwrap(), 1);
        assert!(store.get(&old).await.is_err());
        assert!(store.get(&used).await.is_ok());
    }
}
