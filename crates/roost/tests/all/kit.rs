//! A state directory of its own for each test, and the `roost` binary run with it.

use std::fs::{self, DirBuilder};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use roost_model::ids::SessionId;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take before a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What a command says that had to start a daemon.
pub(crate) const STARTED: &str = "roost: started a daemon in the background; `roost down` stops it\n";

/// The state, working directory and configuration of one test. Dropping it ends its daemon and every process of it.
pub(crate) struct RoostInstance(TempDir);

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    /// Without what a command says that had to start a daemon.
    pub(crate) stderr: String,
    /// It had to start a daemon.
    pub(crate) started: bool,
}

impl RoostInstance {
    pub(crate) fn new() -> Self {
        let instance = Self(TempDir::new().unwrap());
        fs::create_dir(instance.work()).unwrap();
        instance
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.0.path().join("state")
    }

    /// The state directory as Roost would make it.
    pub(crate) fn make_state(&self) {
        DirBuilder::new().mode(0o700).create(self.state()).unwrap();
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.state().join("roost.db")
    }

    /// Writes the configuration that every later command uses.
    pub(crate) fn configure(&self, text: &str) {
        let directory = self.home().join(".config/roost");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("roost.toml"), text).unwrap();
    }

    /// The binary with a cleared environment; what it starts is found again by [`RoostInstance::processes`].
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roost"));
        self.clear(&mut command).args(args);
        command
    }

    pub(crate) fn clear<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            // Passed on to agents, so it marks every process that belongs to this instance.
            .env("XDG_RUNTIME_DIR", self.0.path())
            .env("ROOST_STATE", self.state())
            .env("ROOST_SERVER_PORT", "0")
            // Chosen, because nobody is logged in to any other agent here.
            .env("ROOST_DEFAULT_RUNTIME", "demo")
            .current_dir(self.work())
            .stdin(Stdio::null())
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        let child = self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let watchdog = Watchdog::watch(&child);
        finish(child, watchdog)
    }

    /// Runs a command that finds its default agent by itself.
    pub(crate) fn run_undecided(&self, args: &[&str]) -> Done {
        let mut command = self.command(args);
        let child = command.env_remove("ROOST_DEFAULT_RUNTIME").stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = child.spawn().unwrap();
        let watchdog = Watchdog::watch(&child);
        finish(child, watchdog)
    }

    /// Starts a command whose output is read line by line.
    pub(crate) fn start(&self, args: &[&str]) -> RunningCommand {
        RunningCommand::new(&mut self.command(args))
    }

    /// The same, and what it says on stderr is among its output.
    pub(crate) fn start_with_stderr(&self, args: &[&str]) -> RunningCommand {
        self.start_with_input(args, Stdio::null())
    }

    /// The same with something to read.
    pub(crate) fn start_with_input(&self, args: &[&str], input: impl Into<Stdio>) -> RunningCommand {
        let mut shell = Command::new("sh");
        self.clear(&mut shell).args(["-c", r#"exec "$0" "$@" 2>&1"#, env!("CARGO_BIN_EXE_roost")]).args(args);
        RunningCommand::new(shell.stdin(input))
    }

    /// Every process that was started here and still runs, by its command line.
    pub(crate) fn processes(&self) -> Vec<String> {
        let command = |path: PathBuf| fs::read_to_string(path.join("cmdline")).unwrap_or_default().replace('\0', " ");
        self.proc_entries().into_iter().map(command).collect()
    }

    /// Their ids.
    pub(crate) fn pids(&self) -> Vec<String> {
        let id = |path: PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.proc_entries().into_iter().map(id).collect()
    }

    /// The processes without the daemon.
    pub(crate) fn agents(&self) -> Vec<String> {
        self.processes().into_iter().filter(|command| !command.contains(" serve ")).collect()
    }

    /// The daemon that runs here.
    pub(crate) fn daemon(&self) -> Pid {
        let file: Value = serde_json::from_slice(&fs::read(self.state().join("daemon.json")).unwrap()).unwrap();
        Pid::from_raw(file["pid"].as_i64().unwrap().try_into().unwrap()).unwrap()
    }

    /// Kills the daemon, and returns when it is dead.
    pub(crate) fn kill_daemon(&self) {
        let daemon = self.daemon();
        kill_process(daemon, Signal::KILL).unwrap();
        let command = format!("/proc/{}/cmdline", daemon.as_raw_nonzero());
        wait_for("the daemon to be dead", || fs::read(&command).unwrap_or_default().is_empty().then_some(()));
    }

    fn proc_entries(&self) -> Vec<PathBuf> {
        let mark = self.0.path().as_os_str().as_encoded_bytes();
        let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let is_ours = |path: &PathBuf| {
            let environ = fs::read(path.join("environ")).unwrap_or_default();
            environ.windows(mark.len()).any(|window| window == mark)
        };
        all.filter(is_ours).collect()
    }

    /// Pairs a device of this name with the daemon, and returns the daemon's address and the device's token.
    pub(crate) fn pair(&self, name: &str) -> (String, String) {
        let pair: Value = serde_json::from_str(&self.run(&["pair", "--json"]).ended(0).stdout).unwrap();
        let host = pair["http"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        let body = json!({ "pairing_token": pair["token"], "name": name });
        let tokens = post(&host, "/api/auth/exchange", "", &body);
        (host, tokens["access_token"].as_str().unwrap().to_owned())
    }

    /// Ends the daemon and looks that nothing of it is left; without one nothing may be left either.
    #[track_caller]
    pub(crate) fn assert_nothing_left(&self) {
        self.run(&["down"]).ended(0);
        assert_eq!(self.processes(), Vec::<String>::new());
    }
}

/// Posts JSON to a daemon, with a token unless it is empty, and returns the JSON of its answer.
pub(crate) fn post(host: &str, path: &str, token: &str, body: &Value) -> Value {
    let mut stream = TcpStream::connect(host).unwrap();
    let body = body.to_string();
    let authorization = if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
    let head = format!("POST {path} HTTP/1.1\r\nHost: {host}\r\n{authorization}Content-Type: application/json\r\n");
    write!(stream, "{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

impl Drop for RoostInstance {
    /// A test that failed must not leave anything behind either.
    fn drop(&mut self) {
        if self.state().exists() {
            let _ = self.command(&["down"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
        for path in self.proc_entries() {
            let pid = path.file_name().and_then(|name| name.to_str()?.parse().ok()).and_then(Pid::from_raw);
            let _ = pid.map(|pid| kill_process(pid, Signal::KILL));
        }
    }
}

/// The variable that holds the setup of a daemon which [`kill_a_daemon_that_asks`] starts.
const SETUP_VARIABLE: &str = "ROOST_TEST_PLACE";
/// What such a daemon prints before the id of its session.
const SESSION: &str = "session: ";

/// Runs an ignored test of this binary as a daemon, waits until its session waits for an approval, and kills it.
pub(crate) fn kill_a_daemon_that_asks(test: &str, setup: &impl Serialize) -> SessionId {
    let mut daemon = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--nocapture", test])
        .env(SETUP_VARIABLE, serde_json::to_string(setup).unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(daemon.stdout.take().unwrap()).lines().map_while(Result::ok);
    let session = lines.find_map(|line| line.strip_prefix(SESSION).map(SessionId::from));
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    session.expect("the daemon gets as far as asking")
}

/// The setup that [`kill_a_daemon_that_asks`] passed to this process.
pub(crate) fn killed_daemon_setup<T: DeserializeOwned>() -> T {
    serde_json::from_str(&std::env::var(SETUP_VARIABLE).unwrap()).unwrap()
}

/// Reports the session that waits for an approval to [`kill_a_daemon_that_asks`].
pub(crate) fn print_session_of_killed_daemon(session: &SessionId) {
    println!("\n{SESSION}{session}");
}

/// Kills a command that hangs, so that whoever reads its output goes on.
struct Watchdog {
    ended: mpsc::Sender<()>,
    thread: JoinHandle<bool>,
}

impl Watchdog {
    fn watch(child: &Child) -> Self {
        let pid = Pid::from_child(child);
        let (ended, watched) = mpsc::channel();
        let thread = thread::spawn(move || {
            let hangs = watched.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout);
            if hangs {
                let _ = kill_process(pid, Signal::KILL);
            }
            hangs
        });
        Self { ended, thread }
    }

    /// Whether the command had to be killed.
    fn bit(self) -> bool {
        drop(self.ended);
        self.thread.join().unwrap()
    }
}

/// A command that runs.
pub(crate) struct RunningCommand {
    child: Child,
    lines: BufReader<ChildStdout>,
    watchdog: Watchdog,
}

impl RunningCommand {
    pub(crate) fn new(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::with_capacity(1 << 20, child.stdout.take().unwrap());
        let watchdog = Watchdog::watch(&child);
        Self { child, lines, watchdog }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its stdin, if it was piped; once only.
    pub(crate) fn stdin(&mut self) -> ChildStdin {
        self.child.stdin.take().unwrap()
    }

    /// Writes a line to its standard input, which must be a pipe.
    pub(crate) fn write_line(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
    }

    /// The next line that it prints; `None` at the end.
    pub(crate) fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        (self.lines.read_line(&mut line).unwrap() > 0).then(|| line.trim_end_matches('\n').to_owned())
    }

    /// The lines up to one that holds this.
    pub(crate) fn lines_to(&mut self, part: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self.line().unwrap_or_else(|| panic!("{part:?} was not printed"));
            let found = line.contains(part);
            lines.push(line);
            if found {
                return lines;
            }
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Closes its input, reads the rest and waits for the end.
    pub(crate) fn finish(mut self) -> Done {
        drop(self.child.stdin.take());
        let mut stdout = String::new();
        while let Some(line) = self.line() {
            stdout.push_str(&line);
            stdout.push('\n');
        }
        Done { stdout, ..finish(self.child, self.watchdog) }
    }

    /// Closes its stdout and waits for the end.
    pub(crate) fn finish_unread(self) -> Done {
        drop(self.lines);
        finish(self.child, self.watchdog)
    }
}

/// Waits for the end; one that hung fails the test.
fn finish(mut child: Child, watchdog: Watchdog) -> Done {
    let stdout = child.stdout.take();
    let read_stdout = thread::spawn(move || stdout.map(read_lossy).unwrap_or_default());
    let stderr = child.stderr.take().map(read_lossy).unwrap_or_default();
    let stdout = read_stdout.join().unwrap();
    let code = child.wait().unwrap().code();
    assert!(!watchdog.bit(), "the command hung; stdout: {stdout}\nstderr: {stderr}");
    let started = stderr.contains(STARTED);
    Done { code, stdout, stderr: stderr.replacen(STARTED, "", 1), started }
}

fn read_lossy(mut from: impl std::io::Read) -> String {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Done {
    /// It ended with this code.
    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Every line of stdout as an event, checked to be a gapless part of one session from `first` on.
    #[track_caller]
    pub(crate) fn events(&self, first: u64) -> Vec<Value> {
        events(self.stdout.lines(), first)
    }
}

#[track_caller]
pub(crate) fn events<'a>(lines: impl Iterator<Item = &'a str>, first: u64) -> Vec<Value> {
    let events: Vec<Value> = lines.map(|line| serde_json::from_str(line).expect(line)).collect();
    for (event, seq) in events.iter().zip(first..) {
        assert_eq!(event["seq"], seq, "{event}");
        assert_eq!(event["trace"]["session_id"], events[0]["trace"]["session_id"]);
    }
    events
}

/// The events of this type.
pub(crate) fn of_type<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == name).collect()
}

/// The answer as it was streamed.
pub(crate) fn answer(events: &[Value]) -> String {
    let deltas = of_type(events, "model.output.delta").into_iter();
    deltas.map(|event| event["payload"]["delta"].as_str().unwrap()).collect()
}

pub(crate) fn session_id(events: &[Value]) -> String {
    events[0]["trace"]["session_id"].as_str().unwrap().to_owned()
}

/// Looks until it finds something.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Writes an executable script.
pub(crate) fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
