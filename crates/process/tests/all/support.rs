//! A holder in a scratch directory, and waiting for conditions.

use std::{
    ffi::OsString,
    path::PathBuf,
    sync::LazyLock,
    time::{Duration, Instant},
};

use roost_process::{Environment, Error, Holder, Ladder, Launch, Line, Lines, RunId, Running, tree};
use tempfile::TempDir;

/// The program that plays holders, hosts and runtimes here: an example of this crate, because those are built for tests
/// and never shipped.
pub(crate) fn probe() -> &'static str {
    static PROBE: LazyLock<String> = LazyLock::new(|| {
        let test = std::env::current_exe().unwrap();
        let built = test.ancestors().nth(2).unwrap().join("examples/process-probe");
        built.into_os_string().into_string().unwrap()
    });
    &PROBE
}

const DEADLINE: Duration = Duration::from_secs(60);

/// Short enough for tests; stubborn runtimes live through all of it.
pub(crate) fn quick() -> Ladder {
    Ladder { grace: Duration::from_millis(50), term: Duration::from_millis(50), leftover: Duration::from_millis(50) }
}

/// So patient that a test which needs a signal would not pass in time.
pub(crate) fn patient() -> Ladder {
    let long = Duration::from_secs(600);
    Ladder { grace: long, term: long, leftover: long }
}

pub(crate) struct TestHost {
    pub(crate) directory: TempDir,
    pub(crate) holder: Holder,
}

impl TestHost {
    pub(crate) fn new(ladder: Ladder) -> Self {
        let directory = TempDir::new().unwrap();
        let holder = Holder {
            program: probe().into(),
            args: vec!["hold".into()],
            records: directory.path().join("records"),
            ladder,
            wall: None,
        };
        Self { directory, holder }
    }

    pub(crate) fn launch(&self, program: &str, args: &[&str]) -> Launch {
        let mut env = Environment::default();
        env.set("PATH", "/usr/local/bin:/usr/bin:/bin");
        Launch {
            run: RunId::fresh(),
            label: "test".into(),
            program: program.into(),
            args: args.iter().map(OsString::from).collect(),
            cwd: self.directory.path().into(),
            env,
            stderr_lines: None,
        }
    }

    pub(crate) async fn spawn(&self, program: &str, args: &[&str]) -> (RunId, Running) {
        let launch = self.launch(program, args);
        (launch.run.clone(), self.holder.spawn(launch).await.unwrap())
    }

    pub(crate) async fn refuse(&self, launch: Launch) -> Error {
        self.holder.spawn(launch).await.map(|_| ()).unwrap_err()
    }

    pub(crate) fn record(&self, run: &RunId) -> PathBuf {
        self.holder.records.join(format!("{run}.json"))
    }
}

pub(crate) async fn next_lines(stdout: &mut Lines) -> Option<Vec<String>> {
    let batch = tokio::time::timeout(DEADLINE, stdout.next_batch()).await.expect("no line in time").unwrap();
    batch.map(|batch| batch.map(|line: Line| line.text().into_owned()).collect())
}

pub(crate) async fn all_lines(stdout: &mut Lines) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(lines) = next_lines(stdout).await {
        all.extend(lines);
    }
    all
}

/// Waits until the runtime has said `ready`.
pub(crate) async fn ready(stdout: &mut Lines) {
    assert_eq!(next_lines(stdout).await.unwrap(), ["ready"]);
}

pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !condition() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn assert_nothing_left(run: &RunId) {
    assert_eq!(tree::alive(run), [0_u32; 0], "processes of the run are left");
}
