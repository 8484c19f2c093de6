//! A server that somebody else runs, and connections to it that break.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use roost_engine::adapter::{AdapterError, Availability, Fact, McpServer, McpServerTransport, RuntimeAdapter};
use roost_model::payload::ModelOutputDeltaKind;
use roost_model::runtime::RuntimeIsolationMode;
use serde_json::json;
use testkit::agents::{Agent, Sandbox};
use testkit::model::{End, RecordedRequest};
use testkit::soon;
use tokio::net::{TcpListener, TcpStream as Stream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::live::{Live, stopped};
use crate::codex::MODEL;
use crate::codex::live::{Say, WatchedTask, completed, run};

const PASSWORD: &str = "open sesame";

/// A server that a test runs; it ends with the test.
struct External {
    child: Child,
    address: String,
}

impl External {
    /// Starts in a folder that is not the one to work in.
    fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command(Agent::OpenCode);
        command.args(["serve", "--port", "0", "--hostname", "127.0.0.1"]).env("OPENCODE_SERVER_PASSWORD", PASSWORD);
        command.current_dir(sandbox.home()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let address = lines.find_map(|line| line.strip_prefix("opencode server listening on http://").map(Into::into));
        Self { child, address: address.expect("it listens") }
    }

    /// What it answers to whoever asks.
    fn get(&self, path: &str) -> String {
        use base64::Engine;
        let login = base64::engine::general_purpose::STANDARD.encode(format!("opencode:{PASSWORD}"));
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {login}\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }
}

impl Drop for External {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An OpenCode that uses the server at this address.
fn at(address: &str, live: Live) -> Live {
    let mut live = live;
    live.env.insert("OPENCODE_SERVER_PASSWORD".into(), PASSWORD.into());
    let url = format!("http://{address}").parse().unwrap();
    Live { adapter: live.adapter.at(Some(url)), ..live }
}

/// What stands between us and a server, and can be broken.
struct Proxy {
    address: String,
    /// Each change breaks every connection.
    cut: watch::Sender<()>,
    /// New connections are broken at once.
    closed: Arc<AtomicBool>,
    _task: JoinSet<()>,
}

impl Proxy {
    async fn to(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (cut, cuts) = watch::channel(());
        let closed = Arc::new(AtomicBool::new(false));
        let (server, is_closed) = (server.to_owned(), closed.clone());
        let mut task = JoinSet::new();
        task.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut from, _)) = listener.accept().await {
                if is_closed.load(Ordering::Relaxed) {
                    continue;
                }
                let (server, mut cuts) = (server.clone(), cuts.clone());
                cuts.mark_unchanged();
                connections.spawn(async move {
                    let mut to = Stream::connect(server).await.unwrap();
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut from, &mut to) => {}
                        _ = cuts.changed() => {}
                    }
                });
            }
        });
        Self { address, cut, closed, _task: task }
    }

    fn cut(&self) {
        self.cut.send_replace(());
    }
}

/// What was said in pieces.
fn pieces(task: &WatchedTask) -> String {
    let pieces = task.facts().filter_map(|fact| match fact {
        Fact::Delta(piece) if piece.kind == ModelOutputDeltaKind::TextDelta => Some(piece.delta.as_str()),
        _ => None,
    });
    pieces.collect()
}

#[tokio::test]
async fn a_server_of_somebody_elses_is_used_and_left_alone() {
    let live = Live::with("no-such-opencode".into());
    let mut server = External::start(&live.sandbox);
    let live = at(&server.address, live);
    let Availability::Installed { version } = live.adapter.availability(&live.env()).await else { panic!() };
    assert_eq!(version, Some(Agent::OpenCode.version()));
    assert_eq!(live.adapter.capabilities().supported_isolation_modes, [RuntimeIsolationMode::ServerSide]);

    let mut session = live.session().await;
    let native = session.native_id().unwrap();
    let (end, task) = run(&mut session, "SCRIPT:shell", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert!(task.sent.unwrap().implicit_sources.disabled, "what it reads is on its disk, not on ours");
    assert_eq!(std::fs::read_to_string(live.sandbox.work().join("out.txt")).unwrap(), "hi\n");
    session.close().await;
    live.until_nothing_is_left().await;
    assert!(server.child.try_wait().unwrap().is_none(), "the server is not ours to end");

    let found = live.adapter.past_sessions(&live.env()).await.unwrap();
    assert_eq!(found.iter().map(|past| &past.id).collect::<Vec<_>>(), [&native]);
    let messages = live.adapter.past_messages(&live.env(), &native).await.unwrap().unwrap();
    assert_eq!(messages.len(), 4, "{messages:?}");
    let mut session = live.resume(&native).await.unwrap();
    let (_, task) = run(&mut session, "SCRIPT:recall", Say::Yes).await;
    assert!(task.text().contains("RECALL saw 2 prompt(s)"), "{}", task.text());
    session.close().await;
}

#[tokio::test]
async fn two_sessions_of_one_server_hear_only_of_themselves_and_leave_nothing_waiting() {
    let live = Live::new();
    let server = External::start(&live.sandbox);
    let live = at(&server.address, live);
    let (mut one, mut other) = (live.session().await, live.session().await);
    let mut asking = WatchedTask::begin(&mut one, "SCRIPT:shell").await;
    asking.asks().await;
    let (end, task) = run(&mut other, "SCRIPT:text", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert!(!task.facts().any(|fact| matches!(fact, Fact::ToolRequested(_) | Fact::ToolAsks(_))), "{:#?}", task.seen);

    asking.stop().await;
    let end = asking.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    let directory = live.env().cwd.replace('/', "%2F");
    testkit::soon("OpenCode forgets what it asked", async {
        while !server.get(&format!("/permission?directory={directory}")).contains("[]") {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
    assert!(completed(&run(&mut one, "SCRIPT:text", Say::Yes).await.0));
    one.close().await;
    other.close().await;
}

#[tokio::test]
async fn a_server_that_cannot_be_used_is_named_and_told_nothing_that_it_cannot_take() {
    let live = at("127.0.0.1:9", Live::new());
    let Availability::Missing { reason } = live.adapter.availability(&live.env()).await else { panic!() };
    assert!(reason.contains("http://127.0.0.1:9") && reason.contains("OPENCODE_SERVER_PASSWORD"), "{reason}");
    let refused = live.adapter.create_session(live.open()).await.map(|_| ());
    let Err(AdapterError::Spawn(message)) = refused else { panic!("{refused:?}") };
    assert_eq!(message, reason);

    let mut open = live.open();
    open.input.runtime_config = json!({ "model": "a/b" }).as_object().cloned();
    let refused = live.adapter.create_session(open).await.map(|_| ());
    let Err(AdapterError::Spawn(message)) = refused else { panic!("{refused:?}") };
    assert!(message.contains("settings"), "{message}");
    let transport = McpServerTransport::Http { url: "http://127.0.0.1:9".into(), headers: Default::default() };
    let mut open = live.open();
    open.mcp_servers = vec![McpServer { name: "weather".into(), transport }];
    let refused = live.adapter.create_session(open).await.map(|_| ());
    let Err(AdapterError::Spawn(message)) = refused else { panic!("{refused:?}") };
    assert!(message.contains("tool servers"), "{message}");

    let mut open = live.open();
    open.env.credential_namespace = "work".into();
    let refused = live.adapter.create_session(open).await.map(|_| ());
    let Err(AdapterError::Spawn(message)) = refused else { panic!("{refused:?}") };
    assert!(message.contains("credential namespace"), "{message}");
    let mut open = live.open();
    open.env.isolation = serde_json::from_value(json!({ "mode": "subprocess", "homeDir": "/elsewhere" })).unwrap();
    let refused = live.adapter.create_session(open).await.map(|_| ());
    let Err(AdapterError::Spawn(message)) = refused else { panic!("{refused:?}") };
    assert!(message.contains("isolation"), "{message}");
}

/// A server that says of itself that it is this old.
fn pretend(version: &str) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let health = json!({ "healthy": true, "version": version }).to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let length = health.len();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{health}"
            );
        }
    });
    address
}

#[tokio::test]
async fn a_server_that_is_too_old_is_not_used() {
    let live = at(&pretend("1.2.27"), Live::new());
    let opened = soon("it is refused", live.adapter.create_session(live.open())).await.map(|_| ());
    let Err(AdapterError::Spawn(message)) = opened else { panic!("{opened:?}") };
    assert!(message.contains("1.2.27 is too old"), "{message}");
}

fn question(fact: &Fact) -> Option<()> {
    matches!(fact, Fact::Question(_)).then_some(())
}

#[tokio::test]
async fn a_question_of_a_turn_that_was_stopped_is_not_asked_again_after_a_connection_broke() {
    let live = Live::new();
    let server = External::start(&live.sandbox);
    let proxy = Proxy::to(&server.address).await;
    let live = at(&proxy.address, live);
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:ask").await;
    task.until(question).await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    let directory = live.env().cwd.replace('/', "%2F");
    soon("OpenCode forgets what it asked", async {
        while !server.get(&format!("/question?directory={directory}")).contains("[]") {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:shell").await;
    let call = task.asks().await;
    proxy.cut();
    task.say(&call, Say::Yes).await;
    let end = task.end(Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert_eq!(task.facts().filter_map(question).count(), 0, "{:#?}", task.seen);
    session.close().await;
}

#[tokio::test]
async fn a_connection_that_breaks_while_somebody_is_asked_asks_once() {
    let live = Live::new();
    let server = External::start(&live.sandbox);
    let proxy = Proxy::to(&server.address).await;
    let live = at(&proxy.address, live);
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:shell").await;
    let call = task.asks().await;
    proxy.cut();
    task.say(&call, Say::Yes).await;
    let end = task.end(Say::No("it asked twice")).await;
    assert!(completed(&end), "{end:?}");
    assert_eq!(task.facts().filter(|fact| matches!(fact, Fact::ToolAsks(_))).count(), 1, "{:#?}", task.seen);
    assert_eq!(pieces(&task), task.text());
    assert_eq!(std::fs::read_to_string(live.sandbox.work().join("out.txt")).unwrap(), "hi\n");
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    session.close().await;
}

#[tokio::test]
async fn a_connection_that_breaks_in_a_stream_loses_nothing_of_it() {
    let live = Live::new();
    let server = External::start(&live.sandbox);
    let proxy = Proxy::to(&server.address).await;
    let live = at(&proxy.address, live);
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:work").await;
    task.until(|fact| matches!(fact, Fact::Delta(_)).then_some(())).await;
    proxy.cut();
    let end = task.end(Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert_eq!(pieces(&task), task.text());
    assert_eq!(task.text().matches("tick49").count(), 2, "{}", task.text());
    session.close().await;
}

#[tokio::test]
async fn a_turn_that_ended_while_nobody_listened_is_told_to_its_end() {
    let live = Live::new();
    let server = External::start(&live.sandbox);
    let proxy = Proxy::to(&server.address).await;
    let live = at(&proxy.address, live);
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:text").await;
    proxy.closed.store(true, Ordering::Relaxed);
    proxy.cut();
    let answered = |requests: &Vec<RecordedRequest>| {
        requests.iter().any(|one| one.script.is_some() && one.end == End::Answered(200))
    };
    MODEL.requests_when("the model has answered", answered).await;
    proxy.closed.store(false, Ordering::Relaxed);
    let end = task.end(Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert_eq!(task.text(), "Hello from the scripted model, streaming in several deltas.");
    session.close().await;
}
