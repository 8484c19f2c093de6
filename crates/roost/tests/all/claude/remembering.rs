//! Conversations that outlive their process: resumed, refused, listed and read.

use std::process::Stdio;

use roost_engine::adapter::{AdapterError, Fact, RuntimeAdapter, TaskEnd};
use roost_model::content::TranscriptRole;
use roost_model::ids::RuntimeSessionId;
use testkit::soon;

use super::live::{LiveClaude, POLL, files, run_allowing};

#[tokio::test]
async fn the_hosts_id_is_the_agents_id_and_a_new_process_goes_on_with_it() {
    let live = LiveClaude::new();
    let open = live.open();
    let mut session = live.adapter.create_session(open.clone()).await.unwrap();
    let native = session.native_id().unwrap();
    assert_eq!(native.as_str(), open.session_id.as_str());
    run_allowing(&mut session, "SCRIPT:shell").await;
    session.close().await;

    std::fs::remove_file(live.work().join("out.txt")).unwrap();
    let mut session = live.adapter.resume_session(open, native.clone()).await.unwrap();
    assert_eq!(session.native_id(), Some(native));
    let done = run_allowing(&mut session, "SCRIPT:recall").await;
    assert!(done.text().contains("RECALL saw 2 prompt(s)"), "{}", done.text());
    assert!(!live.work().join("out.txt").exists(), "a tool ran again");
    assert!(done.usage()[0].cost_usd.is_some_and(|cost| cost > 0.0), "a new process counts from nothing");
    session.close().await;
}

#[tokio::test]
async fn a_fork_has_the_hosts_id_and_the_agents_memory() {
    let live = LiveClaude::new();
    let mut session = live.adapter.create_session(live.open()).await.unwrap();
    run_allowing(&mut session, "SCRIPT:text").await;
    let native = session.native_id().unwrap();
    let open = live.open();
    let mut fork = live.adapter.fork_session(open.clone(), native.clone()).await.unwrap();
    assert_eq!(fork.native_id().unwrap().as_str(), open.session_id.as_str());
    let done = run_allowing(&mut fork, "SCRIPT:recall").await;
    assert!(done.text().contains("RECALL saw 2 prompt(s): SCRIPT:text"), "{}", done.text());
    let done = run_allowing(&mut session, "SCRIPT:recall").await;
    assert!(done.text().contains("RECALL saw 2 prompt(s)"), "{}", done.text());
    fork.close().await;
    session.close().await;
    let unknown = RuntimeSessionId::from("9a375446-3ac8-4433-a468-b8faf150b5ba");
    let forked = live.adapter.fork_session(live.open(), unknown).await;
    assert!(matches!(forked, Err(AdapterError::UnknownSession(_))));
}

#[tokio::test]
async fn a_session_that_nobody_knows_is_unknown_and_is_made_anew_under_another_id() {
    let live = LiveClaude::new();
    for native in ["9a375446-3ac8-4433-a468-b8faf150b5ba", "no-uuid"] {
        let (open, native) = (live.open(), RuntimeSessionId::from(native));
        let resumed = live.adapter.resume_session(open.clone(), native.clone()).await;
        assert!(matches!(resumed, Err(AdapterError::UnknownSession(id)) if id == native));
        let session = live.adapter.create_session(open.clone()).await.unwrap();
        assert_ne!(session.native_id().unwrap().as_str(), open.session_id.as_str());
        session.close().await;
    }
}

#[tokio::test]
async fn a_session_of_another_directory_is_unknown_or_goes_on() {
    let live = LiveClaude::new();
    let mut open = live.open();
    let mut session = live.adapter.create_session(open.clone()).await.unwrap();
    run_allowing(&mut session, "SCRIPT:text").await;
    let native = session.native_id().unwrap();
    session.close().await;
    open.env.cwd = live.home().display().to_string();
    match live.adapter.resume_session(open, native).await {
        Err(AdapterError::UnknownSession(_)) => {}
        Err(error) => panic!("{error}"),
        // Newer versions find a session by its id alone.
        Ok(mut resumed) => {
            let done = run_allowing(&mut resumed, "SCRIPT:recall").await;
            assert!(done.text().contains("SCRIPT:text"), "{}", done.text());
            resumed.close().await;
        }
    }
}

#[tokio::test]
async fn of_two_that_resume_at_once_the_second_waits_for_the_first_to_let_go() {
    let live = LiveClaude::new();
    let open = live.open();
    let mut first = live.adapter.create_session(open.clone()).await.unwrap();
    run_allowing(&mut first, "SCRIPT:text").await;
    let native = first.native_id().unwrap();
    let mut second = std::pin::pin!(live.adapter.resume_session(open, native));
    tokio::select! {
        biased;
        _ = &mut second => panic!("two processes have it open"),
        () = std::future::ready(()) => {}
    }
    let close = async { first.close().await };
    let (session, ()) = tokio::join!(second, close);
    session.unwrap().close().await;
}

#[tokio::test]
async fn a_conversation_from_a_terminal_is_listed_read_and_continued_and_refused_while_it_is_open_there() {
    let live = LiveClaude::new();
    let id = "019a0000-0000-7000-8000-0000000000aa";
    let args = ["-p", "SCRIPT:shell", "--session-id", id, "--allowedTools", "Bash"];
    let output = live.bare().args(args).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let before = files(&live.home().join(".claude/projects"));
    let found = live.adapter.past_sessions(&live.env()).await.unwrap();
    assert_eq!(
        found.iter().map(|session| (session.id.as_str(), session.title.as_deref())).collect::<Vec<_>>(),
        [(id, Some("SCRIPT:shell"))]
    );
    let messages = live.adapter.past_messages(&live.env(), &id.into()).await.unwrap().unwrap();
    let roles: Vec<_> = messages.iter().map(|past| past.message.role).collect();
    use TranscriptRole::{Assistant, Tool, User};
    assert_eq!(roles, [User, Assistant, Tool, Assistant], "{messages:?}");
    assert_eq!(files(&live.home().join(".claude/projects")), before, "reading changed something");

    let stream = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--resume", id];
    let mut terminal = live.bare().args(stream).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let notes = live.home().join(".claude/sessions");
    let opened = async {
        let is_entry = |file: std::fs::DirEntry| file.path().extension().is_some_and(|extension| extension == "json");
        let is_noted = || std::fs::read_dir(&notes).is_ok_and(|mut files| files.any(|file| file.is_ok_and(is_entry)));
        while !is_noted() {
            tokio::time::sleep(POLL).await;
        }
    };
    soon("the terminal has it open", opened).await;
    let refused = live.adapter.resume_session(live.open(), id.into()).await;
    let Err(AdapterError::Runtime { message, .. }) = refused else { panic!("two processes have it open") };
    assert!(message.contains(&terminal.id().to_string()), "{message}");
    drop(terminal.stdin.take());
    terminal.wait().unwrap();

    let mut session = soon("it is resumed", live.adapter.resume_session(live.open(), id.into())).await.unwrap();
    let done = run_allowing(&mut session, "SCRIPT:recall").await;
    assert!(done.text().contains("SCRIPT:shell"), "{}", done.text());
    assert!(matches!(done.facts.last(), Some(Fact::Ended(TaskEnd::Completed(_)))));
    session.close().await;
}
