//! A new Clarity project: its files, and how they get onto the disk.

use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use roost_wasm::regular_file;

/// A file that is to be replaced is not larger; it is held in memory until nothing has to be put back any more.
const MAX_FILE_BYTES: u64 = 1 << 20;
const MAX_ARTIFACT_BYTES: u64 = 64 << 20;
/// The longest name that is taken.
const MAX_NAME: usize = 64;

/// The names of a project; valid as names of a folder and of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectNames {
    project: String,
    module: String,
}

/// Why a project cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The name would be no folder's name.
    #[error(
        "\"{0}\" cannot be a project's name; use letters, digits, dots, dashes and underscores, and begin with a letter or digit"
    )]
    ProjectName(String),
    /// The name would be no module's name.
    #[error("\"{0}\" cannot be a module's name; use letters, digits and underscores, and begin with a letter")]
    ModuleName(String),
    /// A file is there already and says something else.
    #[error("{0} exists and says something else; say overwrite to replace it, or choose another name")]
    Exists(String),
    /// The disk does not take it. Everything is as it was.
    #[error("{path} cannot be written ({error}); nothing was changed")]
    Disk {
        /// What was to be written, below the root.
        path: String,
        /// What the system said.
        error: io::Error,
    },
}

impl ProjectNames {
    /// Checks both names.
    pub fn new(project: &str, module: &str) -> Result<Self, ProjectError> {
        let of_folder = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let of_module = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_short = |name: &str| name.len() <= MAX_NAME;
        if !project.starts_with(|c: char| c.is_ascii_alphanumeric())
            || !project.chars().all(of_folder)
            || !is_short(project)
        {
            return Err(ProjectError::ProjectName(project.into()));
        }
        if !module.starts_with(|c: char| c.is_ascii_alphabetic()) || !module.chars().all(of_module) || !is_short(module)
        {
            return Err(ProjectError::ModuleName(module.into()));
        }
        Ok(Self { project: project.into(), module: module.into() })
    }

    /// The project's folder below the one that it is made in.
    pub fn folder(&self) -> &Path {
        Path::new(&self.project)
    }

    /// The module's name.
    pub fn module(&self) -> &str {
        &self.module
    }

    /// The compiled module, below the project's folder.
    pub fn artifact(&self) -> PathBuf {
        Path::new(".clarity/build").join(format!("{}.wasm", self.module))
    }
}

/// The files of a new project with their texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFiles(pub Vec<(&'static str, String)>);

/// What [`ProjectFiles::write`] did, and how it is undone.
#[derive(Debug, Default)]
pub struct WrittenProject {
    /// The files that were written, below the root.
    pub written: Vec<PathBuf>,
    /// The files that said the same already.
    pub unchanged: Vec<PathBuf>,
    /// What was there before each written file.
    before: Vec<(PathBuf, Option<Vec<u8>>)>,
    /// The folders that were made, the outermost first.
    folders: Vec<PathBuf>,
}

impl ProjectFiles {
    /// The source that every project begins with.
    pub const SOURCE: &str = "src/main.clarity";

    /// The files of a project with these names.
    pub fn new(names: &ProjectNames) -> Self {
        let ProjectNames { project, module } = names;
        let source = format!(
            "module {module}\n\n// Each exported function becomes a tool.\nfunction add(a: Int64, b: Int64) -> Int64 {{\n  \
             a + b\n}}\n\nfunction mcp_main() -> Int64 {{\n  0\n}}\n"
        );
        let readme = format!(
            "# {project}\n\nA Clarity module. Compile it with\n\n    clarityc compile {} -o {}\n",
            Self::SOURCE,
            names.artifact().display()
        );
        let settings =
            format!("[project]\nname = \"{project}\"\nmodule = \"{module}\"\nsource = \"{}\"\n", Self::SOURCE);
        let smoke = "# Smoke test\n\n1. The service is RUNNING.\n2. `fn__add` with 2 and 3 gives 5.\n".to_owned();
        Self(vec![(Self::SOURCE, source), ("README.md", readme), ("clarity.toml", settings), ("tests/smoke.md", smoke)])
    }

    /// Writes all files into `folder` below `root`, or changes nothing. A file that says something else is replaced only if
    /// `overwrite` is true. Blocks on the disk.
    pub fn write(&self, root: &Dir, folder: &Path, overwrite: bool) -> Result<WrittenProject, ProjectError> {
        let mut done = WrittenProject::default();
        // Looked at first, so that most refusals touch nothing.
        for (path, text) in &self.0 {
            let file = folder.join(path);
            match read_file(root, &file, MAX_FILE_BYTES) {
                Ok(before) if before == text.as_bytes() => done.unchanged.push(file),
                Ok(_) if !overwrite => return Err(ProjectError::Exists(file.display().to_string())),
                Ok(before) => done.before.push((file, Some(before))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => done.before.push((file, None)),
                Err(error) => return Err(ProjectError::Disk { path: file.display().to_string(), error }),
            }
        }
        let wanted = done.before.iter().map(|(file, _)| file.clone()).collect::<Vec<_>>();
        for file in wanted {
            let text = self.0.iter().find(|(path, _)| folder.join(path) == file).map(|(_, text)| text.as_str());
            let written = done.make_folders(root, &file).and_then(|()| root.write(&file, text.unwrap_or_default()));
            match written {
                Ok(()) => done.written.push(file),
                Err(error) => {
                    done.undo(root);
                    return Err(ProjectError::Disk { path: file.display().to_string(), error });
                }
            }
        }
        Ok(done)
    }
}

/// The module that a project has already. Blocks on the disk.
pub fn read_artifact(root: &Dir, artifact: &Path) -> Result<Option<Vec<u8>>, ProjectError> {
    match read_file(root, artifact, MAX_ARTIFACT_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ProjectError::Disk { path: artifact.display().to_string(), error }),
    }
}

fn read_file(root: &Dir, file: &Path, limit: u64) -> io::Result<Vec<u8>> {
    regular_file::open_beneath(root, file).and_then(|file| regular_file::read(file, limit))
}

impl WrittenProject {
    fn make_folders(&mut self, root: &Dir, file: &Path) -> io::Result<()> {
        let mut folders: Vec<_> = file.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()).collect();
        folders.reverse();
        for folder in folders {
            match root.create_dir(folder) {
                Ok(()) => self.folders.push(folder.to_owned()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Puts everything back as it was, as far as the disk lets it. Blocks on the disk.
    pub fn undo(self, root: &Dir) {
        for (file, before) in self.before {
            let undone = match before {
                Some(before) => root.write(&file, before),
                None => root.remove_file(&file),
            };
            if let Err(error) = undone
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(file = %file.display(), %error, "A file of an unfinished project could not be put back.");
            }
        }
        for folder in self.folders.iter().rev() {
            // A folder that somebody has put something into stays.
            let _ = root.remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use tempfile::TempDir;

    use super::*;

    fn root(folder: &TempDir) -> Dir {
        Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap()
    }

    fn names() -> ProjectNames {
        ProjectNames::new("my-app", "Dice").unwrap()
    }

    fn write(folder: &TempDir, overwrite: bool) -> Result<WrittenProject, ProjectError> {
        ProjectFiles::new(&names()).write(&root(folder), names().folder(), overwrite)
    }

    #[test]
    fn only_plain_names_are_taken() {
        for (project, module) in
            [("", "A"), ("..", "A"), (".hidden", "A"), ("a/b", "A"), ("a", ""), ("a", "1A"), ("a", "A-B"), ("a", "A.B")]
        {
            assert!(ProjectNames::new(project, module).is_err(), "{project:?} {module:?}");
        }
    }

    #[test]
    fn a_project_is_written_once_and_can_be_undone() {
        let folder = TempDir::new().unwrap();
        let done = write(&folder, false).unwrap();
        assert_eq!((done.written.len(), done.unchanged.len()), (4, 0));
        let source = fs::read_to_string(folder.path().join("my-app/src/main.clarity")).unwrap();
        assert!(source.starts_with("module Dice\n"), "{source}");
        let again = write(&folder, false).unwrap();
        assert_eq!((again.written.len(), again.unchanged.len()), (0, 4));
        done.undo(&root(&folder));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_there_is_replaced_only_when_told_to_and_comes_back_when_undone() {
        let folder = TempDir::new().unwrap();
        fs::create_dir_all(folder.path().join("my-app")).unwrap();
        let readme = folder.path().join("my-app/README.md");
        fs::write(&readme, "mine").unwrap();
        assert!(matches!(write(&folder, false), Err(ProjectError::Exists(file)) if file == "my-app/README.md"));
        assert_eq!(fs::read_dir(folder.path().join("my-app")).unwrap().count(), 1, "nothing else was written");
        let done = write(&folder, true).unwrap();
        assert_ne!(fs::read_to_string(&readme).unwrap(), "mine");
        done.undo(&root(&folder));
        assert_eq!(fs::read_to_string(&readme).unwrap(), "mine");
        assert_eq!(fs::read_dir(folder.path().join("my-app")).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_file_or_too_large_is_not_read_and_stays() {
        let folder = TempDir::new().unwrap();
        fs::create_dir_all(folder.path().join("my-app/src")).unwrap();
        let readme = folder.path().join("my-app/README.md");
        mknodat(CWD, &readme, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(matches!(write(&folder, true), Err(ProjectError::Disk { path, .. }) if path == "my-app/README.md"));
        assert!(read_artifact(&root(&folder), Path::new("my-app/README.md")).is_err());
        fs::remove_file(&readme).unwrap();
        fs::File::create(&readme).unwrap().set_len(1 << 40).unwrap();
        assert!(matches!(write(&folder, true), Err(ProjectError::Disk { path, .. }) if path == "my-app/README.md"));
        assert!(read_artifact(&root(&folder), Path::new("my-app/README.md")).is_err());
        assert!(matches!(read_artifact(&root(&folder), Path::new("my-app/none")), Ok(None)));
        assert_eq!(fs::read_dir(folder.path().join("my-app")).unwrap().count(), 2, "nothing was written");
    }

    #[test]
    fn a_link_out_of_the_root_is_not_followed_and_nothing_is_left_behind() {
        let (folder, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        fs::create_dir_all(folder.path().join("my-app")).unwrap();
        symlink(outside.path(), folder.path().join("my-app/tests")).unwrap();
        assert!(matches!(write(&folder, true), Err(ProjectError::Disk { .. })));
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        assert_eq!(fs::read_dir(folder.path().join("my-app")).unwrap().count(), 1, "only the link");
    }
}
