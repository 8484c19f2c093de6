//! `roost workspaces`: the folders that agents may work in, and those that could become one.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use roost_client::Client;
use roost_model::time::Timestamp;
use roost_rpc::notification::{EventName, WorkspaceDiscoverProgress};
use roost_rpc::{
    Workspace, WorkspaceAddParams, WorkspaceDiscoverParams, WorkspaceDiscoverResult, WorkspaceGit, WorkspaceListParams,
    WorkspaceParams, method,
};

use crate::ago::{ago, span};
use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen::{self, one_line};
use crate::style::Style;
use crate::table::{self, Overflow};
use crate::workspace;

const EXAMPLES: &str = "\
Examples:
  roost workspaces                      list the workspaces
  roost workspaces add ~/src/web        add a folder
  roost workspaces remove web           remove a workspace; its folder and sessions stay
  roost workspaces discover             find git repositories in your home that you could add
  roost workspaces discover ~/clients   the same in another folder

A workspace is a folder whose files, changes and sessions Roost shows, here and to paired devices.";

/// List, add, remove and find workspaces: the folders that Roost shows to you and your devices
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<WorkspacesAction>,
    /// Print one line of JSON for each workspace, or for the result
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum WorkspacesAction {
    /// Add a folder
    Add {
        #[arg(help = "The folder")]
        path: PathBuf,
        /// The name of the workspace [default: the name of the folder]
        #[arg(long)]
        name: Option<String>,
        /// Create the folder if it does not exist
        #[arg(long)]
        create: bool,
    },
    /// Remove a workspace; its folder and its sessions stay
    Remove {
        /// Its name, id or folder
        workspace: String,
    },
    /// Find git repositories that could become workspaces
    Discover {
        /// Where to look [default: the usual folders of your home, or server.discover_in]
        paths: Vec<PathBuf>,
        /// Search again instead of showing the last result
        #[arg(long)]
        fresh: bool,
    },
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let client = connect::open(context).await?;
    match args.action {
        None => {
            let all = client.call::<method::WorkspaceList>(WorkspaceListParams::default()).await?.workspaces;
            if args.json {
                all.iter().try_for_each(screen::print_json)?;
            } else {
                screen::print(&list(&all).map_err(Error::Output)?)?;
            }
        }
        Some(WorkspacesAction::Add { path, name, create }) => {
            let path = absolute(&path)?;
            let params = WorkspaceAddParams { path, name, auto_start: None, create_if_missing: Some(create) };
            let added = client.call::<method::WorkspaceAdd>(params).await?;
            let words = || format!("{} is a workspace now: {}", one_line(&added.name), one_line(&added.path));
            if args.json { screen::print_json(&added)? } else { screen::print(&words())? }
        }
        Some(WorkspacesAction::Remove { workspace: named }) => {
            let Workspace { id, name, .. } = workspace::find(&client, Some(&named)).await?;
            let removed = client.call::<method::WorkspaceRemove>(WorkspaceParams { workspace_id: id }).await?;
            let words = || format!("{} is no workspace any more; its folder and its sessions stay.", one_line(&name));
            if args.json { screen::print_json(&removed)? } else { screen::print(&words())? }
        }
        Some(WorkspacesAction::Discover { paths, fresh }) => {
            let paths = paths.iter().map(|path| absolute(path)).collect::<Result<Vec<_>, _>>()?;
            let found = discover(&client, (!paths.is_empty()).then_some(paths), fresh).await?;
            match args.json {
                true => screen::print_json(&found)?,
                false => screen::print(&repositories(&found).map_err(Error::Output)?)?,
            }
        }
    }
    Ok(Exit::Completed)
}

/// The daemon has another current folder.
fn absolute(path: &Path) -> Result<String, Error> {
    Ok(std::path::absolute(path).map_err(Error::NoCwd)?.to_string_lossy().into_owned())
}

/// Waits for the daemon to find repositories, and shows its progress at a terminal. The daemon stops if we disconnect.
async fn discover(
    client: &Client,
    paths: Option<Vec<String>>,
    fresh: bool,
) -> Result<WorkspaceDiscoverResult, roost_client::Error> {
    let mut notifications = client.last_notification();
    let call = client.call::<method::WorkspaceDiscover>(WorkspaceDiscoverParams { paths, fresh: Some(fresh) });
    tokio::pin!(call);
    let line = ProgressLine;
    loop {
        let found = tokio::select! {
            Ok(()) = notifications.changed() => None,
            found = &mut call => Some(found),
        };
        // The last notification came before the response, so it is there by now.
        let last = notifications.borrow_and_update().clone();
        let last = last.filter(|latest| latest.event == EventName::WorkspaceDiscoverProgress.name());
        if let Some(Ok(progress)) = last.map(|latest| serde_json::from_str(latest.params.get())) {
            let WorkspaceDiscoverProgress { scanned_paths, found_count, .. } = progress;
            line.show(format_args!("{found_count} repositories in {scanned_paths} folders so far"));
        }
        if let Some(found) = found {
            return found;
        }
    }
}

/// A line on stderr that is written over, and erased on drop.
struct ProgressLine;

impl ProgressLine {
    fn show(&self, text: impl std::fmt::Display) {
        screen::replace_line(text);
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.show("");
    }
}

fn list(all: &[Workspace]) -> io::Result<String> {
    if all.is_empty() {
        return Ok("No workspaces yet; `roost workspaces add FOLDER` adds one.".into());
    }
    let rows = all.iter().map(|workspace| {
        let (branch, changes) = match &workspace.git {
            Some(git) if git.initialized => (branch(git), changes(git)),
            _ => ("-".into(), "-".into()),
        };
        let sessions = match (workspace.session_count, workspace.active_session_count) {
            (all, 0) => all.to_string(),
            (all, active) => format!("{all} ({active} active)"),
        };
        let missing = if workspace.exists { "" } else { " (missing)" };
        [workspace.name.clone(), branch, changes, sessions, format!("{}{missing}", workspace.path)]
    });
    let mut out = Vec::new();
    let heads = ["WORKSPACE", "BRANCH", "CHANGES", "SESSIONS", "FOLDER"];
    table::write(&mut out, Style::for_stdout(), Overflow::Cut, heads, &rows.collect::<Vec<_>>())?;
    if all.iter().any(|workspace| !workspace.exists) {
        writeln!(out, "A folder is missing: put it back, or forget it with `roost workspaces remove NAME`.")?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn branch(git: &WorkspaceGit) -> String {
    let mut text = if git.branch.is_empty() { "(none)".to_owned() } else { git.branch.clone() };
    for (count, way) in [(git.ahead, "ahead"), (git.behind, "behind")] {
        if count > 0 {
            text += &format!(", {count} {way}");
        }
    }
    text
}

fn changes(git: &WorkspaceGit) -> String {
    let counts = [(git.staged_count, "staged"), (git.unstaged_count, "changed"), (git.untracked_count, "new")];
    let conflicts = git.has_conflicts.then(|| "conflicts".to_owned());
    let counted = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let words: Vec<_> = conflicts.into_iter().chain(counted).collect();
    if words.is_empty() { "clean".into() } else { words.join(", ") }
}

fn repositories(found: &WorkspaceDiscoverResult) -> io::Result<String> {
    let mut out = Vec::new();
    if found.repositories.is_empty() {
        let looked = found.scanned_paths;
        writeln!(out, "No repository in {looked} folders; `roost workspaces discover FOLDER` looks elsewhere.")?;
    } else {
        let now = Timestamp::now();
        let rows = found.repositories.iter().map(|one| {
            let remote = one.remote_url.clone().unwrap_or_else(|| "-".into());
            let is_workspace = if one.is_configured { "yes" } else { "no" };
            [one.name.clone(), is_workspace.into(), ago(one.last_modified, now), one.path.clone(), remote]
        });
        let heads = ["REPOSITORY", "WORKSPACE", "CHANGED", "FOLDER", "REMOTE"];
        table::write(&mut out, Style::for_stdout(), Overflow::Cut, heads, &rows.collect::<Vec<_>>())?;
    }
    if found.cached {
        let age = span(std::time::Duration::from_secs(found.cache_age_seconds));
        writeln!(out, "This is as it was {age} ago; --fresh looks again.")?;
    }
    if found.repositories.iter().any(|one| !one.is_configured) {
        writeln!(out, "`roost workspaces add FOLDER` makes one a workspace.")?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_told_at_a_glance() {
        let clean = WorkspaceGit {
            initialized: true,
            has_remotes: false,
            branch: "main".into(),
            ahead: 0,
            behind: 0,
            staged_count: 0,
            unstaged_count: 0,
            untracked_count: 0,
            has_conflicts: false,
            state: "no_remote".into(),
        };
        let busy = WorkspaceGit {
            branch: String::new(),
            ahead: 2,
            behind: 1,
            staged_count: 1,
            unstaged_count: 3,
            has_conflicts: true,
            ..clean.clone()
        };
        let table = [(clean, "main", "clean"), (busy, "(none), 2 ahead, 1 behind", "conflicts, 1 staged, 3 changed")];
        for (git, words, dirty) in table {
            assert_eq!((branch(&git).as_str(), changes(&git).as_str()), (words, dirty));
        }
    }
}
