//! `roost secrets`: the secrets of services, without what they hold.

use std::io::{self, BufRead, IsTerminal, Read};

use roost_model::secret::Secret;
use roost_rpc::{NoParams, SecretCheck, SecretParams, SecretSetParams, method};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::blocking;
use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen::{self, one_line};
use crate::stderr::print_stderr;
use crate::style::Style;
use crate::table::{self, Overflow};

/// The most bytes that are read; a secret is a line.
const MAX_SECRET: u64 = 64 * 1024 + 2;

const EXAMPLES: &str = "\
Examples:
  roost secrets                             list the secrets in files
  roost secrets set file:team/token         type a secret; it is not shown
  roost secrets set file:team/token < FILE  read it from a file instead
  roost secrets set keyring:team/token      keep it in the desktop's keyring
  roost secrets validate env:TEAM_TOKEN     check that the daemon has a variable
  roost secrets delete file:team/token      delete a secret
  roost secrets providers                   show where secrets can be kept

A service names its secret by a reference, such as file:team/token, and never
holds the secret itself.";

/// List, set, check or delete the secrets of services
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<SecretsAction>,
    /// Print the answer of the daemon as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum SecretsAction {
    /// Keep a secret in a file that only you can read, or in the keyring; it is typed, or read from stdin
    Set {
        /// file: and a path within the folder of secrets, or keyring: and a name
        reference: String,
    },
    /// Delete a secret
    Delete {
        /// file: and a path within the folder of secrets, or keyring: and a name
        reference: String,
    },
    /// Check whether the daemon finds the secret of a reference
    Validate {
        /// env:VARIABLE, file:PATH, keyring:NAME, header_env:Header:VARIABLE, or a name
        reference: String,
    },
    /// Show where secrets can be kept, and the folder of those in files
    Providers,
    /// List the secrets that are kept in files
    List,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let json = args.json;
    match args.action.unwrap_or(SecretsAction::List) {
        SecretsAction::Set { reference } => {
            // Connected first, so that nobody types a secret for nothing.
            let client = connect::open(context).await?;
            let secret = ask_for(&reference).await?;
            let written = client.call::<method::SecretSet>(SecretSetParams { auth_ref: reference, secret }).await?;
            match json {
                true => screen::print_json(&written)?,
                false => screen::print(&one_line(&format!("{} is set.", written.auth_ref)))?,
            }
        }
        SecretsAction::Delete { reference } => {
            let client = connect::open(context).await?;
            let deleted = client.call::<method::SecretDelete>(SecretParams { auth_ref: reference }).await?;
            match json {
                true => screen::print_json(&deleted)?,
                false => screen::print(&one_line(&format!("{} is deleted.", deleted.auth_ref)))?,
            }
        }
        SecretsAction::Validate { reference } => {
            let client = connect::open(context).await?;
            let check = client.call::<method::SecretValidate>(SecretParams { auth_ref: reference }).await?;
            match json {
                true => screen::print_json(&check)?,
                false => screen::print(&one_line(&described(&check)))?,
            }
            return Ok(if check.valid { Exit::Completed } else { Exit::Failed });
        }
        SecretsAction::Providers => {
            let client = connect::open(context).await?;
            let found = client.call::<method::SecretProviders>(NoParams {}).await?;
            if json {
                screen::print_json(&found)?;
            } else {
                let usable = found.providers.iter().filter(|provider| provider.supported);
                let names: Vec<_> = usable.map(|provider| provider.name.as_str()).collect();
                let missing = if found.file_root_exists { "" } else { " (made with the first secret)" };
                screen::print(&one_line(&format!("References: {}.", names.join(", "))))?;
                screen::print(&one_line(&format!("Files are in {}{missing}.", found.file_root)))?;
                let issues = found.providers.iter().filter_map(|one| Some((&one.name, one.issue.as_ref()?)));
                for (name, issue) in issues {
                    screen::print(&one_line(&format!("{name} cannot be used: {issue}.")))?;
                }
            }
        }
        SecretsAction::List => {
            let client = connect::open(context).await?;
            let found = client.call::<method::SecretList>(NoParams {}).await?;
            let mut out = screen::stdout();
            if json {
                found.items.iter().try_for_each(|secret| out.json(secret)).map_err(Error::Output)?;
            } else if found.items.is_empty() {
                screen::print("No secrets are kept. `roost secrets set file:NAME` keeps one.")?;
            } else {
                let rows: Vec<_> = found.items.iter().map(|secret| [secret.auth_ref.clone()]).collect();
                table::write(&mut out, Style::for_stdout(), Overflow::Cut, ["REFERENCE"], &rows)
                    .map_err(Error::Output)?;
            }
        }
    }
    Ok(Exit::Completed)
}

/// Asks for a secret at the terminal, or reads it from whatever stdin is.
pub(crate) async fn ask_for(reference: &str) -> Result<Secret, Error> {
    let reference = reference.to_owned();
    blocking(move || read_secret(&reference).map_err(Error::Input)).await
}

fn described(check: &SecretCheck) -> String {
    match check.valid {
        true => format!("{} can be used; it is sent as {}.", check.auth_ref, check.header_keys.join(", ")),
        false => format!("{} cannot be used: {}.", check.auth_ref, check.issues.join("; ")),
    }
}

/// Reads a secret from the terminal without showing it, or whatever stdin is.
fn read_secret(reference: &str) -> io::Result<Secret> {
    let stdin = io::stdin();
    let mut text = String::new();
    if !stdin.is_terminal() {
        stdin.lock().take(MAX_SECRET).read_to_string(&mut text)?;
        return Ok(text.trim_end_matches(['\r', '\n']).into());
    }
    print_stderr(format_args!("The secret for {reference} (it is not shown):"));
    let shown = tcgetattr(&stdin)?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&stdin, OptionalActions::Flush, &hidden)?;
    let read = stdin.lock().take(MAX_SECRET).read_line(&mut text);
    tcsetattr(&stdin, OptionalActions::Flush, &shown)?;
    read?;
    Ok(text.trim_end_matches(['\r', '\n']).into())
}
