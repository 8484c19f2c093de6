//! The files that a runtime reads by itself, recorded with each task by path and hash.

use std::io;
use std::path::{Path, PathBuf};

use roost_model::canonical;
use roost_model::sources::{ImplicitSource, ImplicitSources, SourceKind};

/// Hashes the files that `find` names, on a blocking thread; those that do not exist are left out. `runtime` is the
/// subject of the sentence that says that nothing was found.
pub(crate) async fn implicit_sources<F>(runtime: &str, find: impl FnOnce() -> F + Send + 'static) -> ImplicitSources
where
    F: IntoIterator<Item = (PathBuf, SourceKind)>,
{
    let hashed = tokio::task::spawn_blocking(move || {
        find().into_iter().filter_map(|(path, kind)| hash_source(&path, kind)).collect::<Vec<_>>()
    });
    let sources = hashed.await.unwrap_or_default();
    if sources.is_empty() {
        return ImplicitSources::disabled(&format!("{runtime} found neither settings nor instructions"));
    }
    ImplicitSources { disabled: false, reason: None, sources, precedence: None }
}

/// A file and the hash of its bytes; `None` if it does not exist. One that cannot be read is named without a hash and
/// marked as redacted.
fn hash_source(path: &Path, kind: SourceKind) -> Option<ImplicitSource> {
    let hash = match std::fs::read(path) {
        Ok(bytes) => Some(canonical::hash_bytes(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(_) => None,
    };
    let redacted = hash.is_none().then_some(true);
    Some(ImplicitSource { path: path.display().to_string(), kind, hash, disabled: None, redacted })
}
