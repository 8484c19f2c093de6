//! `roost audit`: what happened at the gateway: services, approvals and calls.

use std::time::Duration;

use roost_rpc::{AuditListParams, AuditListResult, AuditRecord, method};

use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen::{self, one_line};

/// How often new records are asked for.
const INTERVAL: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "\
Examples:
  roost audit              the last records
  roost audit -n 20        the last 20
  roost audit -f           go on with new ones until you press Ctrl-C
  roost audit --json       one line of JSON for each

Records say which service or tool it was, how it went and who asked; never what a call was given or answered.";

/// Show what happened to services and which of their tools were called
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Wait for more records until you press Ctrl-C
    #[arg(short, long)]
    follow: bool,
    /// The most records to begin with
    #[arg(short = 'n', long, default_value_t = 200)]
    limit: u32,
    /// Print one line of JSON for each record
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let client = connect::open(context).await?;
    let mut params = AuditListParams { limit: Some(args.limit), after: None };
    loop {
        let AuditListResult { items, last } = client.call::<method::AuditList>(params).await?;
        for record in &items {
            if args.json { screen::print_json(record)? } else { screen::print(&line(record))? }
        }
        if !args.follow {
            return Ok(Exit::Completed);
        }
        if items.is_empty() {
            tokio::time::sleep(INTERVAL).await;
        }
        params = AuditListParams { limit: Some(u32::MAX), after: Some(last) };
    }
}

/// A record in one line.
pub(crate) fn line(record: &AuditRecord) -> String {
    let service = record.service_id.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
    one_line(&format!("{} {:<28}{service} {}", record.at, record.kind, record.message)).into_owned()
}
