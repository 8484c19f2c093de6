//! The demo agent as a real process: how it ends, and what it leaves behind.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::wire::Wire;

struct Agent {
    child: Child,
    wire: Wire,
    _cwd: TempDir,
}

async fn start() -> Agent {
    // Cargo builds the examples along with the tests and puts them next to each other.
    let tests = std::env::current_exe().unwrap();
    let example = tests.parent().unwrap().with_file_name("examples/demo_agent");
    let cwd = tempfile::tempdir().unwrap();
    let mut child = Command::new(&example)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}; build the examples", example.display()));
    let (stdout, stdin) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let wire = Wire::open(stdout, stdin, cwd.path()).await;
    Agent { child, wire, _cwd: cwd }
}

async fn ended(child: &mut Child) -> ExitStatus {
    let ended = timeout(Duration::from_secs(30), child.wait()).await;
    ended.expect("the agent should end").unwrap()
}

/// The leader of the process's session; none while that is outside of our PID namespace, as it can be in a
/// container. There `getsid` answers 0, which rustix takes for a bug.
fn session_of(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let session = fields.split(' ').nth(3).unwrap();
    Pid::from_raw(session.parse().unwrap())
}

#[tokio::test]
async fn the_agent_leaves_when_its_input_ends_even_in_the_middle_of_a_turn() {
    let mut agent = start().await;
    agent.wire.prompt("slow 1000").await;
    agent.wire.text().await;
    drop(agent.wire);
    assert!(ended(&mut agent.child).await.code().is_some());
}

#[tokio::test]
async fn crash_dies_with_an_open_tool_call_and_no_answer() {
    let mut agent = start().await;
    agent.wire.prompt("crash").await;
    assert_eq!(agent.wire.text().await, "I am about to crash.");
    for status in ["tool_call", "tool_call_update"] {
        let update = agent.wire.json().await;
        assert_eq!(update["params"]["update"]["sessionUpdate"], status);
    }
    assert!(agent.wire.line().await.is_empty());
    assert_eq!(ended(&mut agent.child).await.code(), Some(101));
}

#[tokio::test]
async fn exit_leaves_with_success_and_no_answer() {
    let mut agent = start().await;
    agent.wire.prompt("exit").await;
    assert_eq!(agent.wire.text().await, "I leave without an answer.");
    assert!(agent.wire.line().await.is_empty());
    assert_eq!(ended(&mut agent.child).await.code(), Some(0));
}

#[tokio::test]
async fn orphan_leaves_a_process_in_a_session_of_its_own() {
    let mut agent = start().await;
    agent.wire.prompt("orphan").await;
    let text = agent.wire.text().await;
    let pid = text.split(' ').find_map(|word| word.parse().ok()).unwrap();
    let pid = Pid::from_raw(pid).unwrap();
    let end = agent.wire.json().await;
    assert_eq!(end["result"]["stopReason"], "end_turn");
    drop(agent.wire);
    ended(&mut agent.child).await;

    let own_session = timeout(Duration::from_secs(30), async {
        // The process is named before it has left our session.
        while session_of(pid) != Some(pid) {
            tokio::task::yield_now().await;
        }
    });
    let in_time = own_session.await;
    let killed = kill_process(pid, Signal::KILL);
    assert_eq!((in_time.is_ok(), killed), (true, Ok(())));
}

#[tokio::test]
async fn stubborn_survives_cancel_sigterm_and_the_end_of_its_input_but_not_sigkill() {
    let mut agent = start().await;
    let pid = Pid::from_raw(agent.child.id().unwrap().cast_signed()).unwrap();
    agent.wire.prompt("stubborn").await;
    agent.wire.text().await;
    agent.wire.cancel().await;
    kill_process(pid, Signal::TERM).unwrap();
    drop(agent.wire);
    // Survival cannot be awaited, so give it a moment in which it could have died.
    let died = timeout(Duration::from_millis(300), agent.child.wait()).await;
    assert!(died.is_err(), "{died:?}");
    assert_eq!(test_kill_process(pid), Ok(()));
    agent.child.kill().await.unwrap();
}
