//! `roost files`: lists the files of a workspace, and prints one.

use std::io::{self, Write};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use roost_client::Client;
use roost_model::time::Timestamp;
use roost_rpc::{
    FaultCode, FileContent, FileEncoding, FileGetParams, FilesListParams, FilesListResult, TreeNode, TreeParams,
    TreeResult, method,
};

use crate::ago::ago;
use crate::cli::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen::{self, one_line};
use crate::size::size;
use crate::style::Style;
use crate::table::{self, Overflow};
use crate::{connect, workspace};

/// Files that are asked for at once.
const PAGE: u32 = 500;

const EXAMPLES: &str = "\
Examples:
  roost files                    list the workspace that contains this folder
  roost files src                list its folder src
  roost files --tree --depth 2   show folders as a tree, without files that git ignores
  roost files cat src/main.rs    print a file
  roost files --json             print the result as one line of JSON";

/// List the files of a workspace, or print one
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<FilesAction>,
    /// The folder, relative to the workspace's folder [default: the workspace's folder]
    path: Option<String>,
    /// Show folders as a tree, without files that git ignores
    #[arg(long)]
    tree: bool,
    /// The depth of the tree
    #[arg(long, value_name = "N", default_value_t = 3, requires = "tree")]
    depth: u32,
    /// Include files whose names begin with a dot
    #[arg(long)]
    all: bool,
    /// The maximum number of files
    #[arg(long, value_name = "N", default_value_t = 1000)]
    limit: u32,
    #[command(flatten)]
    target: TargetArgs,
}

#[derive(clap::Args)]
struct TargetArgs {
    /// The workspace, by name, id or folder [default: the one that contains the current folder]
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum FilesAction {
    /// Print a file
    Cat {
        /// The file, relative to the workspace's folder
        path: String,
        #[command(flatten)]
        target: TargetArgs,
    },
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let client = connect::open(context).await?;
    match args.action {
        Some(FilesAction::Cat { path, target }) => {
            let id = workspace::find(&client, target.workspace.as_deref()).await?.id;
            cat(&client, &id, path, target.json).await?;
        }
        None => {
            let id = workspace::find(&client, args.target.workspace.as_deref()).await?.id;
            let named = args.path.clone();
            let done = if args.tree { tree(&client, id, args).await } else { list(&client, id, args).await };
            done.map_err(|error| no_folder(error, named))?;
        }
    }
    Ok(Exit::Completed)
}

/// Says what to do if a file was taken for a folder.
fn no_folder(error: Error, named: Option<String>) -> Error {
    match (&error, named) {
        (Error::Client(roost_client::Error::Fault(fault)), Some(path))
            if fault.kind() == Some(FaultCode::DirectoryNotFound)
                && fault.data.get("path").is_some_and(|about| *about == path) =>
        {
            Error::NoFolder(path)
        }
        _ => error,
    }
}

async fn list(client: &Client, workspace_id: String, args: Args) -> Result<(), Error> {
    let params = |offset: usize| FilesListParams {
        workspace_id: workspace_id.clone(),
        directory: args.path.clone(),
        limit: Some(args.limit.saturating_sub(offset as u32).clamp(1, PAGE)),
        offset: Some(offset as u32),
        include_hidden: Some(args.all),
    };
    let mut listed = client.call::<method::WorkspaceFilesList>(params(0)).await?;
    while listed.pagination.has_more && listed.files.len() < args.limit as usize {
        let next = client.call::<method::WorkspaceFilesList>(params(listed.files.len())).await?;
        listed.files.extend(next.files);
        listed.pagination = next.pagination;
    }
    if args.target.json {
        return screen::print_json(&listed);
    }
    screen::print(&listed_text(&listed).map_err(Error::Output)?)
}

fn listed_text(listed: &FilesListResult) -> io::Result<String> {
    if listed.files.is_empty() && listed.directories.is_empty() {
        return Ok("This folder is empty.".into());
    }
    let now = Timestamp::now();
    let folders = listed.directories.iter().map(|folder| {
        let files = folder.file_count.to_string();
        [format!("{}/", folder.name), files, folder.total_size_display.clone(), ago(folder.last_modified, now)]
    });
    let files = listed.files.iter().map(|file| {
        let secret = if file.is_sensitive { " (secret)" } else { "" };
        let name = format!("{}{secret}", file.name);
        [name, String::new(), size(file.size_bytes), ago(file.modified_at, now)]
    });
    let mut out = Vec::new();
    let heads = ["NAME", "FILES", "SIZE", "CHANGED"];
    table::write(&mut out, Style::for_stdout(), Overflow::Cut, heads, &folders.chain(files).collect::<Vec<_>>())?;
    let more = listed.total_files.saturating_sub(listed.files.len() as u64);
    if more > 0 {
        writeln!(out, "… and {more} more; --limit shows more of them")?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

async fn tree(client: &Client, workspace_id: String, args: Args) -> Result<(), Error> {
    let params = TreeParams {
        workspace_id: Some(workspace_id),
        path: args.path,
        depth: Some(args.depth),
        include_hidden: Some(args.all),
    };
    let tree = client.call::<method::RepositoryFilesTree>(params).await?;
    if args.target.json {
        return screen::print_json(&tree);
    }
    screen::print(&tree_text(&tree))
}

fn tree_text(tree: &TreeResult) -> String {
    let mut lines = vec![format!("{}/", one_line(&tree.root.name))];
    draw(&tree.root, "", &mut lines);
    if tree.truncated {
        lines.push("… and more; name a folder, or take a smaller --depth".into());
    }
    lines.join("\n")
}

fn draw(node: &TreeNode, indent: &str, lines: &mut Vec<String>) {
    let children = node.children.as_deref().unwrap_or_default();
    for (at, child) in children.iter().enumerate() {
        let (branch, below) = if at + 1 == children.len() { ("└── ", "    ") } else { ("├── ", "│   ") };
        let name = one_line(&child.name);
        lines.push(match child.file_count {
            Some(files) if child.children.is_none() => format!("{indent}{branch}{name}/ ({files} files)"),
            Some(_) => format!("{indent}{branch}{name}/"),
            None => format!("{indent}{branch}{name}"),
        });
        draw(child, &format!("{indent}{below}"), lines);
    }
}

/// Prints a file, part by part; at a terminal only text, and nothing that would steer it.
async fn cat(client: &Client, workspace_id: &str, path: String, json: bool) -> Result<(), Error> {
    let (mut offset, mut end) = (0, None);
    loop {
        let params = FileGetParams {
            path: path.clone(),
            workspace_id: Some(workspace_id.into()),
            max_size_kb: None,
            offset: Some(offset),
            truncate: None,
        };
        let part = client.call::<method::FileGet>(params).await?;
        let bytes = bytes(&part)?;
        if !json && part.encoding != FileEncoding::Utf8 && screen::stdout_is_terminal() {
            return Err(Error::NotText { path, media_type: part.media_type });
        }
        let mut out = screen::stdout();
        let written = if json { out.json(&part) } else { out.data(&bytes) };
        written.and_then(|()| out.flush()).map_err(Error::Output)?;
        offset = part.offset + bytes.len() as u64;
        // A file that grows while it is read ends where it ended at first.
        if !part.truncated || bytes.is_empty() || offset >= *end.get_or_insert(part.size) {
            return Ok(());
        }
    }
}

fn bytes(part: &FileContent) -> Result<Vec<u8>, Error> {
    match part.encoding {
        FileEncoding::Utf8 => Ok(part.content.clone().into_bytes()),
        FileEncoding::Base64 => BASE64_STANDARD
            .decode(&part.content)
            .map_err(|error| Error::Client(roost_client::Error::Protocol(format!("file/get: {error}")))),
    }
}
