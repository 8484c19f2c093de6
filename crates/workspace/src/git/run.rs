//! The one place that starts `git`.
//!
//! git runs programs that a repository's own `.git/config` names. Whoever can write that file can make git run
//! something, so this is what runs here (`crates/workspace/tests/all/git/programs.rs` holds it to that):
//!
//! | named by the repository | a look | a change | with the network |
//! |---|---|---|---|
//! | `filter.*.clean`, `.process` | **runs** | **runs**, and `.smudge` | **runs** |
//! | `core.fsmonitor` | off | runs | runs |
//! | hooks, `core.hooksPath` | off | run | run |
//! | `diff.external`, `diff.*.command`, `diff.*.textconv` | off | off | off |
//! | `merge.*.driver`, `gpg.program` with `commit.gpgSign` | – | run | run |
//! | `core.sshCommand`, `credential.helper`, `core.askPass`, `remote.*.uploadpack` | off | in a partial clone | run |
//! | `core.pager`, `core.editor`, `sequence.editor` | off | off | off |
//! | `ext::` addresses | off | off | off |
//! | any of it in a bare repository that lies in the folder without a `.git` | off | off | off |
//!
//! Filters cannot be switched off for a look: a file of git-lfs would then be shown as changed. What a partial clone
//! has not fetched is missing in a look (since git 2.44), because fetching it runs the programs of the network.

use std::ffi::OsString;
use std::io;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::call::{Call, Class};
use super::{GitKind, Progress};
use crate::{Error, Root};

/// How many bytes of standard error are kept, the last ones.
const WORDS: usize = 8 << 10;
/// How long git may clean up, above all its locks, before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// Settings that override the user's, because they would change output that is parsed here, or are unsafe.
const SETTINGS: &[&str] = &[
    "protocol.ext.allow=never",
    // A folder that only looks like a repository (`HEAD`, `config`, `objects`, `refs`) can come with a clone, and its
    // `config` with it: it is none.
    "safe.bareRepository=explicit",
    "core.quotePath=false",
    "i18n.logOutputEncoding=UTF-8",
    "i18n.commitEncoding=UTF-8",
    "color.ui=false",
    "color.diff=false",
    "color.status=false",
    "color.branch=false",
    "color.push=false",
    "color.transport=false",
    "color.advice=false",
    "color.remote=false",
    "log.showSignature=false",
    "log.follow=false",
    "diff.submodule=short",
    "diff.relative=false",
    "diff.suppressBlankEmpty=false",
    "merge.verbosity=2",
];

/// The timeouts of git processes, by the class of the call.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For calls that change nothing.
    pub read: Duration,
    /// For calls that change this repository, hooks included.
    pub write: Duration,
    /// For calls that talk to a remote.
    pub network: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { read: seconds(30), write: seconds(120), network: seconds(300) }
    }
}

/// A handle of a workspace's repository. Dropping the future of a method ends the git process that it started.
#[derive(Clone, Debug)]
pub struct Git {
    root: Root,
    timeouts: Timeouts,
    environment: Arc<Vec<(OsString, OsString)>>,
    progress: Option<mpsc::Sender<Progress>>,
    cancelled: CancellationToken,
}

impl Git {
    /// A handle of the repository in this folder, if there is one; nothing is read yet.
    pub fn new(root: Root) -> Self {
        let (timeouts, cancelled) = (Timeouts::default(), CancellationToken::new());
        Self { root, timeouts, environment: Arc::default(), progress: None, cancelled }
    }

    /// Replaces the default timeouts.
    pub fn with_timeouts(self, timeouts: Timeouts) -> Self {
        Self { timeouts, ..self }
    }

    /// Sets environment variables for git, besides those of the daemon, of which it gets no `GIT_*`.
    pub fn with_environment(self, environment: Vec<(OsString, OsString)>) -> Self {
        Self { environment: Arc::new(environment), ..self }
    }

    /// Sets a channel for the progress of long operations; reports are dropped while it is full.
    pub fn with_progress(self, progress: mpsc::Sender<Progress>) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Sets a token that cancels operations: running processes are terminated and waited for, and no new one is
    /// started.
    pub fn with_cancel(self, cancelled: CancellationToken) -> Self {
        Self { cancelled, ..self }
    }

    /// A handle with the same settings for another folder.
    pub(crate) fn at(&self, root: Root) -> Self {
        Self { root, ..self.clone() }
    }

    /// The folder that git works in.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Refuses a folder that is not itself the top of a working copy. A repository's own configuration can move its
    /// files anywhere (`core.worktree`), so every operation checks first where they are.
    pub(crate) async fn check_toplevel(&self, operation: &'static str) -> Result<(), Error> {
        let top = self.answer(Call::read(operation).args(["rev-parse", "--show-toplevel"])).await?;
        let top = top.strip_suffix(b"\n").unwrap_or(&top);
        let real = tokio::fs::canonicalize(self.root.path()).await;
        if real.is_ok_and(|real| real.as_os_str().as_encoded_bytes() == top) {
            return Ok(());
        }
        let kind = GitKind::NotARepository;
        let message = format!("the files of this repository are in {:?}, not here", String::from_utf8_lossy(top));
        Err(Error::Git { operation, message, kind })
    }

    /// Runs git and returns its standard output; an error if it fails.
    pub(crate) async fn answer(&self, call: Call) -> Result<Vec<u8>, Error> {
        let operation = call.operation;
        let output = self.run(call).await?;
        if output.success {
            return Ok(output.answer);
        }
        Err(output.failure(operation))
    }

    /// Like [`Self::answer`], as text without blanks at its end; what is not UTF-8 is replaced.
    pub(crate) async fn text(&self, call: Call) -> Result<String, Error> {
        Ok(String::from_utf8_lossy(&self.answer(call).await?).trim_end().to_owned())
    }

    /// Runs git to its end, successful or not.
    pub(crate) async fn run(&self, call: Call) -> Result<Output, Error> {
        let operation = call.operation;
        let failed = |kind: GitKind, message: String| Error::Git { operation, message: advised(message, kind), kind };
        if self.cancelled.is_cancelled() {
            return Err(failed(GitKind::Cancelled, "it was cancelled".into()));
        }
        let child = self.command(&call).spawn().map_err(|source| match source.kind() {
            io::ErrorKind::NotFound if self.root.path().is_dir() => failed(GitKind::NoGit, "there is no git".into()),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                Error::NoRoot { folder: self.root.path().display().to_string(), source }
            }
            _ => failed(GitKind::Other, format!("git cannot be started: {source}")),
        })?;
        child.id().into_iter().for_each(roost_process::restore_open_files);
        let limit = match call.class {
            Class::Read => self.timeouts.read,
            Class::Write => self.timeouts.write,
            Class::Network => self.timeouts.network,
        };
        let most = call.most;
        // Lives as long as the caller waits; its end is how the keeper learns that nobody does.
        let (waiting, abandoned) = oneshot::channel();
        let ended =
            tokio::spawn(supervise(child, call, limit, self.progress.clone(), self.cancelled.clone(), abandoned)).await;
        drop(waiting);
        match ended {
            Ok(Ok(RunEnd::Done(output))) if output.cut && !output.may_be_cut => {
                Err(failed(GitKind::TooMuch, format!("it said more than {most} bytes")))
            }
            Ok(Ok(RunEnd::Done(output))) => Ok(output),
            Ok(Ok(RunEnd::Cancelled)) => Err(failed(GitKind::Cancelled, "it was cancelled".into())),
            Ok(Ok(RunEnd::Late)) => {
                Err(failed(GitKind::Timeout, format!("it took longer than {} s and was ended", limit.as_secs_f32())))
            }
            Ok(Err(error)) => Err(failed(GitKind::Other, error.to_string())),
            Err(error) => Err(failed(GitKind::Other, error.to_string())),
        }
    }

    fn command(&self, call: &Call) -> Command {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        let parent = self.root.path().parent().unwrap_or_else(|| self.root.path());
        command
            .current_dir(self.root.path())
            .process_group(0)
            .kill_on_drop(true)
            .stdin(if call.input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env("LC_ALL", "C")
            .env_remove("LANGUAGE")
            .env("GIT_CEILING_DIRECTORIES", parent)
            // Nobody sits at a terminal: whoever would ask there is refused at once instead of waiting for ever.
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("SSH_ASKPASS", "false")
            .env("SSH_ASKPASS_REQUIRE", "force")
            .env("GIT_EDITOR", ":")
            .env("GIT_SEQUENCE_EDITOR", ":")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .arg("--no-pager")
            .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        if call.class == Class::Read {
            // A look never writes, and of the programs that the repository names it starts filters alone.
            // A diff would write the index for itself, whatever is said of locks.
            let settings = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "diff.autoRefreshIndex=false"];
            command
                .env("GIT_OPTIONAL_LOCKS", "0")
                .env("GIT_NO_LAZY_FETCH", "1")
                .args(settings.iter().flat_map(|setting| ["-c", setting]));
        }
        if call.literal {
            command.arg("--literal-pathspecs");
        }
        command.args(&call.args);
        command
    }
}

/// The output of a git process that ended by itself.
pub(crate) struct Output {
    pub(crate) success: bool,
    pub(crate) answer: Vec<u8>,
    /// Standard error, without progress; the last `WORDS` bytes.
    pub(crate) words: String,
    /// `answer` was cut at the call's limit.
    pub(crate) cut: bool,
    may_be_cut: bool,
}

impl Output {
    /// Standard error and the end of standard output, for people.
    pub(crate) fn message(&self) -> String {
        let answer = String::from_utf8_lossy(&self.answer[self.answer.len().saturating_sub(WORDS)..]).into_owned();
        let parts = [self.words.trim(), answer.trim()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// The error that this output means: classified by its message, with advice where there is some.
    pub(crate) fn failure(&self, operation: &'static str) -> Error {
        let text = self.message();
        let kind = GitKind::classify(&text);
        let message = if text.is_empty() { "it gave no reason".to_owned() } else { text };
        Error::Git { operation, message: advised(message, kind), kind }
    }
}

fn advised(message: String, kind: GitKind) -> String {
    kind.advice().map_or_else(|| message.clone(), |advice| format!("{message}; {advice}"))
}

enum RunEnd {
    Done(Output),
    Late,
    Cancelled,
}

/// Supervises a git process until it ends, times out, is cancelled, or the caller stops waiting.
async fn supervise(
    mut child: Child,
    mut call: Call,
    limit: Duration,
    progress: Option<mpsc::Sender<Progress>>,
    cancelled: CancellationToken,
    abandoned: oneshot::Receiver<()>,
) -> io::Result<RunEnd> {
    let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let input = call.input.take().unwrap_or_default();
    let (mut answer, mut words, mut cut) = (Vec::new(), Vec::new(), false);
    let ended: Result<io::Result<ExitStatus>, RunEnd> = {
        let mut reading = pin!(async {
            tokio::join!(
                write_stdin(stdin, &input),
                read_stdout(stdout, call.most, &mut answer, &mut cut),
                read_stderr(stderr, &mut words, progress)
            )
        });
        let finish = async {
            tokio::select! {
                _ = &mut reading => child.wait().await,
                // Whoever git leaves behind may hold its pipes for ever: after its end they are read for a moment only.
                status = child.wait() => {
                    _ = timeout(GRACE, &mut reading).await;
                    status
                }
            }
        };
        tokio::select! {
            status = finish => Ok(status),
            () = sleep(limit) => Err(RunEnd::Late),
            () = cancelled.cancelled() => Err(RunEnd::Cancelled),
            _ = abandoned => Err(RunEnd::Cancelled),
        }
    };
    let status = match ended {
        Ok(status) => status,
        Err(why) => {
            terminate(&mut child, group).await;
            return Ok(why);
        }
    };
    let words = String::from_utf8_lossy(&words).into_owned();
    // Who was cut off in the middle of a word does not end well.
    let success = status?.success() || (cut && call.may_be_cut);
    Ok(RunEnd::Done(Output { success, answer, words, cut, may_be_cut: call.may_be_cut }))
}

/// Terminates git and its children, so that they can remove their locks; after `GRACE` it kills them.
async fn terminate(child: &mut Child, group: Option<Pid>) {
    if let Some(group) = group {
        _ = kill_process_group(group, Signal::TERM);
        _ = timeout(GRACE, child.wait()).await;
        _ = kill_process_group(group, Signal::KILL);
    }
    _ = child.wait().await;
}

async fn write_stdin(stdin: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        // Who does not read to the end knows why; its exit status tells.
        _ = stdin.write_all(input).await;
    }
}

async fn read_stdout(pipe: Option<impl AsyncRead + Unpin>, most: usize, answer: &mut Vec<u8>, cut: &mut bool) {
    let Some(pipe) = pipe else { return };
    _ = pipe.take(most as u64 + 1).read_to_end(answer).await;
    *cut = answer.len() > most;
    answer.truncate(most);
}

async fn read_stderr(
    pipe: Option<impl AsyncRead + Unpin>,
    words: &mut Vec<u8>,
    progress: Option<mpsc::Sender<Progress>>,
) {
    let Some(mut pipe) = pipe else { return };
    let (mut piece, mut line) = ([0; 4096], Vec::new());
    loop {
        let count = pipe.read(&mut piece).await.unwrap_or(0);
        for &byte in &piece[..count] {
            line.push(byte);
            if byte == b'\n' || byte == b'\r' || line.len() > WORDS {
                on_line(&line, words, progress.as_ref());
                line.clear();
            }
        }
        if count == 0 {
            return on_line(&line, words, progress.as_ref());
        }
    }
}

fn on_line(line: &[u8], words: &mut Vec<u8>, progress: Option<&mpsc::Sender<Progress>>) {
    match Progress::parse(&String::from_utf8_lossy(line)) {
        Some(step) => {
            if let Some(progress) = progress {
                _ = progress.try_send(step);
            }
        }
        None => {
            words.extend_from_slice(line);
            words.drain(..words.len().saturating_sub(WORDS));
        }
    }
}
