//! `roost pair`: how to connect a device.

use std::process::{Command, Stdio};

use roost_rpc::{PairParams, Scope, method};

use crate::cli::Context;
use crate::cmd::serve::Listen;
use crate::cmd::up;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::pairing;
use crate::screen;
use crate::style::Style;

const EXAMPLES: &str = "\
Examples:
  roost pair                     show a link as a QR code, and a code to type
  roost pair --app               show the QR code for cdev's iOS app
  roost pair --open              open the pairing page in the browser
  roost pair --scope observe     pair a device that can only watch
  roost pair --json              print {ws, http, session, repo, token, ...}

Each call pairs one device. If no daemon is running that devices can reach, it is started as by `roost up`.";

/// Pair a device: show a QR code and a pairing code
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What the device may do
    #[arg(long, value_name = "SCOPE", default_value = "operate")]
    scope: AnyScope,
    /// Show the QR code for cdev's iOS app, which needs a terminal of about 35 lines
    #[arg(long, conflicts_with = "json")]
    app: bool,
    /// Open the pairing page in the browser
    #[arg(long, conflicts_with = "json")]
    open: bool,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum AnyScope {
    #[value(help = "Only watch")]
    Observe,
    #[value(help = "Also start agents, prompt them and answer approvals")]
    Operate,
    #[value(help = "Everything, like a shell on this machine")]
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
    let daemon = up::serve_devices(&Listen::default(), context).await?;
    if daemon.is_new {
        connect::say_started();
    }
    let pair = daemon.client.call::<method::PairCreate>(PairParams { scope: Some(args.scope.into()) }).await?;
    let shown = match (args.json, args.app) {
        (true, _) => return screen::print_json(&pair).map(|()| Exit::Completed),
        (false, true) => pairing::shown_for_app(&pair),
        (false, false) => pairing::shown(Style::for_stdout(), &pair, pairing::UP_FOR_NETWORK),
    };
    screen::print(shown.trim_end())?;
    if let Some(rows) = screen::stdout_rows().filter(|rows| *rows < shown.lines().count()) {
        screen::print(&format!(
            "The QR code needs more than the {rows} lines of this terminal: enlarge it, or add --open."
        ))?;
    }
    if args.open {
        open(&pair.page)?;
    }
    Ok(Exit::Completed)
}

/// Opens a page in the browser and does not wait for it.
fn open(page: &str) -> Result<(), Error> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(opener);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop).map_err(|source| Error::Open { page: page.into(), source })
}
