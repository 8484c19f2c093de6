//! `roost pair`: how to connect a device.

use std::process::{Command, Stdio};

use roost_rpc::{PairParams, Scope, method};

use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::pairing;
use crate::screen;
use crate::style::Style;

const EXAMPLES: &str = "\
Examples:
  roost pair                     a QR code for the app, and a code to type
  roost pair --open              the same as a page in the browser
  roost pair --scope observe     for a device that may only look
  roost pair --json              {ws, http, session, repo, token, ...} as one line

Each pairs one device.";

/// Show how to connect a device
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What the device may do
    #[arg(long, value_name = "SCOPE", default_value = "operate")]
    scope: AnyScope,
    /// Open the page in the browser
    #[arg(long, conflicts_with = "json")]
    open: bool,
    /// Print it as one line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum AnyScope {
    #[value(help = "Look")]
    Observe,
    #[value(help = "Steer agents")]
    Operate,
    /// Change the host.
    Admin,
}

impl From<AnyScope> for Scope {
    fn from(scope: AnyScope) -> Self {
        match scope {
            AnyScope::Observe => Self::Observe,
            AnyScope::Operate => Self::Operate,
            AnyScope::Admin => Self::Admin,
        }
    }
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let (client, status) = connect::find_with_status(&context.state).await?.ok_or(Error::NoDaemon)?;
    if status.address.is_none() {
        return Err(Error::NoPort);
    }
    let pair = client.call::<method::PairCreate>(PairParams { scope: Some(args.scope.into()) }).await?;
    match args.json {
        true => screen::print_json(&pair)?,
        false => screen::print(&pairing::shown(Style::for_stdout(), &pair))?,
    }
    if args.open {
        open(&pair.page)?;
    }
    Ok(Exit::Completed)
}

/// Opens a page in the browser; how it goes on is not our business.
fn open(page: &str) -> Result<(), Error> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(opener);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop).map_err(Error::Open)
}
