//! Conversations that outlive their process: resumed, refused, listed and read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use roost_engine::adapter::{AdapterError, RuntimeAdapter};
use roost_model::canonical;
use roost_model::content::TranscriptRole;
use roost_model::ids::RuntimeSessionId;
use testkit::agents::{Agent, opencode_config};
use testkit::soon;

use super::live::Live;
use crate::codex::MODEL;
use crate::codex::live::{Say, run};

#[tokio::test]
async fn a_session_that_opencode_does_not_know_is_said_to_be_unknown() {
    let live = Live::new();
    for native in ["ses_e21fcc793ffetO7HG5iCldQoOa", "nonsense"] {
        let resumed = live.resume(&RuntimeSessionId::from(native)).await.map(|_| ());
        assert!(matches!(resumed, Err(AdapterError::UnknownSession(_))), "{native}: {resumed:?}");
    }
}

#[tokio::test]
async fn two_sessions_that_begin_at_once_in_a_new_home_both_begin() {
    let live = Live::new();
    let (one, other) = tokio::join!(live.session(), live.session());
    one.close().await;
    other.close().await;
}

#[tokio::test]
async fn a_session_of_another_directory_is_unknown_here() {
    let live = Live::new();
    let session = live.session().await;
    let native = session.native_id().unwrap();
    session.close().await;
    let mut open = live.open();
    open.env.cwd = live.sandbox.home().display().to_string();
    let resumed = soon("OpenCode starts again", live.adapter.resume_session(open, native)).await.map(|_| ());
    assert!(matches!(resumed, Err(AdapterError::UnknownSession(_))), "{resumed:?}");
}

#[tokio::test]
async fn of_two_that_resume_at_once_only_one_has_the_session() {
    let live = Live::new();
    let mut first = live.session().await;
    run(&mut first, "SCRIPT:text", Say::Yes).await;
    let native = first.native_id().unwrap();
    first.close().await;
    let (one, other) = tokio::join!(live.resume(&native), live.resume(&native));
    let (mut session, refused) = match (one, other) {
        (Ok(session), Err(error)) | (Err(error), Ok(session)) => (session, error),
        (one, other) => panic!("{:?}", (one.map(|_| ()), other.map(|_| ()))),
    };
    assert!(refused.to_string().contains("Roost has it open already"), "{refused}");
    let (_, task) = run(&mut session, "SCRIPT:recall", Say::Yes).await;
    assert!(task.text().contains("RECALL saw 2 prompt(s)"), "{}", task.text());
    session.close().await;
    live.until_nothing_is_left().await;
}

/// Every file below a folder, by what it holds.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => drop(files.insert(path.clone(), canonical::hash_bytes(&std::fs::read(&path).unwrap()))),
        }
    }
    files
}

#[tokio::test]
async fn a_conversation_from_a_terminal_is_listed_read_and_continued() {
    let live = Live::new();
    let allowed = opencode_config(&MODEL.url(), "allow").to_string();
    let mut terminal = live.sandbox.command(Agent::OpenCode);
    terminal.args(["run", "--title", "From a terminal", "SCRIPT:shell"]).env("OPENCODE_CONFIG_CONTENT", allowed);
    let output = tokio::task::spawn_blocking(move || terminal.stdin(Stdio::null()).output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let kept = live.sandbox.home().join(".local/share/opencode");
    let before = files(&kept);
    let found = live.adapter.past_sessions(&live.env()).await.unwrap();
    let [session] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(session.title.as_deref(), Some("From a terminal"));
    let messages = live.adapter.past_messages(&live.env(), &session.id).await.unwrap().unwrap();
    let roles: Vec<_> = messages.iter().map(|past| past.message.role).collect();
    use TranscriptRole::{Assistant, Tool, User};
    assert_eq!(roles, [User, Assistant, Tool, Assistant], "{messages:?}");
    assert_eq!(messages[0].message.text(), "SCRIPT:shell");
    assert!(messages.iter().all(|past| past.at.is_some()), "{messages:?}");
    assert_eq!(files(&kept), before, "reading changed something");
    let mut elsewhere = live.env();
    elsewhere.cwd = live.sandbox.home().display().to_string();
    assert_eq!(live.adapter.past_sessions(&elsewhere).await.unwrap(), []);

    let mut resumed = live.resume(&session.id).await.unwrap();
    let (_, task) = run(&mut resumed, "SCRIPT:recall", Say::Yes).await;
    assert!(task.text().contains("SCRIPT:shell"), "{}", task.text());
    resumed.close().await;
    let messages = live.adapter.past_messages(&live.env(), &session.id).await.unwrap().unwrap();
    assert_eq!(messages.len(), 6, "{messages:?}");
}
