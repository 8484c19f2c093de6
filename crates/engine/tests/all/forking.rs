//! Sessions that go on from others, which stay as they were.

use roost_engine::adapter::AdapterError;
use roost_engine::{Adoption, Error, Fork, NAMESPACE};
use roost_model::content::TranscriptContentBlock as Block;
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use testkit::fake::{FakeTask, How};
use testkit::{Harness, Home, facts};

/// Says something to a session whose runtime is open or new, and waits for the answer.
async fn say(host: &mut Harness, session: &SessionId, text: &str, answer: &str) {
    let task = host.begin(session, text).await;
    let (_runtime, agent) = host.runtimes().task().await;
    agent.say(facts::output(answer)).await;
    agent.finish().await;
    host.wait_for_end(session, &task).await;
    host.engine.close(session.as_str(), "the test says so").await.unwrap();
}

/// A closed session with a question and its answer.
async fn source(host: &mut Harness) -> SessionId {
    let session = host.session_in(Mode::AcceptEdits).await;
    say(host, &session, "what is a hen", "a bird").await;
    session
}

fn history(agent: &FakeTask) -> Vec<String> {
    let text = |block: &Block| match block {
        Block::Text { text } => text.clone(),
        other => panic!("{other:?}"),
    };
    agent.input().history.iter().map(|message| text(&message.content[0])).collect()
}

#[tokio::test]
async fn a_fork_is_what_its_session_is_and_its_runtime_forks_its_own() {
    let mut host = Harness::start().await;
    let session = source(&mut host).await;
    let fork = host.engine.fork(session.as_str(), Fork::default()).await.unwrap();
    let (old, new) = (host.record(&session).await, host.record(&fork).await);
    assert_eq!((new.cwd, new.mode, new.title, new.messages), (old.cwd, old.mode, old.title, old.messages));
    assert_eq!(new.forked.map(|from| (from.session_id, from.tasks)), Some((session.clone(), 1)));

    host.begin(&fork, "and an egg").await;
    let opening = host.runtimes().opening().await;
    let How::Fork(open, native) = &opening.how else { panic!("{:?}", opening.how) };
    assert_eq!((&open.session_id, native.as_str()), (&fork, format!("native-{session}").as_str()));
    let agent = opening.accept().task().await;
    assert_eq!(history(&agent), [""; 0], "it remembers by itself");
    agent.finish().await;
    host.wait_for_end(&fork, &agent.input().task_id).await;
    host.engine.close(fork.as_str(), "the test says so").await.unwrap();

    host.begin(&fork, "and a nest").await;
    let opening = host.runtimes().opening().await;
    assert!(matches!(&opening.how, How::Resume(_, own) if own.as_str() == format!("native-{fork}")));
    drop(opening);
    assert_eq!(host.record(&session).await.tasks, 1);
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_cannot_fork_is_told_what_was_said_in_all_that_the_fork_comes_from() {
    let mut host = Harness::start().await;
    let session = source(&mut host).await;
    let fork = host.engine.fork(session.as_str(), Fork::default()).await.unwrap();
    host.begin(&fork, "and an egg").await;
    host.runtimes().opening().await.refuse(AdapterError::Unsupported("fork a session"));
    let opening = host.runtimes().opening().await;
    assert!(matches!(opening.how, How::Create(_)));
    let agent = opening.accept().task().await;
    assert_eq!(history(&agent), ["what is a hen", "a bird"]);
    agent.say(facts::output("a small bird")).await;
    agent.finish().await;
    host.wait_for_end(&fork, &agent.input().task_id).await;
    host.engine.close(fork.as_str(), "the test says so").await.unwrap();

    let second = host.engine.fork(fork.as_str(), Fork::default()).await.unwrap();
    host.begin(&second, "and a nest").await;
    host.runtimes().opening().await.refuse(AdapterError::UnknownSession("gone".into()));
    let agent = host.runtimes().opening().await.accept().task().await;
    assert_eq!(history(&agent), ["what is a hen", "a bird", "and an egg", "a small bird"]);
    host.stop().await;
}

#[tokio::test]
async fn what_is_said_in_a_session_after_it_was_forked_is_not_known_to_the_fork() {
    let mut host = Harness::start().await;
    let session = source(&mut host).await;
    let fork = host.engine.fork(session.as_str(), Fork::default()).await.unwrap();
    say(&mut host, &session, "what is a dog", "no bird").await;
    host.begin(&fork, "and an egg").await;
    let opening = host.runtimes().opening().await;
    assert!(matches!(opening.how, How::Create(_)), "its runtime would fork too much: {:?}", opening.how);
    assert_eq!(history(&opening.accept().task().await), ["what is a hen", "a bird"]);
    host.stop().await;
}

#[tokio::test]
async fn a_fork_of_what_began_elsewhere_knows_that_too() {
    const ID: &str = "019a0000-0000-7000-8000-000000000001";
    let home = Home::new();
    home.adapter.past.keep(home.path(), ID, 1, &["what is a hen", "a bird"]);
    let mut host = home.start().await;
    let cwd = host.home.path().to_str().unwrap().to_owned();
    let mut kept = host.engine.native_history().list(&cwd, &[NAMESPACE.to_owned()].into(), None).await.sessions;
    let session = host.engine.adopt(&kept.remove(0), Adoption::default()).await.unwrap();
    let fork = host.engine.fork(session.as_str(), Fork::default()).await.unwrap();
    host.begin(&fork, "and an egg").await;
    let opening = host.runtimes().opening().await;
    assert!(matches!(&opening.how, How::Fork(_, native) if native.as_str() == ID));
    opening.refuse(AdapterError::Unsupported("fork a session"));
    let agent = host.runtimes().opening().await.accept().task().await;
    assert_eq!(history(&agent), ["what is a hen", "a bird"]);
    host.stop().await;
}

#[tokio::test]
async fn a_session_that_works_cannot_be_forked() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "what is a hen").await;
    let (_runtime, _agent) = host.runtimes().task().await;
    let refused = host.engine.fork(session.as_str(), Fork::default()).await.unwrap_err();
    assert!(matches!(&refused, Error::Working(id) if *id == session), "{refused}");
    host.stop().await;
}
