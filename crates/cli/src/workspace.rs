//! Finds the workspace that a command is about.

use std::path::{Path, PathBuf};

use roost_client::Client;
use roost_rpc::{Workspace, WorkspaceListParams, method};

use crate::error::Error;

/// The workspace that is named (by its name, its id or its folder), else the one that the current folder is in.
pub(crate) async fn find(client: &Client, named: Option<&str>) -> Result<Workspace, Error> {
    let params = WorkspaceListParams { include_git: Some(false), git_limit: None };
    let mut all = client.call::<method::WorkspaceList>(params).await?.workspaces;
    let here = std::env::current_dir().map_err(Error::NoCwd)?;
    let found = match named {
        Some(name) => {
            let folder = real(&here.join(name));
            let is_called = |workspace: &Workspace| workspace.name == name || workspace.id == name;
            let is_at = |workspace: &Workspace| Path::new(&workspace.path) == folder;
            all.iter().position(is_called).or_else(|| all.iter().position(is_at))
        }
        None => all.iter().position(|workspace| here.starts_with(Path::new(&workspace.path))),
    };
    match found {
        Some(at) => Ok(all.swap_remove(at)),
        None => {
            let known = all.into_iter().map(|workspace| workspace.name).collect();
            Err(match named {
                Some(name) => Error::UnknownWorkspace { name: name.into(), known },
                None => Error::NoWorkspace { folder: here.display().to_string(), known },
            })
        }
    }
}

/// A folder without links in its path; one that is not there is what it is called.
fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
