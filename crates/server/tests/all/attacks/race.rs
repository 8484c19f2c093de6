//! What changes while it is read.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use super::trapped_workspace::TrappedWorkspace;

/// How long the others may work in between.
const PACE: Duration = Duration::from_micros(200);

/// Somebody who does the same thing over and over, until dropped.
struct Busy {
    enough: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Busy {
    fn with(mut work: impl FnMut() + Send + 'static) -> Self {
        let enough = Arc::new(AtomicBool::new(false));
        let until = enough.clone();
        let thread = thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                work();
                // The watcher has to keep up with it on one core.
                thread::sleep(PACE);
            }
        });
        Self { enough, thread: Some(thread) }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.enough.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_becomes_a_link_and_a_folder_again_lets_nobody_out() {
    let mut place = TrappedWorkspace::new().await;
    let repo = place.home.join("repo");
    fs::create_dir(repo.join("swapped")).unwrap();
    fs::write(repo.join("swapped/inside"), "needle\n").unwrap();
    symlink("../outside", repo.join("away")).unwrap();
    let (one, other) = (repo.join("swapped"), repo.join("away"));
    let _swapping = Busy::with(move || renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap());
    let calls: [(&str, Value); 12] = [
        ("file/get", json!({ "path": "swapped/secret" })),
        ("file/get", json!({ "path": "swapped/inside" })),
        ("workspace/file/get", json!({ "workspace_id": "$workspace", "path": "away/secret" })),
        ("file/list", json!({ "path": "swapped" })),
        ("workspace/files/list", json!({ "workspace_id": "$workspace", "directory": "swapped", "limit": 500 })),
        ("workspace/files/list", json!({ "workspace_id": "$workspace", "directory": "away", "include_hidden": true })),
        ("repository/index/rebuild", json!({ "force": true })),
        ("repository/files/list", json!({ "recursive": true, "limit": 1000 })),
        ("repository/files/tree", json!({ "depth": 10 })),
        ("repository/search", json!({ "query": "name", "exclude_binaries": false })),
        ("repository/grep", json!({ "pattern": "c4nary" })),
        ("repository/stats", json!({})),
    ];
    for _ in 0..15 {
        for (method, params) in &calls {
            // Whatever comes of it, it tells nothing of what is outside.
            let _ = place.attack(method, params.clone()).await;
        }
    }
    place.is_untouched();
}

#[tokio::test]
async fn a_file_that_grows_while_it_is_read_is_told_as_far_as_it_was_read() {
    let mut place = TrappedWorkspace::new().await;
    let path = place.home.join("repo/growing.txt");
    let mut file = fs::File::create(&path).unwrap();
    let mut lines = 0..20_000;
    let _growing = Busy::with(move || {
        if lines.next().is_some() {
            file.write_all(b"another line\n").unwrap();
        }
    });
    for _ in 0..20 {
        let read = place.attack("file/get", json!({ "path": "growing.txt", "max_size_kb": 10_000 })).await.unwrap();
        let (content, size) = (read["content"].as_str().unwrap().len() as u64, read["size"].as_u64().unwrap());
        assert!(content <= size && read["truncated"] == json!(content < size), "{content} of {size}");
        assert_eq!(read["encoding"], "utf-8");
        place.attack("repository/grep", json!({ "pattern": "another", "limit_per_file": 3 })).await.unwrap();
    }
}
