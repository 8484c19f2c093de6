//! `roost search`: files of a workspace by name or by content, out of the daemon's index.

use roost_rpc::{GrepParams, GrepResult, SearchParams, SearchResult, method};

use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen::{self, one_line, visible};
use crate::style::Style;
use crate::workspace;

const EXAMPLES: &str = "\
Examples:
  roost search kafsink               find files by name; letters may be left out
  roost search --text 'fn main'      find lines that contain this text
  roost search --text 'fn \\w+' --regex --ext rs
  roost search README --json         print the result as one line of JSON";

/// Find files of a workspace by name or by content
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to search for
    query: String,
    /// Search the contents of files instead of their names
    #[arg(long)]
    text: bool,
    /// Treat the query as a regular expression
    #[arg(long, requires = "text")]
    regex: bool,
    /// Search only files with this extension (repeatable)
    #[arg(long, value_name = "EXTENSION")]
    ext: Vec<String>,
    /// The maximum number of files or lines
    #[arg(long, default_value_t = 50)]
    limit: u32,
    /// The workspace, by name, id or folder [default: the one that contains the current folder]
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,
    /// Print the result as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let client = connect::open(context).await?;
    let workspace_id = Some(workspace::find(&client, args.workspace.as_deref()).await?.id);
    let extensions = (!args.ext.is_empty()).then_some(args.ext);
    let style = Style::for_stdout();
    if args.text {
        let params = GrepParams {
            pattern: args.query,
            workspace_id,
            regex: Some(args.regex),
            case_sensitive: None,
            whole_words: None,
            directory: None,
            extensions,
            git_tracked_only: None,
            context_lines: None,
            limit: Some(args.limit),
            limit_per_file: None,
            stream: None,
        };
        let found = client.call::<method::RepositoryGrep>(params).await?;
        if args.json { screen::print_json(&found) } else { screen::print(&lines_text(&found, style)) }
    } else {
        let params = SearchParams {
            query: args.query,
            workspace_id,
            mode: None,
            limit: Some(args.limit),
            offset: None,
            extensions,
            exclude_binaries: Some(false),
            git_tracked_only: None,
            min_size: None,
            max_size: None,
        };
        let found = client.call::<method::RepositorySearch>(params).await?;
        if args.json { screen::print_json(&found) } else { screen::print(&files_text(&found)) }
    }?;
    Ok(Exit::Completed)
}

fn files_text(found: &SearchResult) -> String {
    let mut lines: Vec<_> = found.results.iter().map(|file| one_line(&file.file.path).into_owned()).collect();
    let more = found.total.saturating_sub(found.results.len() as u64);
    if more > 0 {
        lines.push(format!("… and {more} more"));
    }
    lines.join("\n")
}

fn lines_text(found: &GrepResult, style: Style) -> String {
    let mut lines = Vec::new();
    for file in &found.files {
        let path = style.bold(one_line(&file.path));
        lines.extend(file.lines.iter().map(|line| format!("{path}:{}:{}", line.line, visible(&line.text))));
    }
    if found.truncated {
        lines.push("… and more".into());
    }
    lines.join("\n")
}
