//! Discards changes. Untracked files are deleted only if they are named, because git could not bring them back.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;

use super::call::Call;
use super::run::Git;
use super::write::some;
use super::{Change, GitKind};
use crate::{Error, RelPath, Root};

/// How many files a refusal lists that would be lost.
const LISTED: usize = 20;

impl Git {
    /// Restores files from the index, and deletes untracked files if they are named one by one: naming a folder loses
    /// nothing that git could not bring back. Returns the paths that were discarded.
    pub async fn discard(&self, paths: &[RelPath]) -> Result<Vec<String>, Error> {
        some("discard", paths)?;
        let status = self.status_with_renames(paths, "--no-renames").await.map_err(|error| error.during("discard"))?;
        if let Some(torn) = status.conflicted.first() {
            return Err(failed(GitKind::Conflict, format!("{:?} has a conflict; resolve it or abort it", torn.path)));
        }
        let named: HashSet<_> = paths.iter().map(|path| path.as_str().as_bytes()).collect();
        let is_named = |change: &&Change| named.contains(change.name());
        // git would empty a file that was only announced to it (`add -N`), as it has no content of it.
        let (announced, known): (Vec<_>, Vec<_>) = status.unstaged.iter().partition(|change| change.status == 'A');
        let announced: Vec<_> = announced.into_iter().filter(is_named).collect();
        // What changed within a submodule is brought back there, and not here.
        let is_within = |change: &&Change| change.is_submodule && change.status == 'M';
        let tracked: Vec<_> = known.into_iter().filter(|change| !is_within(change)).collect();
        let new = || announced.iter().copied().chain(status.untracked.iter().filter(is_named));
        let discarded: Vec<_> = tracked.iter().copied().chain(new()).map(|change| change.path.clone()).collect();
        if discarded.is_empty() {
            let message = "none of the paths names a file with changes that can be discarded".to_owned();
            return Err(failed(GitKind::NoSuchPath, message));
        }
        let (root, deleted) = (self.root().clone(), new().filter_map(Change::to_path).collect::<Vec<_>>());
        let restored: Vec<_> = tracked.iter().map(|change| PathBuf::from(OsStr::from_bytes(change.name()))).collect();
        let deleted = blocking(move || match lost(&root, &restored, &deleted)? {
            left if left.is_empty() => Ok(deleted),
            left => Err(in_the_way(&left)),
        })
        .await?;
        if !announced.is_empty() {
            let names = announced.iter().map(|change| change.name());
            self.answer(Call::write("discard").args(["reset", "--quiet"]).many_names(names)).await?;
        }
        let root = self.root().clone();
        let delete = move |path: &RelPath| {
            let folder = root.open_dir(&path.parent())?;
            folder.remove_file(path.name()).map_err(|source| Error::io(path.as_str(), source))
        };
        blocking(move || deleted.iter().try_for_each(delete)).await?;
        if !tracked.is_empty() {
            let names = tracked.iter().map(|change| change.name());
            self.answer(Call::write("discard").args(["restore", "--worktree"]).many_names(names)).await?;
        }
        Ok(discarded)
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| failed(GitKind::Other, error.to_string()))?
}

/// The untracked files that restoring would delete: git removes a folder in the place of a file with everything in it,
/// and a link in the place of a folder. At most a few more than `LISTED`. Waits for the disk.
fn lost(root: &Root, restored: &[PathBuf], deleted: &[RelPath]) -> Result<Vec<PathBuf>, Error> {
    let top = root.open_dir(&RelPath::root())?;
    let deleted: HashSet<_> = deleted.iter().map(RelPath::to_path).collect();
    let (mut left, mut folders) = (Vec::new(), HashSet::new());
    for path in restored {
        let mut downwards: Vec<_> = path.ancestors().filter(|part| !part.as_os_str().is_empty()).collect();
        while let Some(part) = downwards.pop() {
            if left.len() > LISTED {
                return Ok(left);
            }
            if folders.contains(part) {
                continue;
            }
            let named = |source| Error::io(&part.to_string_lossy(), source);
            let is_folder = match top.symlink_metadata(part) {
                // Nothing is there, so nothing is beneath it either.
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                found => found.map_err(named)?.is_dir(),
            };
            match (is_folder, part == path) {
                (true, true) => beneath(&top.open_dir(part).map_err(named)?, part, &deleted, &mut left)?,
                (true, false) => _ = folders.insert(part),
                (false, true) => {}
                (false, false) => {
                    if !deleted.contains(part) && !left.iter().any(|known| known == part) {
                        left.push(part.to_owned());
                    }
                    break;
                }
            }
        }
    }
    Ok(left)
}

/// Adds the files beneath a folder that are not to be deleted anyway, until there are more than `LISTED`.
fn beneath(folder: &Dir, at: &Path, deleted: &HashSet<&Path>, left: &mut Vec<PathBuf>) -> Result<(), Error> {
    let named = |path: &Path, source| Error::io(&path.to_string_lossy(), source);
    for entry in folder.entries().map_err(|source| named(at, source))? {
        let entry = entry.map_err(|source| named(at, source))?;
        let path = at.join(entry.file_name());
        if entry.file_type().map_err(|source| named(&path, source))?.is_dir() {
            beneath(&entry.open_dir().map_err(|source| named(&path, source))?, &path, deleted, left)?;
        } else if !deleted.contains(path.as_path()) {
            left.push(path);
        }
        if left.len() > LISTED {
            break;
        }
    }
    Ok(())
}

fn in_the_way(left: &[PathBuf]) -> Error {
    let more = if left.len() > LISTED { " and more" } else { "" };
    let left = &left[..left.len().min(LISTED)];
    let message =
        format!("{left:?}{more} would be lost, and was not named; name it too if it shall go, or move it away");
    failed(GitKind::Dirty, message)
}

fn failed(kind: GitKind, message: String) -> Error {
    Error::Git { operation: "discard", message, kind }
}
