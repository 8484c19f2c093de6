//! A change of one file: worked out first, so that it can be shown, and carried out in one step.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Copies of one file that are kept at most: the first, which is the file as it was before Roost, and the latest.
const MAX_BACKUPS: usize = 100;

/// What became of the file.
#[derive(Debug, PartialEq, Eq)]
pub enum Written {
    /// It said so already.
    Unchanged,
    /// There was none.
    Created,
    /// There was one.
    Changed {
        /// The file as it was.
        backup: PathBuf,
    },
}

/// A change of a file that has not been made yet.
#[derive(Debug, PartialEq, Eq)]
pub struct SettingsChange {
    /// The file itself; links are followed, because settings are often links into a repository of a person's dotfiles.
    file: PathBuf,
    /// Its text; `None` if there is no file.
    before: Option<String>,
    /// What its text will be.
    after: String,
}

impl SettingsChange {
    /// The change that `edit` makes to a file's text, which is empty if there is no file. An error says why the file cannot
    /// be changed.
    pub fn plan(file: &Path, edit: impl FnOnce(&str) -> Result<String, String>) -> Result<Self, String> {
        let (file, before) = match file.canonicalize() {
            Ok(target) => {
                let text = fs::read_to_string(&target).map_err(|error| format!("it cannot be read ({error})"))?;
                (target, Some(text))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && file.symlink_metadata().is_err() => {
                (file.to_owned(), None)
            }
            Err(error) => return Err(format!("it cannot be read ({error})")),
        };
        let after = edit(before.as_deref().unwrap_or_default())?;
        Ok(Self { file, before, after })
    }

    /// The file that will be written.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The file's text; `None` if there is no file.
    pub fn before(&self) -> Option<&str> {
        self.before.as_deref()
    }

    /// What the file's text will be.
    pub fn after(&self) -> &str {
        &self.after
    }

    /// The copies of this file that earlier changes kept, the latest first. Those that cannot be read are left out.
    pub fn backups(&self) -> impl Iterator<Item = String> {
        let numbers = (1..=MAX_BACKUPS).rev();
        numbers.filter_map(|number| fs::read_to_string(backup_file(&self.file, number)).ok())
    }

    /// The change to this text in place of the planned one.
    pub fn with_after(self, after: String) -> Self {
        Self { after, ..self }
    }

    /// Whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.before.as_deref().unwrap_or_default() == self.after
    }

    /// Changes the file, unless somebody else did since the change was planned. An error says why the file is as it was.
    pub fn write(self) -> Result<Written, String> {
        let failed = |error: io::Error| format!("it cannot be written ({error})");
        if self.is_empty() {
            return Ok(Written::Unchanged);
        }
        let Some(before) = self.before else {
            fs::create_dir_all(self.file.parent().unwrap_or(&self.file)).map_err(failed)?;
            create(&self.file, &self.after).map_err(failed)?;
            return Ok(Written::Created);
        };
        if fs::read_to_string(&self.file).map_err(failed)? != before {
            return Err("another program has just changed it; try again".into());
        }
        let backup = back_up(&self.file, &before).map_err(|error| format!("no copy of it can be made ({error})"))?;
        replace(&self.file, &self.after).map_err(failed)?;
        Ok(Written::Changed { backup })
    }
}

fn backup_file(file: &Path, number: usize) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{name}.before-roost-{number}"))
}

/// Writes the text into a new file beside `file`, with the same permissions.
fn back_up(file: &Path, text: &str) -> io::Result<PathBuf> {
    if (1..=MAX_BACKUPS).all(|number| backup_file(file, number).exists()) {
        for number in 2..MAX_BACKUPS {
            fs::rename(backup_file(file, number + 1), backup_file(file, number))?;
        }
    }
    for number in 1..=MAX_BACKUPS {
        let backup = backup_file(file, number);
        match File::create_new(&backup) {
            Ok(mut copy) => {
                copy.set_permissions(file.metadata()?.permissions())?;
                copy.write_all(text.as_bytes())?;
                copy.sync_all()?;
                return Ok(backup);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("somebody else makes copies of it at the same time"))
}

/// Puts a new file into its place in one step, unless somebody else has made one meanwhile.
fn create(file: &Path, text: &str) -> io::Result<()> {
    // As every new file: what the umask leaves.
    let permissions = Permissions::from_mode(0o666);
    let mut new = tempfile::Builder::new().permissions(permissions).tempfile_in(file.parent().unwrap_or(file))?;
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    new.persist_noclobber(file)?;
    Ok(())
}

/// Writes the file anew and puts it into its place in one step, so that nobody ever reads half of it.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let mut new = NamedTempFile::new_in(file.parent().unwrap_or(file))?;
    new.as_file().set_permissions(file.metadata()?.permissions())?;
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    new.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    fn merged(text: &str) -> Result<String, String> {
        match text.contains('!') {
            true => Err("it shouts".into()),
            false => Ok(format!("{} and more", text.trim_end_matches(" and more"))),
        }
    }

    fn write(file: &Path) -> Result<Written, String> {
        SettingsChange::plan(file, merged)?.write()
    }

    #[test]
    fn a_new_file_is_made_with_its_folder() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("zed/settings.json");
        assert_eq!(write(&file), Ok(Written::Created));
        assert_eq!(fs::read_to_string(&file).unwrap(), " and more");
        assert_eq!(write(&file), Ok(Written::Unchanged));
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
        let plain = folder.path().join("plain");
        fs::write(&plain, "").unwrap();
        let mode = |file: &Path| file.metadata().unwrap().permissions().mode();
        assert_eq!(mode(&file), mode(&plain), "a new file has the permissions of new files");
    }

    #[test]
    fn a_new_file_replaces_none_that_somebody_else_made_meanwhile() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("settings.json");
        let change = SettingsChange::plan(&file, merged).unwrap();
        fs::write(&file, "theirs").unwrap();
        change.write().unwrap_err();
        assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_copy_of_the_file_is_kept_and_links_and_permissions_stay() {
        let folder = TempDir::new().unwrap();
        let (dotfiles, file) = (folder.path().join("dotfiles.json"), folder.path().join("settings.json"));
        fs::write(&dotfiles, "one").unwrap();
        fs::set_permissions(&dotfiles, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&dotfiles, &file).unwrap();
        for (number, text) in ["one", "two"].into_iter().enumerate() {
            fs::write(&dotfiles, text).unwrap();
            let backup =
                dotfiles.canonicalize().unwrap().with_file_name(format!("dotfiles.json.before-roost-{}", number + 1));
            assert_eq!(write(&file), Ok(Written::Changed { backup: backup.clone() }));
            assert_eq!(fs::read_to_string(&backup).unwrap(), text);
            for kept in [&dotfiles, &backup] {
                assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o640);
            }
        }
        assert!(file.is_symlink());
        assert_eq!(fs::read_to_string(&dotfiles).unwrap(), "two and more");
    }

    #[test]
    fn a_file_that_is_refused_is_left_alone_without_a_copy() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("settings.json");
        for bytes in [&b"!"[..], b"\xff{}"] {
            fs::write(&file, bytes).unwrap();
            write(&file).unwrap_err();
            assert_eq!(fs::read(&file).unwrap(), bytes);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_change_that_somebody_else_made_meanwhile_is_not_lost() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("settings.json");
        fs::write(&file, "one").unwrap();
        let change = SettingsChange::plan(&file, merged).unwrap();
        fs::write(&file, "theirs").unwrap();
        assert!(change.write().unwrap_err().contains("another program"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
    }

    #[test]
    fn of_many_copies_the_first_and_the_latest_are_kept() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("settings.json");
        fs::write(&file, "0").unwrap();
        for number in 1..=MAX_BACKUPS + 2 {
            let change = SettingsChange::plan(&file, |_| Ok::<_, String>(number.to_string())).unwrap();
            assert!(matches!(change.write(), Ok(Written::Changed { .. })), "{number}");
        }
        let text = |number| fs::read_to_string(backup_file(&file, number)).unwrap();
        assert_eq!([text(1), text(2), text(MAX_BACKUPS)], ["0", "3", "101"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), "102");
    }
}
