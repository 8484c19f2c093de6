//! The tool servers that a session is opened with: the host's for every session, and its own.

use std::sync::Arc;

use roost_engine::adapter::{McpServer, McpServerTransport};
use roost_engine::{Engine, Fork, NewSession, SESSION_TOKEN_PREFIX};
use roost_log::{Log, LogOptions, RowKind, SqliteLog};
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use testkit::fake::{FakeSession, FakeTask, How};
use testkit::{Harness, Home};

fn server(name: &str, secret: &str) -> McpServer {
    let headers = [("authorization".to_owned(), secret.to_owned())].into();
    McpServer {
        name: name.into(),
        transport: McpServerTransport::Http { url: "http://127.0.0.1:1/mcp".into(), headers },
    }
}

/// An engine whose host gives every session two servers, one of which knows whose it is.
async fn host(home: Home) -> Harness {
    home.start_with(|config| {
        config.mcp_servers = Arc::new(|session, _| vec![server("house", session.as_str()), server("notes", "of all")]);
    })
    .await
}

/// The servers that the session's runtime is opened with by this prompt.
async fn opened_with(host: &mut Harness, session: &SessionId) -> Vec<McpServer> {
    host.begin(session, "go").await;
    let opening = host.runtimes().opening().await;
    let (How::Create(open) | How::Resume(open, _) | How::Fork(open, _)) = &opening.how else { panic!() };
    open.mcp_servers.clone()
}

#[tokio::test]
async fn a_session_has_the_hosts_servers_and_its_own_also_after_a_restart_and_in_a_fork() {
    let mut host = host(Home::new()).await;
    let plain = host.session().await;
    let own = vec![server("notes", "of this one"), server("mine", "hush")];
    let new = NewSession { mcp_servers: own.clone(), ..host.new_session(Mode::Ask) };
    let session = host.engine.create_session(new).await.unwrap();
    let fork = host.engine.fork(session.as_str(), Fork::default()).await.unwrap();
    let told = format!("{:?}{:?}", host.record(&session).await, host.events(&session).await);
    assert!(!told.contains("hush") && !told.contains("of this one"), "{told}");
    for round in ["at first", "after a restart"] {
        assert_eq!(opened_with(&mut host, &plain).await, [server("house", plain.as_str()), server("notes", "of all")]);
        for session in [&session, &fork] {
            let expected: Vec<_> = [server("house", session.as_str())].into_iter().chain(own.clone()).collect();
            assert_eq!(opened_with(&mut host, session).await, expected, "{round}");
        }
        host = self::host(host.stop().await).await;
    }
    host.engine.hide(session.as_str()).await.unwrap();
    host.engine.hide(fork.as_str()).await.unwrap();
    assert!(host.log.rows(RowKind::Session).await.unwrap().is_empty());
    host.stop().await;
}

/// An engine that gives every session a server with the session's token.
async fn host_with_tokens(home: Home) -> Harness {
    home.start_with(|config| {
        config.mcp_servers = Arc::new(|_, token| vec![server("roost", token.expose())]);
    })
    .await
}

/// The token of the runtime that is opened next, and the runtime.
async fn token_of(host: &mut Harness, session: &SessionId) -> (String, FakeSession, FakeTask) {
    host.begin(session, "go").await;
    let opening = host.runtimes().opening().await;
    let (How::Create(open) | How::Resume(open, _)) = &opening.how else { panic!() };
    let McpServerTransport::Http { headers, .. } = &open.mcp_servers[0].transport else { panic!() };
    let token = headers["authorization"].clone();
    let mut runtime = opening.accept();
    let task = runtime.task().await;
    (token, runtime, task)
}

#[tokio::test]
async fn a_token_belongs_to_one_session_and_dies_with_its_runtime() {
    let mut host = host_with_tokens(Home::new()).await;
    let (one, other) = (host.session().await, host.session().await);
    let (first, _runtime, task) = token_of(&mut host, &one).await;
    let (second, _second_runtime, _second_task) = token_of(&mut host, &other).await;
    assert!(first.starts_with(SESSION_TOKEN_PREFIX) && first != second);
    assert_eq!(host.engine.session_of_token(&first).as_ref(), Some(&one));
    assert_eq!(host.engine.session_of_token(&second).as_ref(), Some(&other));
    assert_eq!(host.engine.session_of_token("roost_a_0000"), None);
    let stored = format!("{:?}", host.log.rows(RowKind::Secret).await.unwrap());
    assert!(!stored.contains(&first) && !stored.contains(&second), "only hashes are stored");
    task.finish().await;
    host.engine.close(one.as_str(), "over").await.unwrap();
    assert_eq!(host.engine.session_of_token(&first), None, "its runtime is gone");
    let (third, _third_runtime, _third_task) = token_of(&mut host, &one).await;
    assert_eq!(host.engine.session_of_token(&first), None, "the next runtime has another one");
    assert_eq!(host.engine.session_of_token(&third).as_ref(), Some(&one));
    let told = format!("{:?}{:?}", host.record(&one).await, host.events(&one).await);
    assert!(!told.contains(&third), "{told}");
    host = host_with_tokens(host.stop().await).await;
    assert_eq!((host.engine.session_of_token(&second), host.engine.session_of_token(&third)), (None, None));
    assert!(host.log.rows(RowKind::Secret).await.unwrap().is_empty());
    host.stop().await;
}

#[tokio::test]
async fn after_a_crash_only_the_token_of_a_runtime_that_lives_on_is_valid() {
    let mut host = host_with_tokens(Home::new()).await;
    let (lives, dies) = (host.session().await, host.session().await);
    let (kept, _kept_runtime, _kept_task) = token_of(&mut host, &lives).await;
    let (lost, _lost_runtime, _lost_task) = token_of(&mut host, &dies).await;
    let mut home = host.crash().await;
    home.leave_process(&lives);
    home.adapter.offer_survivors();
    let (log, adapter) = (home.lock().await, home.runtimes());
    let log = SqliteLog::open(&log, LogOptions::default()).unwrap();
    let starting = Engine::start(Arc::new(log), adapter, home.config(|_| {}));
    let (engine, _running) = tokio::join!(starting, async { home.runtimes.opening().await.accept_running("native") });
    let engine = engine.unwrap();
    assert_eq!(engine.session_of_token(&kept).as_ref(), Some(&lives));
    assert_eq!(engine.session_of_token(&lost), None);
    engine.shutdown("over").await;
    assert_eq!(engine.session_of_token(&kept), None);
}
