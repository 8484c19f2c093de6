//! `roost up`: the daemon in the background.

use std::ffi::OsString;

use roost_client::Client;
use roost_rpc::{DaemonStatus, PairParams, method};

use crate::background;
use crate::cli::Context;
use crate::cmd::serve::Listen;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::pairing;
use crate::screen;
use crate::style::Style;

const EXAMPLES: &str = "\
Examples:
  roost up                                       start the daemon in the background, in this folder
  roost up --port 0                              listen on any free port
  roost up --host 0.0.0.0 --tls self-signed      listen on the network, encrypted

`roost status` shows its status, `roost down` stops it.";

/// Start the daemon in the background
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    listen: Listen,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let daemon = serve_devices(&args.listen, context).await?;
    let pair = daemon.client.call::<method::PairCreate>(PairParams::default()).await?;
    let style = Style::for_stdout();
    let words = match daemon.is_new {
        true => "Roost is running in the background".into(),
        false => format!("A daemon is already running (process {})", daemon.status.pid),
    };
    let shown = pairing::shown(style, &pair, pairing::UP_FOR_NETWORK);
    screen::print(&format!("{shown}{words} at {}; `roost down` stops it.", style.bold(&pair.http)))?;
    Ok(Exit::Completed)
}

/// A daemon that devices can be paired with.
pub(super) struct ServingDaemon {
    pub(super) client: Client,
    /// Whether this command started it.
    pub(super) is_new: bool,
    status: DaemonStatus,
}

/// Connects to a daemon that listens on TCP. If none runs, starts one with these settings; one that a command started for
/// itself is replaced, unless it is busy.
pub(super) async fn serve_devices(listen: &Listen, context: &Context) -> Result<ServingDaemon, Error> {
    if let Some((client, status)) = connect::find_with_status(&context.state).await?
        && !status.auto_started
    {
        return Ok(ServingDaemon { client, is_new: false, status });
    }
    background::start(context, arguments(listen, context)?).await?;
    let (client, status) = connect::find_with_status(&context.state).await?.ok_or(Error::NoDaemon)?;
    Ok(ServingDaemon { client, is_new: true, status })
}

/// The command-line arguments of the daemon that is started.
fn arguments(listen: &Listen, context: &Context) -> Result<Vec<OsString>, Error> {
    let mut args: Vec<OsString> =
        vec!["--background".into(), "--repo".into(), listen.repo(context.settings.repo.as_deref())?.into()];
    let mut option =
        |name: &str, value: Option<String>| args.extend(value.map(|value| format!("{name}={value}").into()));
    option("--host", listen.host.map(|host| host.to_string()));
    option("--port", listen.port.map(|port| port.to_string()));
    option("--tls", listen.tls.as_ref().map(ToString::to_string));
    args.extend(listen.allow_insecure.then(|| "--allow-insecure".into()));
    Ok(args)
}
