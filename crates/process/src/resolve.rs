//! Finds the program of a launch and checks its working directory before anything is started.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, access};

use crate::Error;

/// Where to look when the launch environment has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The absolute working directory, if it can be entered.
pub(crate) fn cwd(cwd: &Path) -> Result<PathBuf, Error> {
    let enter = || {
        let absolute = std::path::absolute(cwd)?;
        if !fs::metadata(&absolute)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        access(&absolute, Access::EXEC_OK)?;
        Ok(absolute)
    };
    enter().map_err(|source| Error::BadCwd { cwd: cwd.to_owned(), source })
}

/// The absolute path of a program, looked up in this `PATH` as a launch would.
pub async fn find_program(name: impl Into<OsString>, path: Option<&str>) -> Result<PathBuf, Error> {
    let (name, path) = (name.into(), path.map(OsString::from));
    let found = tokio::task::spawn_blocking(move || program(&name, Path::new("/"), path.as_deref()));
    found.await.map_err(|_| Error::ShuttingDown)?
}

/// The absolute path of the program, looked up as `execvp` would in `cwd` with this `PATH`.
pub(crate) fn program(program: &OsStr, cwd: &Path, path: Option<&OsStr>) -> Result<PathBuf, Error> {
    let named_by_path = program.as_encoded_bytes().contains(&b'/');
    let directories: Vec<PathBuf> = if named_by_path {
        vec![PathBuf::new()]
    } else {
        std::env::split_paths(path.unwrap_or(DEFAULT_PATH.as_ref())).collect()
    };
    let mut refused = None;
    for directory in &directories {
        let candidate = cwd.join(directory).join(program);
        let Ok(metadata) = fs::metadata(&candidate) else {
            continue;
        };
        if metadata.is_file() && access(&candidate, Access::EXEC_OK).is_ok() {
            return Ok(candidate);
        }
        if metadata.is_file() || named_by_path {
            refused.get_or_insert(candidate);
        }
    }
    Err(match refused {
        Some(path) => Error::NotExecutable { path },
        None => Error::NotFound {
            program: program.to_string_lossy().into_owned(),
            searched: if named_by_path { format!("from `{}`", cwd.display()) } else { "in PATH".into() },
        },
    })
}
