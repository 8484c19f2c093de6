//! `roost up`: the daemon in the background.

use std::ffi::OsString;
use std::io::Write;

use roost_client::Client;
use roost_rpc::{PairParams, method};

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
  roost up                                       serve this folder in the background
  roost up --port 0                              on any free port
  roost up --host 0.0.0.0 --tls self-signed      for other machines, encrypted

`roost status` shows how it is, `roost down` ends it.";

/// Serve clients in the background
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    listen: Listen,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    // One that serves commands only makes room for one that serves devices too.
    if let Some((client, status)) = connect::find_with_status(&context.state).await?
        && !status.auto_started
    {
        return show(&client, &format!("A daemon runs already (process {}).", status.pid)).await;
    }
    background::start(context, arguments(&args.listen, context)?).await?;
    let client = connect::running(context).await?;
    show(&client, "Roost runs in the background; `roost down` ends it.").await
}

async fn show(client: &Client, words: &str) -> Result<Exit, Error> {
    let pair = client.call::<method::PairCreate>(PairParams::default()).await?;
    let style = Style::for_stdout();
    let shown = pairing::shown(style, &pair);
    writeln!(screen::stdout(), "{shown}{words} It listens on {}.", style.bold(&pair.http)).map_err(Error::Output)?;
    Ok(Exit::Completed)
}

/// What was said here, for the daemon that is started.
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
