//! `roost gateway serve --stdio`: the MCP gateway for a client that starts its servers as programs.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;

use rustix::io::fcntl_dupfd_cloexec;
use serde_json::json;

use crate::blocking::blocking;
use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;

/// The first descriptor that may be used for the protocol; those below are stdin, stdout and stderr.
const FIRST_FREE: i32 = 3;
/// Bytes that are carried at once; as many as a pipe holds.
const COPY_BUFFER: usize = 64 << 10;

const EXAMPLES: &str = "\
Examples:
  roost gateway serve --stdio                      the command for an MCP client's configuration
  roost gateway serve --stdio --namespace docs     one service only, under its own names
  roost gateway serve --stdio --lazy               three tools that search, describe and call all others

Over HTTP the same is at /mcp, /mcp/<namespace> and /mcp?surface=lazy.";

/// Use the tools of all services from any MCP client
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: GatewayCommand,
}

impl Args {
    /// `gateway serve --stdio` for all services.
    pub(crate) fn all_services() -> Self {
        Self { command: GatewayCommand::Serve(ServeArgs { stdio: true, namespace: None, lazy: false }) }
    }
}

#[derive(clap::Subcommand)]
enum GatewayCommand {
    Serve(ServeArgs),
}

/// Be an MCP server for the program that starts this command
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
struct ServeArgs {
    /// Speak MCP over stdin and stdout
    #[arg(long, required = true)]
    stdio: bool,
    /// Only the service with this namespace, under its own names
    #[arg(long, value_name = "NAMESPACE", conflicts_with = "lazy")]
    namespace: Option<String>,
    /// Offer three tools that search, describe and call all others
    #[arg(long)]
    lazy: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let GatewayCommand::Serve(ServeArgs { stdio: _, namespace, lazy }) = args.command;
    let socket = context.state.socket()?;
    if UnixStream::connect(&socket).is_err() {
        // Nobody listens, so a daemon is started.
        drop(connect::open(context).await?);
    }
    let (input, output) = protocol_stdio()?;
    let mut attach = json!({ "mcp_namespace": namespace });
    if lazy {
        attach["lazy"] = true.into();
    }
    blocking(move || carry(&socket, &attach.to_string(), input, output).map_err(Error::Output)).await?;
    Ok(Exit::Completed)
}

/// The program's stdin and stdout, for a protocol alone: whatever else prints to stdout from here on goes to stderr.
pub(crate) fn protocol_stdio() -> Result<(File, File), Error> {
    let input = File::from(fcntl_dupfd_cloexec(rustix::stdio::stdin(), FIRST_FREE).map_err(start_error)?);
    let output = File::from(fcntl_dupfd_cloexec(rustix::stdio::stdout(), FIRST_FREE).map_err(start_error)?);
    rustix::stdio::dup2_stdout(rustix::stdio::stderr()).map_err(start_error)?;
    Ok((input, output))
}

/// Carries lines both ways until the daemon closes the connection, which it does after the client has.
fn carry(socket: &Path, attach: &str, mut input: File, mut output: File) -> io::Result<()> {
    let mut daemon = UnixStream::connect(socket)?;
    writeln!(daemon, "{attach}")?;
    let mut to_daemon = daemon.try_clone()?;
    // It may be stuck in a read that never returns; it ends with the process at the latest.
    thread::Builder::new().name("mcp-read".into()).spawn(move || {
        // A daemon that is gone closes the other direction too.
        let _ = copy(&mut input, &mut to_daemon);
        let _ = to_daemon.shutdown(Shutdown::Write);
    })?;
    copy(&mut daemon, &mut output)
}

/// Copies until the end. Not `io::copy`, because that splices: a splice that waits for the socket locks the pipe meanwhile,
/// and whoever reads from the pipe, even one that must not block, hangs before the answer that is already in it.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; COPY_BUFFER];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => to.write_all(&buffer[..length])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn start_error(error: rustix::io::Errno) -> Error {
    Error::Start(error.into())
}
