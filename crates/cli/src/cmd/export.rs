//! `roost export`: a session as a support bundle.

use std::io;
use std::path::PathBuf;

use clap_complete::engine::ArgValueCandidates;
use roost_log::{Batch, Health, Log, Seq, StreamId};
use roost_model::event::SCHEMA_VERSION;
use roost_model::session::SessionRecord;
use roost_model::time::Timestamp;
use serde_json::{Value, json};

use crate::blocking::blocking;
use crate::bundle::{Bundle, BundledArtifacts, Facts, Split};
use crate::cli::Context;
use crate::complete;
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::screen::{self, one_line};

/// Events read from the log at once.
const PAGE: usize = 4096;
/// The version of the bundle's layout, for programs that read it.
const BUNDLE_VERSION: u32 = 1;

const EXAMPLES: &str = "\
Examples:
  roost export 0199a1b2                          write a bundle to the current directory
  roost export 0199a1b2 --output /tmp/it.tar.gz  write it to this file

Whatever looks like a secret is taken out. README.txt in the bundle explains its files. A file that exists is not
replaced, and the bundle unpacks into a folder of its own, roost-SESSION.";

/// Pack a session into one file to send to someone who helps you
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Its id, the beginning of it, the agent's own id, or latest
    #[arg(default_value = find::LATEST, add = ArgValueCandidates::new(complete::sessions))]
    session: String,
    /// The file to write [default: roost-SESSION.tar.gz]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let log = context.backend.read_log("roost export").await?;
    let record = find::session(&*log, &args.session).await?;
    let folder = format!("roost-{}", record.session_id);
    let path = args.output.unwrap_or_else(|| format!("{folder}.tar.gz").into());
    let path = std::path::absolute(path).map_err(Error::NoCwd)?;
    if path.exists() {
        return Err(Error::ExportExists(path));
    }
    let failed = |source| Error::Export { path: path.clone(), source };

    let mut pages = Pages::new(&*log, &record);
    let mut split = Split::default();
    while let Some(batch) = pages.next().await? {
        split = blocking(move || {
            split.add(&batch).map_err(|error| Error::Output(error.into()))?;
            Ok(split)
        })
        .await?;
    }
    // What happens from here on is left out: its pieces were not looked at.
    let last = split.last;
    let mut bundle = Bundle::new(split.redacted()).map_err(failed)?;
    let mut pages = Pages::new(&*log, &record);
    while pages.after < last
        && let Some(batch) = pages.next().await?
    {
        bundle = blocking(move || {
            bundle.add(&batch, last).map_err(Error::Output)?;
            Ok(bundle)
        })
        .await?;
    }
    let artifacts = BundledArtifacts::read(bundle.references(), &*context.backend).await;
    let (included, skipped) = artifacts.counts();
    let events = bundle.count();
    let manifest = json!({
        "session_id": record.session_id,
        "task_id": record.open_task.as_ref().map(|task| &task.task_id),
        "runtime": record.runtime.id(),
        "cwd": record.cwd,
        "title": record.title,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
        "generated_at": Timestamp::now(),
        "events": { "count": events, "first_seq": pages.first, "last_seq": last },
        "artifacts": { "included": included, "skipped": skipped },
    });
    let facts = facts(context, &*log, &record).await?;
    let target = path.clone();
    let write = move || {
        let written = bundle.write(&target, folder, manifest, facts, &artifacts);
        written.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => Error::ExportExists(target),
            _ => Error::Export { path: target, source },
        })
    };
    blocking(write).await?;
    let left_out = if skipped > 0 { format!(" ({skipped} left out)") } else { String::new() };
    let path = path.display().to_string();
    let words = format!("{}: {events} events, {included} artifacts{left_out}", one_line(&path));
    screen::print(&format!(
        "{words}\nRead it before you share it: a secret that looks like an ordinary word cannot be recognized."
    ))?;
    Ok(Exit::Completed)
}

/// The events of a session, from the first that is still stored.
struct Pages<'a> {
    log: &'a dyn Log,
    stream: StreamId,
    after: Seq,
    first: Option<Seq>,
}

impl<'a> Pages<'a> {
    fn new(log: &'a dyn Log, record: &SessionRecord) -> Self {
        Self { log, stream: (&record.session_id).into(), after: 0, first: None }
    }

    async fn next(&mut self) -> Result<Option<Batch>, Error> {
        let page = match self.log.read(&self.stream, self.after, PAGE).await {
            Err(roost_log::Error::Truncated { resume_at, .. }) => {
                self.log.read(&self.stream, resume_at.saturating_sub(1), PAGE).await?
            }
            page => page?,
        };
        let seqs = || page.batch.iter().map(|entry| entry.seq());
        let Some(last) = seqs().last() else { return Ok(None) };
        self.after = last;
        self.first = self.first.or_else(|| seqs().next());
        Ok(Some(page.batch))
    }
}

/// What is known of the session besides its events.
async fn facts(context: &Context, log: &dyn Log, record: &SessionRecord) -> Result<Facts, Error> {
    let id = record.runtime.id();
    let report = context.backend.report(&record.runtime).await?;
    let (auth, capabilities) = report.as_ref().map(|report| (&report.auth, &report.capabilities)).unzip();
    let (installed, version, reason) = match report.as_ref().map(|report| &report.version) {
        Some(Ok(version)) => (true, version.as_deref(), None),
        Some(Err(reason)) => (false, None, Some(reason.as_str())),
        None => (false, None, Some("it is not configured any more")),
    };
    let health = match &*log.health().borrow() {
        Health::Ok => json!({ "ok": true }),
        Health::Stalled { reason, since } => json!({ "ok": false, "reason": &**reason, "since": since }),
        Health::Failed { reason } => json!({ "ok": false, "reason": &**reason }),
    };
    let waiting = log.pending(Some(&record.session_id)).await?.len();
    let dir = context.state.dir().to_owned();
    let tables = blocking(move || Ok(roost_log::tables_version(&dir)?)).await?;
    let isolation = context.settings.isolation.get(id);
    Ok(Facts {
        health: json!({
            "log": health,
            "session": { "status": record.status, "open_task": record.open_task, "last_outcome": record.last_outcome,
                         "waits_for_answers": waiting },
            "runtime": { "id": id, "installed": installed, "reason": reason, "auth": auth },
        }),
        versions: json!({
            "bundle": BUNDLE_VERSION,
            "roost": env!("CARGO_PKG_VERSION"),
            "event_schema": SCHEMA_VERSION,
            "tables": tables,
            "runtime": { "id": id, "version": version },
            "machine": { "os": std::env::consts::OS, "arch": std::env::consts::ARCH, "kernel": kernel().await },
        }),
        runtime_env: json!({
            "cwd": record.cwd,
            "credential_namespace": record.credential_namespace,
            "isolation": isolation.map(|isolation| format!("{isolation:?}").to_lowercase()),
        }),
        mcp_transports: json!({
            "support": capabilities.map(|can| can.mcp_support),
            "supported": capabilities.and_then(|can| can.mcp_transports.clone()),
            "chosen": [],
        }),
        capabilities: json!(capabilities),
    })
}

async fn kernel() -> Value {
    let release = tokio::fs::read_to_string("/proc/sys/kernel/osrelease").await;
    release.map_or(Value::Null, |release| release.trim().into())
}
