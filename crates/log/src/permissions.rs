//! File permissions that keep other users of this machine out of a state directory.
//!
//! The directory itself has the mode 0700 and must be ours. Its files are 0600 and its folders 0700 as well, so that
//! they stay private in a copy, or if the directory's mode is changed. Links in it are not followed, because whoever
//! plants one would decide what is written where; the directory itself may be a link, which only its owner can have
//! made.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::error::{Error, Result};

const FOLDER: u32 = 0o700;
const FILE: u32 = 0o600;
/// The permission bits for the group and for others.
const OTHERS: u32 = 0o077;

/// Creates a directory that only its owner may enter, or checks an existing one. If it is open to others or not ours,
/// the error says which command fixes it. The files in it are made private; a link or another user's file is an error.
pub fn secure(dir: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER).create(dir).map_err(Error::io(dir))?;
    let found = fs::metadata(dir).map_err(Error::io(dir))?;
    let us = rustix::process::geteuid().as_raw();
    if found.uid() != us {
        return Err(Error::Foreign { path: dir.into(), owner: found.uid() });
    }
    if found.mode() & OTHERS != 0 {
        return Err(Error::Exposed { dir: dir.into(), mode: found.mode() & 0o777 });
    }
    for entry in fs::read_dir(dir).map_err(Error::io(dir))? {
        let path = entry.map_err(Error::io(dir))?.path();
        let found = match fs::symlink_metadata(&path) {
            // A daemon that runs here removes files as it goes.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found.map_err(Error::io(&path))?,
        };
        if found.is_symlink() {
            return Err(Error::Link { path });
        }
        if found.uid() != us {
            return Err(Error::Foreign { path, owner: found.uid() });
        }
        // Earlier versions left it to the directory to keep others out.
        if found.mode() & OTHERS != 0 && !found.file_type().is_socket() {
            let mode = if found.is_dir() { FOLDER } else { FILE };
            match fs::set_permissions(&path, Permissions::from_mode(mode)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::io(&path)(error)),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Options for opening a file in the state directory: a new file gets the mode 0600, and links are not followed.
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(FILE).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options
}

/// Creates an empty private file, if there is none.
pub(crate) fn touch(path: &Path) -> io::Result<()> {
    match private_file().write(true).create_new(true).open(path).map(drop) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn a_directory_that_lets_others_in_is_refused_with_the_command_that_mends_it() {
        let place = tempfile::TempDir::new().unwrap();
        let dir = place.path().join("it's");
        fs::create_dir(&dir).unwrap();
        for exposed in [0o755, 0o710, 0o701, 0o770] {
            fs::set_permissions(&dir, Permissions::from_mode(exposed)).unwrap();
            let refusal = secure(&dir).unwrap_err().to_string();
            let command = refusal.split('`').nth(1).unwrap();
            let status = std::process::Command::new("sh").args(["-c", command]).status().unwrap();
            assert!(command.starts_with("chmod 700 ") && status.success(), "{refusal}");
            secure(&dir).unwrap();
        }
    }

    #[test]
    fn what_an_earlier_version_left_readable_becomes_private_and_links_are_refused() {
        let place = tempfile::TempDir::new().unwrap();
        let dir = place.path().join("state");
        secure(&dir).unwrap();
        assert_eq!(mode(&dir), 0o700);
        fs::create_dir(dir.join("run")).unwrap();
        for (name, was) in [("roost.db", 0o644), ("run", 0o755)] {
            if name != "run" {
                fs::write(dir.join(name), "x").unwrap();
            }
            fs::set_permissions(dir.join(name), Permissions::from_mode(was)).unwrap();
        }
        secure(&dir).unwrap();
        assert_eq!((mode(&dir.join("roost.db")), mode(&dir.join("run"))), (0o600, 0o700));

        let elsewhere = place.path().join("elsewhere");
        fs::write(&elsewhere, "mine").unwrap();
        let before = mode(&elsewhere);
        symlink(&elsewhere, dir.join("daemon.log")).unwrap();
        let refusal = secure(&dir).unwrap_err().to_string();
        assert!(refusal.contains("daemon.log") && refusal.contains("`rm "), "{refusal}");
        assert!(private_file().append(true).open(dir.join("daemon.log")).is_err());
        assert_eq!(mode(&elsewhere), before);
    }

    #[test]
    fn the_directory_itself_may_be_a_link_that_its_owner_made() {
        let place = tempfile::TempDir::new().unwrap();
        let real = place.path().join("real");
        secure(&real).unwrap();
        symlink(&real, place.path().join("state")).unwrap();
        secure(&place.path().join("state")).unwrap();
        fs::set_permissions(&real, Permissions::from_mode(0o750)).unwrap();
        assert!(matches!(secure(&place.path().join("state")), Err(Error::Exposed { .. })));
    }
}
