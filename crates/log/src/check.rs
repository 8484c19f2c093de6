//! Checks the database for consistency, and rebuilds the derived tables from the events.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use roost_model::approval::Pending;
use roost_model::pattern::RememberedRule;
use roost_model::session::SessionRecord;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::asks;
use crate::block::Block;
use crate::cursor::BlockId;
use crate::error::{Error, Result};
use crate::filter::TypeMask;
use crate::lock::StateLock;
use crate::reader::{BLOCK, block, seq};
use crate::retention::snapshot;
use crate::schema::{database, open_reader, open_writer};
use crate::sqlite::Synchronous;
use crate::stream::Seq;
use crate::tables::{Summary, from_json};

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many streams were checked.
    pub streams: u64,
    /// How many blocks were decompressed and checked.
    pub blocks: u64,
    /// How many events were parsed and checked.
    pub events: u64,
    /// What is wrong, in words for people; empty if the database is consistent.
    pub problems: Vec<String>,
}

/// What a rebuild did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// The problems that the rebuild has fixed.
    pub mended: Vec<String>,
    /// The problems that remain, because events are missing or unreadable.
    pub remaining: Vec<String>,
}

/// Reads the whole database of a state directory and reports what is wrong with it. A daemon may be using it meanwhile.
/// Blocks the thread.
pub fn check(state: &Path) -> Result<Report> {
    let path = database(state);
    let run = || inspect(&open_reader(&path)?).map_err(|error| error.at(&path));
    match run() {
        Err(Error::Corrupt { reason, .. }) => {
            let problem = format!("{} is too damaged to be read ({reason}); move it aside", path.display());
            Ok(Report { problems: vec![problem], ..Report::default() })
        }
        found => found,
    }
}

/// Rebuilds all tables that derive from events; the host's own rows stay as they are. No log may be open on the
/// directory. Blocks the thread.
pub fn rebuild(lock: &StateLock) -> Result<Rebuilt> {
    let path = database(lock.dir());
    let db = open_writer(&path, Synchronous::Full)?;
    let run = || {
        let before = inspect(&db)?.problems;
        let rebuilding = Transaction::new_unchecked(&db, TransactionBehavior::Immediate)?;
        rebuild_rows(&rebuilding)?;
        rebuilding.commit()?;
        let remaining = inspect(&db)?.problems;
        let mended = before.into_iter().filter(|problem| !remaining.contains(problem)).collect();
        Ok(Rebuilt { mended, remaining })
    };
    run().map_err(|error: Error| error.at(&path))
}

fn inspect(db: &Connection) -> Result<Report> {
    let db = db.unchecked_transaction()?;
    let mut report = Report::default();
    let mut integrity = db.prepare("PRAGMA integrity_check")?;
    for line in integrity.query_map([], |row| row.get::<_, String>(0))? {
        let line = line?;
        if line != "ok" {
            report.problems.push(format!("SQLite: {line}"));
        }
    }
    let mut sums = Vec::new();
    for stream in streams(&db)? {
        let replay = Replay::read(&db, &stream)?;
        report.streams += 1;
        report.blocks += replay.blocks;
        report.events += replay.events;
        report.problems.extend(replay.problems);
        sums.push((stream.id, replay.summary));
    }
    let strays: u64 =
        db.query_row("SELECT count(*) FROM blocks WHERE stream NOT IN (SELECT id FROM streams)", [], |row| {
            seq(row, 0)
        })?;
    if strays > 0 {
        report.problems.push(format!("{strays} blocks belong to no stream"));
    }
    compare(&Derived::expected(&sums)?, &Derived::stored(&db)?, &mut report.problems);
    Ok(report)
}

fn rebuild_rows(db: &Transaction<'_>) -> Result<()> {
    db.execute_batch("DELETE FROM sessions; DELETE FROM aliases; DELETE FROM pending; DELETE FROM remembered;")?;
    derive_rows(db)
}

/// Writes the derived rows of all streams over those that are there.
pub(crate) fn derive_rows(db: &Transaction<'_>) -> Result<()> {
    for stream in streams(db)? {
        let replay = Replay::read(db, &stream)?;
        replay.summary.store(db, stream.id)?;
        replay.summary.asks.store(db)?;
        db.prepare_cached("UPDATE streams SET last_seq = ?2 WHERE id = ?1")?
            .execute(params![stream.id, replay.last_seq as i64])?;
        for BlockLabels { id, types, last_seq, bytes } in replay.wrong_labels {
            db.prepare_cached("UPDATE blocks SET types = ?2, last_seq = ?3, bytes = ?4 WHERE id = ?1")?
                .execute(params![id, types.0 as i64, last_seq as i64, bytes])?;
        }
    }
    Ok(())
}

struct StreamRow {
    id: i64,
    name: String,
    last_seq: Seq,
    resume_at: Seq,
}

fn streams(db: &Connection) -> Result<Vec<StreamRow>> {
    let mut select = db.prepare("SELECT id, name, last_seq, resume_at FROM streams ORDER BY id")?;
    let rows = select.query_map([], |row| {
        Ok(StreamRow { id: row.get(0)?, name: row.get(1)?, last_seq: seq(row, 2)?, resume_at: seq(row, 3)? })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The columns of a block's row that describe its content.
#[derive(Clone, Copy, PartialEq)]
struct BlockLabels {
    id: BlockId,
    types: TypeMask,
    last_seq: Seq,
    bytes: i64,
}

/// The result of reading a stream from its first stored event to its last.
#[derive(Default)]
struct Replay {
    blocks: u64,
    events: u64,
    last_seq: Seq,
    summary: Summary,
    /// The correct labels of blocks whose row has wrong ones.
    wrong_labels: Vec<BlockLabels>,
    problems: Vec<String>,
}

impl Replay {
    fn read(db: &Connection, stream: &StreamRow) -> Result<Self> {
        let mut replay = Self { last_seq: stream.resume_at - 1, ..Self::default() };
        match snapshot(db, stream.id) {
            Ok(summary) => replay.summary = summary,
            Err(error) => replay.add_problem(stream, format!("its snapshot cannot be read ({error})")),
        }
        let mut select = db.prepare_cached(&format!(
            "SELECT {BLOCK}, b.last_seq FROM blocks b JOIN streams s ON s.id = b.stream WHERE b.stream = ?1
             ORDER BY b.first_seq"
        ))?;
        let mut rows = select.query([stream.id])?;
        while let Some(row) = rows.next()? {
            let (id, first_seq, types) = (row.get(0)?, seq(row, 2)?, TypeMask(row.get::<_, i64>(3)? as u64));
            let stored = BlockLabels { id, types, last_seq: seq(row, 7)?, bytes: row.get(4)? };
            replay.blocks += 1;
            replay.check_sequence(stream, first_seq);
            match block(row) {
                Ok(block) => replay.add(stream, &block, stored),
                Err(error) => {
                    replay.add_problem(
                        stream,
                        format!("events {first_seq} to {} cannot be read ({error})", stored.last_seq),
                    );
                    replay.last_seq = stored.last_seq;
                }
            }
        }
        if replay.last_seq != stream.last_seq {
            let (found, said) = (replay.last_seq, stream.last_seq);
            replay.add_problem(stream, format!("its last event is {found}, but it is said to be {said}"));
        }
        Ok(replay)
    }

    fn add_problem(&mut self, stream: &StreamRow, what: String) {
        self.problems.push(format!("stream {}: {what}", stream.name));
    }

    fn check_sequence(&mut self, stream: &StreamRow, first_seq: Seq) {
        let expected = self.last_seq + 1;
        if first_seq > expected {
            self.add_problem(stream, format!("events {expected} to {} are missing", first_seq - 1));
        } else if first_seq < expected {
            self.add_problem(stream, format!("events {first_seq} to {} are there twice", expected - 1));
        }
    }

    fn add(&mut self, stream: &StreamRow, block: &Block, stored: BlockLabels) {
        let mut types = TypeMask::default();
        for index in 0..block.len() {
            let seq = block.first_seq() + index as Seq;
            match block.event(index) {
                Ok(event) if event.seq == seq => types.add(TypeMask::from_body(&event.body)),
                Ok(event) => self.add_problem(stream, format!("event {seq} says that it is event {}", event.seq)),
                Err(error) => self.add_problem(stream, error.to_string()),
            }
        }
        // Events of a type that the writing version did not know keep the label `OTHER`, and so do reports of that time.
        if stored.types.intersects(TypeMask::OTHER) {
            types = TypeMask(types.0 & !TypeMask::REPORTED.0 | stored.types.0);
        }
        let found = BlockLabels { id: stored.id, types, last_seq: block.last_seq(), bytes: block.text().len() as i64 };
        if found != stored {
            let (first, last) = (block.first_seq(), block.last_seq());
            self.add_problem(
                stream,
                format!("block {} does not say what it holds (events {first} to {last})", stored.id),
            );
            self.wrong_labels.push(found);
        }
        self.events += block.len() as u64;
        self.last_seq = block.last_seq();
        self.summary.add_block(block);
    }
}

/// All derived rows, in a form that can be compared.
#[derive(PartialEq)]
struct Derived {
    sessions: BTreeMap<String, SessionRow>,
    aliases: BTreeSet<(String, String)>,
    pending: BTreeMap<String, Pending>,
    /// By their subject: the time when the rule was made or removed in milliseconds, and the rule unless it was removed.
    remembered: BTreeMap<String, (i64, Option<RememberedRule>)>,
}

#[derive(Debug, PartialEq)]
struct SessionRow {
    stream: i64,
    status: String,
    runtime: String,
    cwd: String,
    updated_ms: i64,
    open_task: Option<String>,
    /// `None` if its JSON cannot be parsed.
    record: Option<SessionRecord>,
}

impl Derived {
    fn expected(sums: &[(i64, Summary)]) -> Result<Self> {
        let mut derived = Self {
            sessions: BTreeMap::new(),
            aliases: BTreeSet::new(),
            pending: BTreeMap::new(),
            remembered: BTreeMap::new(),
        };
        for (stream, summary) in sums {
            derived.pending.extend(summary.asks.pending.clone());
            let made = summary.asks.remembered.iter().map(|made| (made, Some(made.rule.clone())));
            let removed = summary.asks.forgotten.iter().map(|removed| (removed, None));
            for (dated, rule) in made.chain(removed) {
                let (subject, at) = (asks::subject(&dated.rule)?, dated.at.as_millis());
                if derived.remembered.get(&subject).is_none_or(|(before, _)| *before <= at) {
                    derived.remembered.insert(subject, (at, rule));
                }
            }
            let Some(record) = &summary.record else { continue };
            let id = record.session_id.to_string();
            derived.aliases.extend(summary.aliases.iter().map(|alias| (alias.clone(), id.clone())));
            let row = SessionRow {
                stream: *stream,
                status: record.status.to_string(),
                runtime: record.runtime.wire().into(),
                cwd: record.cwd.clone(),
                updated_ms: record.updated_at.as_millis(),
                open_task: record.open_task.as_ref().map(|task| task.task_id.to_string()),
                record: Some(record.clone()),
            };
            derived.sessions.insert(id, row);
        }
        Ok(derived)
    }

    fn stored(db: &Connection) -> Result<Self> {
        let mut sessions =
            db.prepare("SELECT session_id, stream, status, runtime, cwd, updated_ms, open_task, record FROM sessions")?;
        let sessions = sessions.query_map([], |row| {
            let found = SessionRow {
                stream: row.get(1)?,
                status: row.get(2)?,
                runtime: row.get(3)?,
                cwd: row.get(4)?,
                updated_ms: row.get(5)?,
                open_task: row.get(6)?,
                record: from_json(row, 7).ok(),
            };
            Ok((row.get(0)?, found))
        })?;
        let sessions = sessions.collect::<rusqlite::Result<_>>()?;
        let mut aliases = db.prepare("SELECT alias, session_id FROM aliases")?;
        let aliases = aliases.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
        let mut pending = db.prepare("SELECT id, record FROM pending")?;
        let pending = pending.query_map([], |row| Ok((row.get(0)?, from_json(row, 1)?)))?;
        let pending = pending.collect::<rusqlite::Result<_>>()?;
        let mut remembered = db.prepare("SELECT subject, made_ms, rule FROM remembered")?;
        let remembered = remembered.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, from_json(row, 2)?))))?;
        let remembered = remembered.collect::<rusqlite::Result<_>>()?;
        Ok(Self { sessions, aliases, pending, remembered })
    }
}

fn compare(expected: &Derived, stored: &Derived, problems: &mut Vec<String>) {
    for (id, row) in &expected.sessions {
        match stored.sessions.get(id) {
            None => problems.push(format!("session {id}: it is missing from the directory")),
            Some(found) if found != row => {
                problems.push(format!("session {id}: the directory differs from what its events say"));
            }
            Some(_) => {}
        }
    }
    for id in stored.sessions.keys().filter(|id| !expected.sessions.contains_key(*id)) {
        problems.push(format!("session {id}: it is in the directory, but no event made it"));
    }
    if expected.pending != stored.pending {
        problems.push("what waits for an answer differs from what the events say".into());
    }
    if expected.remembered != stored.remembered {
        problems.push("the remembered answers differ from what the events say".into());
    }
    for (alias, id) in expected.aliases.difference(&stored.aliases) {
        problems.push(format!("session {id}: its other name {alias} is missing"));
    }
    for (alias, id) in stored.aliases.difference(&expected.aliases) {
        problems.push(format!("session {id}: no event gave it the other name {alias}"));
    }
}
