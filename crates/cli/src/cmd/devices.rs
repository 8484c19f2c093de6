//! `roost devices`: who was paired, and their end.

use std::io::{self, Write};

use roost_model::time::Timestamp;
use roost_rpc::{Device, DeviceRevokeParams, NoParams, method};

use crate::ago::ago;
use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen::{self, Screen, one_line};
use crate::style::Style;
use crate::table;

const EXAMPLES: &str = "\
Examples:
  roost devices                 who was paired
  roost devices --json          one line of JSON each
  roost devices revoke d_12ab   forget one: its tokens end and its connections close";

/// List the paired devices, or forget one
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<DevicesAction>,
    /// Print each device as one line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum DevicesAction {
    /// Forget a device
    Revoke {
        /// Its id, as `roost devices` lists it
        id: String,
    },
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let client = connect::open(context).await?;
    match args.action {
        Some(DevicesAction::Revoke { id }) => {
            client.call::<method::DeviceRevoke>(DeviceRevokeParams { device_id: id.clone() }).await?;
            screen::print(&format!("{} is forgotten; it has to be paired again.", one_line(&id)))?;
        }
        None => {
            let devices = client.call::<method::DeviceList>(NoParams {}).await?.devices;
            print(&mut screen::stdout(), &devices, args.json).map_err(Error::Output)?;
        }
    }
    Ok(Exit::Completed)
}

fn print(out: &mut Screen<impl Write>, devices: &[Device], json: bool) -> io::Result<()> {
    if json {
        return devices.iter().try_for_each(|device| out.json(device));
    }
    if devices.is_empty() {
        return writeln!(out, "No device is paired; `roost pair` shows how.");
    }
    let now = Timestamp::now();
    let rows = devices.iter().map(|device| {
        let seen = device.last_seen.map_or_else(|| "-".into(), |seen| ago(seen, now));
        let scope = format!("{:?}", device.scope).to_lowercase();
        let connections = device.connections.to_string();
        [device.device_id.clone(), device.name.clone(), scope, ago(device.paired_at, now), seen, connections]
    });
    let heads = ["DEVICE", "NAME", "SCOPE", "PAIRED", "SEEN", "CONNECTIONS"];
    table::write(out, Style::for_stdout(), heads, &rows.collect::<Vec<_>>())
}
