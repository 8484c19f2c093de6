//! Opens files that somebody else chose: only regular ones, and read up to a limit.
//!
//! Opening a pipe waits for its other end for ever, and a device such as `/dev/zero` has no end although its size is 0.

use std::io::{self, Read};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

/// Opens a file for reading. Blocks on the disk.
pub fn open(path: &Path) -> io::Result<File> {
    only_regular(File::open_ambient_with(path, options().read(true), ambient_authority())?)
}

/// Opens a file beneath a folder for reading; no link leads out of the folder. Blocks on the disk.
pub fn open_beneath(folder: &Dir, path: &Path) -> io::Result<File> {
    only_regular(folder.open_with(path, options().read(true))?)
}

/// Opens a file beneath a folder for writing, and empties or makes it. Blocks on the disk.
pub fn create_beneath(folder: &Dir, path: &Path) -> io::Result<File> {
    let file = only_regular(folder.open_with(path, options().write(true).create(true))?)?;
    file.set_len(0)?;
    Ok(file)
}

/// Reads a whole file of at most `limit` bytes; a longer one is [`io::ErrorKind::FileTooLarge`]. Blocks on the disk.
pub fn read(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {limit} bytes"))),
        false => Ok(bytes),
    }
}

/// Opening does not wait, and makes no terminal the daemon's own.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    options
}

fn only_regular(file: File) -> io::Result<File> {
    match file.metadata().as_ref().map(Metadata::is_file) {
        Ok(true) => Ok(file),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a folder, a pipe or a device and no regular file")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = TempDir::new().unwrap();
        let place = |name: &str| folder.path().join(name);
        mknodat(CWD, place("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        symlink(place("pipe"), place("link")).unwrap();
        std::fs::create_dir(place("folder")).unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        for name in ["pipe", "link", "folder", "/dev/zero", "/dev/tty", "none"] {
            let path = Path::new(name);
            assert!(open(&folder.path().join(path)).is_err(), "{name}");
            assert!(open_beneath(&dir, path).is_err(), "{name}");
            assert!(name == "none" || create_beneath(&dir, path).is_err(), "{name}");
        }
    }

    #[test]
    fn a_file_is_replaced_and_read_up_to_a_limit() {
        let folder = TempDir::new().unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        for text in ["longer", "short"] {
            create_beneath(&dir, Path::new("file")).unwrap().write_all(text.as_bytes()).unwrap();
        }
        let opened = || open_beneath(&dir, Path::new("file")).unwrap();
        assert_eq!(read(opened(), 5).unwrap(), b"short");
        assert_eq!(read(opened(), 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
