//! Servers that are programs: one child per connection, messages as lines on its pipes.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{AbortHandle, Abortable};
use futures::stream::{FuturesUnordered, StreamExt};
use roost_process::{Control, Environment, Exit, Holder, Launch, Line, Lines, RunId, Running, StderrTail, Stdin};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::UpstreamEnd;
use super::peer::{Received, ServerPeer};
use super::peer_upstream::Transport;
use super::service_log::{LogSource, ServiceLog};
use crate::lifecycle::ServiceFault;

/// What a message has besides its parameters or result.
const ENVELOPE: usize = 64 * 1024;
/// Messages that are written at once.
const WRITE_BATCH: usize = 64;
/// Lines of stderr that may wait to be logged; further ones are lost.
const STDERR_LINES: usize = 256;
/// The longest line that is logged.
const MAX_LOGGED: usize = 4096;
/// How many requests of a server may be open at once; further ones wait unread.
const MAX_OPEN_QUESTIONS: usize = 64;
/// How long after the end of its output a program may take to exit by itself.
const EXIT_GRACE: Duration = Duration::from_secs(2);

/// The program of a service.
pub(super) struct ServiceProgram {
    pub(super) label: String,
    pub(super) command: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) cwd: PathBuf,
    pub(super) env: Environment,
}

/// A program that was started.
pub(super) struct Child {
    stdin: Stdin,
    stdout: Lines,
    stderr: mpsc::Receiver<String>,
    stderr_tail: StderrTail,
    control: Control,
}

impl Child {
    /// Starts the program under a holder.
    pub(super) async fn spawn(holder: &Holder, program: ServiceProgram) -> Result<Self, roost_process::Error> {
        let (stderr_lines, stderr) = mpsc::channel(STDERR_LINES);
        let ServiceProgram { label, command, args, cwd, env } = program;
        let stderr_lines = Some(stderr_lines);
        let launch = Launch { run: RunId::fresh(), label, program: command, args, cwd, env, stderr_lines };
        let Running { stdin, stdout, stderr: stderr_tail, control } = holder.spawn(launch).await?;
        Ok(Self { stdin, stdout, stderr, stderr_tail, control })
    }

    /// Carries the messages of a peer until the program ends or the transport is closed.
    pub(super) fn serve(
        self,
        peer: Arc<ServerPeer>,
        outgoing: mpsc::Receiver<Vec<u8>>,
        max_payload: usize,
        log: Arc<dyn ServiceLog>,
    ) -> Transport {
        Transport::spawn(|stop| run(self, peer, outgoing, max_payload, log, stop))
    }
}

async fn run(
    child: Child,
    peer: Arc<ServerPeer>,
    outgoing: mpsc::Receiver<Vec<u8>>,
    max_payload: usize,
    log: Arc<dyn ServiceLog>,
    stop: CancellationToken,
) {
    let Child { stdin, stdout, mut stderr, stderr_tail, control } = child;
    let stdout = stdout.limited_to(max_payload.saturating_add(ENVELOPE));
    let logged = async {
        while let Some(line) = stderr.recv().await {
            log.line(LogSource::Stderr, shortened(&line));
        }
    };
    let carried = async {
        tokio::select! {
            () = stop.cancelled() => UpstreamEnd::Closed,
            // A program that reads nothing more still ends its output, or exits.
            () = async { write(stdin, outgoing).await; std::future::pending().await } => UpstreamEnd::Closed,
            broken = read(stdout, &peer, &*log) => ended(broken, &control, &stderr_tail).await,
        }
    };
    let served = async {
        peer.end(carried.await);
        // The pipe to it is closed now, which lets most programs exit by themselves.
        control.stop().await;
    };
    tokio::join!(served, logged);
}

/// Writes the messages as lines until the program takes no more.
async fn write(mut stdin: Stdin, mut outgoing: mpsc::Receiver<Vec<u8>>) {
    let (mut messages, mut buffer) = (Vec::with_capacity(WRITE_BATCH), Vec::new());
    while outgoing.recv_many(&mut messages, WRITE_BATCH).await > 0 {
        for message in messages.drain(..) {
            let start = buffer.len();
            buffer.extend_from_slice(&message);
            // Outside of its strings, JSON that a client wrote may have line breaks, which mean nothing there.
            for byte in &mut buffer[start..] {
                if matches!(*byte, b'\n' | b'\r') {
                    *byte = b' ';
                }
            }
            buffer.push(b'\n');
        }
        if stdin.write_all(&buffer).await.is_err() {
            return;
        }
        buffer.clear();
    }
}

/// Reads messages until the program closes its output. An error says what it did wrong.
async fn read(mut stdout: Lines, peer: &ServerPeer, log: &dyn ServiceLog) -> Result<(), String> {
    let mut questions = FuturesUnordered::new();
    let mut withdrawals: HashMap<String, AbortHandle> = HashMap::new();
    loop {
        let batch = tokio::select! {
            Some((id, answer)) = questions.next(), if !questions.is_empty() => {
                let id: Box<serde_json::value::RawValue> = id;
                withdrawals.remove(id.get());
                if let Ok(answer) = answer {
                    peer.respond(&id, &answer).await;
                }
                continue;
            }
            batch = stdout.next_batch(), if questions.len() < MAX_OPEN_QUESTIONS => batch,
        };
        let Some(batch) = batch.map_err(|error| error.to_string())? else { return Ok(()) };
        for line in batch {
            let line = match line {
                Line::Bytes(line) if line.trim_ascii().is_empty() => continue,
                Line::Bytes(line) => line,
                Line::TooLong { bytes, start, end } => {
                    let known = peer.on_oversized(bytes, start, end);
                    let whose = if known { "an answer" } else { "a line that answers no open call" };
                    log.line(LogSource::Gateway, &format!("skipped {whose}: it has {bytes} bytes"));
                    continue;
                }
            };
            match peer.on_message(line).await {
                Received::Taken => {}
                Received::Question { id, answer } => {
                    let (handle, registration) = AbortHandle::new_pair();
                    withdrawals.insert(id.get().to_owned(), handle);
                    let answer = Abortable::new(answer, registration);
                    questions.push(async move { (id, answer.await) });
                }
                Received::QuestionWithdrawn(id) => {
                    if let Some(question) = withdrawals.remove(id.get()) {
                        question.abort();
                    }
                }
                Received::NotProtocol => log.line(LogSource::Stdout, shortened(&String::from_utf8_lossy(line))),
            }
        }
    }
}

/// Why the program is gone: it may have exited, or only closed its output.
async fn ended(read: Result<(), String>, control: &Control, stderr: &StderrTail) -> UpstreamEnd {
    let failed = |message: String| UpstreamEnd::Failed(ServiceFault::Unreachable, message.into());
    if let Err(error) = read {
        return failed(format!("its output cannot be read: {error}"));
    }
    let exit = match tokio::time::timeout(EXIT_GRACE, control.wait_exit()).await {
        Err(_) => return failed("it closed its output".into()),
        Ok(Exit::Code(0)) => return UpstreamEnd::Exited,
        Ok(exit) => exit,
    };
    let stderr = stderr.text();
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    failed(match last {
        "" => format!("its program ended with {exit}"),
        last => format!("its program ended with {exit}: {}", shortened(last.trim())),
    })
}

/// The beginning of a line that may be too long to be kept.
fn shortened(line: &str) -> &str {
    match line.char_indices().nth(MAX_LOGGED) {
        Some((end, _)) => &line[..end],
        None => line,
    }
}
