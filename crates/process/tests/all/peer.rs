//! Who is at the other end of a socket.

use std::{
    os::unix::net::{UnixListener, UnixStream},
    path::PathBuf,
    process::Command,
};

use roost_process::{Peer, peer_of};

use crate::support::{TestHost, probe, quick};

fn listen(place: &TestHost) -> (UnixListener, PathBuf) {
    let path = place.directory.path().join("door");
    (UnixListener::bind(&path).unwrap(), path)
}

#[tokio::test]
async fn a_process_of_a_runtime_is_known_by_its_label_even_as_an_orphan_without_an_environment() {
    for how in ["connect", "connect-as-orphan"] {
        let place = TestHost::new(quick());
        let (listener, path) = listen(&place);
        let (_, running) = place.spawn(probe(), &[how, path.to_str().unwrap(), "stay"]).await;
        let (socket, _) = tokio::task::spawn_blocking(move || listener.accept()).await.unwrap().unwrap();
        assert_eq!(peer_of(&socket), Peer::Inside { label: Some("test".into()) }, "{how}");
        running.control.stop().await;
        assert_eq!(peer_of(&socket), Peer::Unknown, "{how}: nobody can be asked any more");
    }
}

#[test]
fn a_process_that_is_gone_before_it_is_looked_at_is_unknown() {
    let place = TestHost::new(quick());
    let (listener, path) = listen(&place);
    assert!(Command::new(probe()).arg("connect").arg(path).status().unwrap().success());
    let (socket, _) = listener.accept().unwrap();
    assert_eq!(peer_of(&socket), Peer::Unknown);
}

#[test]
fn what_this_process_started_itself_is_not_the_user_but_this_process_is() {
    let place = TestHost::new(quick());
    let (listener, path) = listen(&place);
    let mut child = Command::new(probe()).arg("connect").arg(&path).arg("stay").spawn().unwrap();
    let (socket, _) = listener.accept().unwrap();
    assert_eq!(peer_of(&socket), Peer::Inside { label: None });
    child.kill().unwrap();
    child.wait().unwrap();
    let _own = UnixStream::connect(path).unwrap();
    let (socket, _) = listener.accept().unwrap();
    assert_eq!(peer_of(&socket), Peer::Outside);
}
