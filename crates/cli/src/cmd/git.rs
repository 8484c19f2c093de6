//! `roost git`: what changed in a workspace, as the daemon sees it.

use roost_rpc::{GitDiffParams, GitDiffResult, GitFile, GitParams, GitStatusResult, method};

use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen::{self, one_line, visible};
use crate::style::Style;
use crate::workspace;

const EXAMPLES: &str = "\
Examples:
  roost git status                   show what changed in the workspace that contains this folder
  roost git status --workspace web   the same for another workspace
  roost git diff src/main.rs         show the changes of a file, line by line
  roost git diff --staged --json     print the staged changes as one line of JSON";

/// Show what changed in a workspace
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: GitAction,
    /// The workspace, by name, id or folder [default: the one that contains the current folder]
    #[arg(long, global = true, value_name = "NAME")]
    workspace: Option<String>,
    /// Print the result as one line of JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum GitAction {
    /// Show which files changed
    Status,
    /// Show changes line by line
    Diff {
        /// The file, relative to the workspace's folder [default: all changed files]
        path: Option<String>,
        /// Show only staged changes
        #[arg(long)]
        staged: bool,
    },
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let client = connect::open(context).await?;
    let workspace_id = Some(workspace::find(&client, args.workspace.as_deref()).await?.id);
    let style = Style::for_stdout();
    match args.action {
        GitAction::Status => {
            let status = client.call::<method::GitStatus>(GitParams { workspace_id }).await?;
            if args.json { screen::print_json(&status) } else { screen::print(&status_text(&status, style)) }
        }
        GitAction::Diff { path, staged } => {
            let params = GitDiffParams { workspace_id, path, staged: staged.then_some(true) };
            let diff = client.call::<method::GitDiff>(params).await?;
            if args.json { screen::print_json(&diff) } else { screen::print(&diff_text(&diff, style)) }
        }
    }?;
    Ok(Exit::Completed)
}

fn status_text(status: &GitStatusResult, style: Style) -> String {
    let mut lines = vec![head(status)];
    let parts = [
        ("Conflicts", &status.conflicted),
        ("Staged", &status.staged),
        ("Not staged", &status.unstaged),
        ("Untracked", &status.untracked),
    ];
    for (title, files) in parts.into_iter().filter(|(_, files)| !files.is_empty()) {
        lines.push(style.bold(format!("{title}:")).to_string());
        lines.extend(files.iter().map(|file| line(file, style)));
    }
    if status.is_clean {
        lines.push("Nothing changed.".into());
    }
    if let Some(omitted) = status.omitted {
        lines.push(format!("… and {omitted} more"));
    }
    lines.join("\n")
}

fn head(status: &GitStatusResult) -> String {
    let branch = if status.branch.is_empty() { "no branch" } else { &status.branch };
    match &status.upstream {
        Some(upstream) => {
            format!("On {} ({} ahead, {} behind {})", one_line(branch), status.ahead, status.behind, one_line(upstream))
        }
        None => format!("On {}", one_line(branch)),
    }
}

fn line(file: &GitFile, style: Style) -> String {
    let name = match &file.old_path {
        Some(old) => format!("{} -> {}", one_line(old), one_line(&file.path)),
        None => one_line(&file.path).into_owned(),
    };
    let lines = match (file.additions, file.deletions) {
        (Some(additions), Some(deletions)) => {
            format!("  {} {}", style.green(format!("+{additions}")), style.red(format!("-{deletions}")))
        }
        _ => String::new(),
    };
    format!("  {} {name}{lines}", style.yellow(&file.status))
}

fn diff_text(diff: &GitDiffResult, style: Style) -> String {
    let all = [(diff.diff.as_str(), diff.path.as_str(), diff.is_truncated)];
    let each = diff.diffs.iter().flatten().map(|file| (file.diff.as_str(), file.path.as_str(), file.is_truncated));
    let parts: Vec<_> = if diff.diffs.is_some() { each.collect() } else { all.into() };
    let mut lines = Vec::new();
    for (text, path, is_truncated) in parts {
        lines.extend(text.lines().map(|line| painted(line, style)));
        if is_truncated {
            lines.push(style.dim(format!("… {}: the rest is left out", one_line(path))).to_string());
        }
    }
    lines.join("\n")
}

fn painted(line: &str, style: Style) -> String {
    let text = visible(line);
    match line.as_bytes().first() {
        Some(b'+') => style.green(text).to_string(),
        Some(b'-') => style.red(text).to_string(),
        Some(b'@') => style.dim(text).to_string(),
        _ if line.starts_with("diff ") => style.bold(text).to_string(),
        _ => text.to_string(),
    }
}
