//! Conversations that outlive their process: resumed, refused, listed and read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use roost_engine::adapter::{AdapterError, RuntimeAdapter};
use roost_model::content::TranscriptRole;
use roost_model::ids::RuntimeSessionId;
use testkit::agents::Agent;
use testkit::soon;

use super::Live;
use crate::codex::live::{Say, completed, run};

/// Every file below a folder, with what is in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path))
        } else {
            _ = all.insert(path.clone(), std::fs::read(path).unwrap())
        }
    }
    all
}

#[tokio::test]
async fn a_session_loaded_in_the_minute_of_its_creation_and_often_is_kept_and_its_replay_is_no_answer() {
    let live = Live::new();
    let mut session = live.session().await;
    for _ in 0..3 {
        run(&mut session, "SCRIPT:text", Say::Yes).await;
    }
    let native = session.native_id().unwrap();
    session.close().await;
    for prompts in 4..7 {
        let mut session = live.resume(&native).await.unwrap();
        assert_eq!(session.native_id(), Some(native.clone()));
        let (end, task) = run(&mut session, "SCRIPT:recall", Say::Yes).await;
        assert!(completed(&end), "{end:?}");
        let start = format!("RECALL saw {prompts} prompt(s): SCRIPT:text");
        assert!(task.text().starts_with(&start), "{}", task.text());
        session.close().await;
    }
    let read = live.adapter.past_messages(&live.env(), &native).await.unwrap().unwrap();
    assert_eq!(read.iter().filter(|past| past.message.role == TranscriptRole::User).count(), 6);
}

#[tokio::test]
async fn a_session_that_gemini_does_not_know_is_said_to_be_unknown() {
    let live = Live::new();
    for native in ["01a1df43-38e6-7283-ac34-000000000000", "1", "latest"] {
        let resumed = live.resume(&RuntimeSessionId::from(native)).await;
        assert!(matches!(resumed.map(|_| ()), Err(AdapterError::UnknownSession(_))), "{native}");
    }
}

#[tokio::test]
async fn a_session_of_another_directory_is_unknown_and_left_alone() {
    let live = Live::new();
    let mut session = live.session().await;
    run(&mut session, "SCRIPT:text", Say::Yes).await;
    let native = session.native_id().unwrap();
    session.close().await;
    let before = files(&live.sandbox.home().join(".gemini/tmp"));
    let mut open = live.open();
    open.env.cwd = live.sandbox.home().display().to_string();
    let resumed = live.adapter.resume_session(open, native).await;
    assert!(matches!(resumed.map(|_| ()), Err(AdapterError::UnknownSession(_))));
    assert_eq!(files(&live.sandbox.home().join(".gemini/tmp")), before);
}

#[tokio::test]
async fn of_two_that_resume_at_once_the_second_waits_for_the_first_to_let_go() {
    let live = Live::new();
    let mut first = live.session().await;
    run(&mut first, "SCRIPT:text", Say::Yes).await;
    let native = first.native_id().unwrap();
    let mut second = std::pin::pin!(live.resume(&native));
    tokio::select! {
        biased;
        _ = &mut second => panic!("two processes have it open"),
        () = std::future::ready(()) => {}
    }
    let (session, ()) = tokio::join!(second, first.close());
    let mut session = session.unwrap();
    let (_, task) = run(&mut session, "SCRIPT:recall", Say::Yes).await;
    assert!(task.text().contains("2 prompt(s)"), "{}", task.text());
    session.close().await;
    live.is_empty();
}

#[tokio::test]
async fn a_conversation_from_a_terminal_is_listed_read_and_continued() {
    let live = Live::new();
    let args = ["--model", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", "SCRIPT:shell"];
    let mut bare = live.sandbox.command(Agent::Gemini);
    let output = bare.args(args).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let before = files(&live.sandbox.home());
    let found = live.adapter.past_sessions(&live.env()).await.unwrap();
    let [past] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(past.title.as_deref(), Some("SCRIPT:shell"));
    let messages = live.adapter.past_messages(&live.env(), &past.id).await.unwrap().unwrap();
    let roles: Vec<_> = messages.iter().map(|past| past.message.role).collect();
    use TranscriptRole::{Assistant, Tool, User};
    assert_eq!(roles, [User, Assistant, Tool, Assistant], "{messages:?}");
    assert!(messages.iter().all(|past| past.at.is_some()));
    assert_eq!(files(&live.sandbox.home()), before, "reading changed something");

    std::fs::remove_file(live.sandbox.work().join("out.txt")).unwrap();
    let mut session = soon("it is resumed", live.resume(&past.id)).await.unwrap();
    let (_, task) = run(&mut session, "SCRIPT:recall", Say::Yes).await;
    assert!(task.text().starts_with("RECALL saw 2 prompt(s): SCRIPT:shell"), "{}", task.text());
    assert!(!live.sandbox.work().join("out.txt").exists(), "a tool ran again");
    session.close().await;
}
