//! `roost devices`: lists devices; approves, rejects and revokes them; makes tokens for programs.

use std::io::{self, Write};

use clap_complete::engine::ArgValueCandidates;
use roost_client::Client;
use roost_model::time::Timestamp;
use roost_rpc::{
    Device, DeviceApproveParams, DeviceRevokeParams, DeviceTokenParams, NoParams, Scope, WaitingDevice, method,
};

use crate::ago::ago;
use crate::cli::Context;
use crate::complete;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen::{self, Screen, one_line};
use crate::stderr::print_stderr;
use crate::style::Style;
use crate::table::{self, Overflow};

const EXAMPLES: &str = "\
Examples:
  roost devices                       list paired devices, and those that wait
  roost devices --json                print one line of JSON for each
  roost devices approve pairreq_34cd  let a waiting device in
  roost devices reject pairreq_34cd   turn a waiting device away
  roost devices revoke dev_12ab       end its tokens and close its connections
  export ROOST_TOKEN=$(roost devices token codex)
                                      make a token for a program that uses the
                                      MCP gateway over HTTP";

/// List paired devices; approve, reject or revoke one; make a token for a program
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<DevicesAction>,
    /// Print one line of JSON for each paired device
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum DevicesAction {
    /// Approve a device that is waiting to be paired
    Approve {
        /// The id of its request, as shown by `roost devices`
        #[arg(add = ArgValueCandidates::new(complete::waiting_devices))]
        id: String,
    },
    /// Reject a device that is waiting to be paired
    Reject {
        /// The id of its request, as shown by `roost devices`
        #[arg(add = ArgValueCandidates::new(complete::waiting_devices))]
        id: String,
    },
    /// Make a token for a program, such as an MCP client or a script, and print it once
    Token {
        /// The name under which `roost devices` lists the program
        name: String,
        /// What the program may do: operate is needed to use tools
        #[arg(long, value_enum, default_value_t = TokenScope::Operate)]
        scope: TokenScope,
        /// Print the token, its device and when it ends as one line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a paired device, or the token of a program
    Revoke {
        /// The id of the device, as shown by `roost devices`
        #[arg(add = ArgValueCandidates::new(complete::devices))]
        id: String,
    },
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum TokenScope {
    /// Look, and change nothing
    Observe,
    /// Also use tools, and start and answer agents
    Operate,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let client = connect::open(context).await?;
    match args.action {
        Some(DevicesAction::Revoke { id }) => {
            client.call::<method::DeviceRevoke>(DeviceRevokeParams { device_id: id.clone() }).await?;
            screen::print(&format!("{} was revoked: its tokens no longer work.", one_line(&id)))?;
        }
        Some(DevicesAction::Token { name, scope, json }) => {
            let scope = match scope {
                TokenScope::Observe => Scope::Observe,
                TokenScope::Operate => Scope::Operate,
            };
            let params = DeviceTokenParams { name, scope: Some(scope) };
            let made = client.call::<method::DeviceToken>(params).await?;
            if json {
                screen::print_json(&made)?;
            } else {
                // Alone on stdout, so that a shell can put it into a variable.
                screen::print(&made.token)?;
                print_stderr(format_args!(
                    "This token is shown only now. It is valid for one year, or until you run `roost devices revoke {}`.",
                    one_line(&made.device_id),
                ));
            }
        }
        Some(DevicesAction::Approve { id }) => {
            let device = answer(&client, id, false).await?;
            screen::print(&format!("{} was approved.", description(&device)))?;
        }
        Some(DevicesAction::Reject { id }) => {
            let device = answer(&client, id, true).await?;
            screen::print(&format!("{} was rejected.", description(&device)))?;
        }
        None => {
            let devices = client.call::<method::DeviceList>(NoParams {}).await?.devices;
            let waiting = client.call::<method::DevicePending>(NoParams {}).await?.pending;
            print(&mut screen::stdout(), &devices, &waiting, args.json).map_err(Error::Output)?;
        }
    }
    Ok(Exit::Completed)
}

/// Lets in a waiting device, or turns it away. An id is always needed: nobody lets in a device that they have not seen.
async fn answer(client: &Client, id: String, reject: bool) -> Result<WaitingDevice, Error> {
    let mut waiting = client.call::<method::DevicePending>(NoParams {}).await?.pending.into_iter();
    let Some(device) = waiting.find(|device| device.request_id == id) else { return Err(Error::NoDeviceWaits(id)) };
    let request_id = device.request_id.clone();
    client.call::<method::DeviceApprove>(DeviceApproveParams { request_id, reject: Some(reject) }).await?;
    Ok(device)
}

/// What a waiting device says of itself, and where it is.
fn description(device: &WaitingDevice) -> String {
    let names = [device.name.as_deref().unwrap_or_default(), &device.user_agent, "A device"];
    let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
    match device.remote_addr.as_str() {
        "" => one_line(name).into_owned(),
        address => format!("{} at {}", one_line(name), one_line(address)),
    }
}

fn print(out: &mut Screen<impl Write>, devices: &[Device], waiting: &[WaitingDevice], json: bool) -> io::Result<()> {
    if json {
        return devices.iter().try_for_each(|device| out.json(device));
    }
    for device in waiting {
        let (id, who) = (one_line(&device.request_id), description(device));
        writeln!(out, "{who} is waiting for approval: roost devices approve {id}")?;
    }
    if devices.is_empty() {
        return writeln!(out, "No devices are paired. Run `roost pair` to pair one.");
    }
    let now = Timestamp::now();
    let rows = devices.iter().map(|device| {
        let seen = device.last_seen.map_or_else(|| "-".into(), |seen| ago(seen, now));
        let scope = format!("{:?}", device.scope).to_lowercase();
        let connections = device.connections.to_string();
        [device.device_id.clone(), device.name.clone(), scope, ago(device.paired_at, now), seen, connections]
    });
    let heads = ["DEVICE", "NAME", "SCOPE", "PAIRED", "SEEN", "CONNECTIONS"];
    table::write(out, Style::for_stdout(), Overflow::Cut, heads, &rows.collect::<Vec<_>>())
}
