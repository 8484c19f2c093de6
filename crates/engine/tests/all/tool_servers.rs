//! The tool servers that a session is opened with: the host's for every session, and its own.

use std::sync::Arc;

use roost_engine::adapter::{McpServer, McpServerTransport};
use roost_engine::{Fork, NewSession};
use roost_log::{Log, RowKind};
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use testkit::fake::How;
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
        config.mcp_servers = Arc::new(|session| vec![server("house", session.as_str()), server("notes", "of all")]);
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
