//! The folder of a workspace. Every file of the workspace is opened through it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

use crate::{Error, RelPath};

/// A workspace's folder, held open. A path is resolved beneath it or not at all, even while others move folders.
#[derive(Clone, Debug)]
pub struct Root {
    dir: Arc<Dir>,
    path: PathBuf,
}

impl Root {
    /// Opens the folder at an absolute path without links. Refuses one that has become a link since it was added. Waits
    /// for the disk.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let opened = || {
            let dir = Dir::open_ambient_dir(path, ambient_authority())?;
            match path.canonicalize()? {
                real if real == path => Ok(dir),
                real => Err(io::Error::other(format!("it leads to {} now; add that folder instead", real.display()))),
            }
        };
        let failed = |source| Error::NoRoot { folder: path.display().to_string(), source };
        Ok(Self { dir: Arc::new(opened().map_err(failed)?), path: path.to_owned() })
    }

    /// The absolute path, for programs that are started in the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the open folder is still the one at its path. Waits for the disk.
    pub fn is_there(&self) -> bool {
        use cap_std::fs::MetadataExt as _;
        use std::os::unix::fs::MetadataExt as _;
        match (self.dir.dir_metadata(), self.path.metadata()) {
            (Ok(held), Ok(there)) => (held.dev(), held.ino()) == (there.dev(), there.ino()),
            _ => false,
        }
    }

    /// Opens a file for reading. Refuses pipes and devices instead of blocking on them. Waits for the disk.
    pub fn open_file(&self, path: &RelPath) -> Result<(File, Metadata), Error> {
        let mut options = OpenOptions::new();
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
        options.read(true).custom_flags(flags.cast_signed());
        let named = |source| Error::io(path.as_str(), source);
        let file = self.dir.open_with(path.to_path(), &options).map_err(|source| {
            // A socket, or a device without a driver, cannot even be opened.
            if source.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) {
                return Error::NotAFile { path: path.to_string(), kind: "a device" };
            }
            named(source)
        })?;
        let metadata = file.metadata().map_err(named)?;
        match kind(&metadata) {
            None => Ok((file, metadata)),
            Some(kind) => Err(Error::NotAFile { path: path.to_string(), kind }),
        }
    }

    /// Opens a file for writing, and creates it and the folders above it where they are missing. Refuses pipes and
    /// devices. Waits for the disk.
    pub(crate) fn create_file(&self, path: &RelPath) -> Result<File, Error> {
        let named = |source| Error::io(path.as_str(), source);
        if !path.parent().is_root() {
            self.dir.create_dir_all(path.parent().to_path()).map_err(named)?;
        }
        let mut options = OpenOptions::new();
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
        options.write(true).create(true).custom_flags(flags.cast_signed());
        let file = self.dir.open_with(path.to_path(), &options).map_err(named)?;
        match kind(&file.metadata().map_err(named)?) {
            None => Ok(file),
            Some(kind) => Err(Error::NotAFile { path: path.to_string(), kind }),
        }
    }

    /// Opens a folder. Waits for the disk.
    pub fn open_dir(&self, path: &RelPath) -> Result<Dir, Error> {
        self.dir.open_dir(path.to_path()).map_err(|source| Error::io(path.as_str(), source))
    }

    /// Opens a folder whose name need not be UTF-8; an empty path is the root. Waits for the disk.
    pub(crate) fn enter(&self, folder: &Path) -> io::Result<Dir> {
        self.dir.open_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
    }

    /// The metadata of what is at a path; of a link, that of the link itself. Waits for the disk.
    pub fn metadata(&self, path: &RelPath) -> Result<Metadata, Error> {
        self.dir.symlink_metadata(path.to_path()).map_err(|source| Error::io(path.as_str(), source))
    }
}

/// The kind of what is not a file; `None` for a file.
fn kind(metadata: &Metadata) -> Option<&'static str> {
    use cap_std::fs::FileTypeExt;
    let kind = metadata.file_type();
    match () {
        () if kind.is_file() => None,
        () if kind.is_dir() => Some("a folder"),
        () if kind.is_fifo() => Some("a pipe"),
        () if kind.is_socket() => Some("a socket"),
        () => Some("a device"),
    }
}
