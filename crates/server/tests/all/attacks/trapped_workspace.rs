//! A workspace full of traps, beside what nobody may touch.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::soon;
use tokio::task::JoinSet;

use super::odd::Make;
use crate::kit::{Client, Door};
use crate::player::play;
use crate::stage::unlimited;
use crate::terminal::Terminal;

/// What must never be told, wherever it is asked for.
const CANARIES: [&str; 2] = ["c4nary-name", "c4nary-content"];
/// What lies beside the workspace.
const OUTSIDE: [&str; 3] = ["outside", "other", "repo-x"];

/// A workspace full of traps.
pub(super) struct TrappedWorkspace {
    pub(super) door: Door,
    pub(super) client: Client,
    local: Client,
    token: String,
    pub(super) home: PathBuf,
    workspace: String,
    /// Everything outside as it was.
    before: BTreeMap<PathBuf, Vec<u8>>,
    _socket: UnixListener,
    _agents: JoinSet<()>,
}

impl TrappedWorkspace {
    pub(super) async fn new() -> Self {
        let mut door = Door::open_with(unlimited).await;
        let agents = play(&mut door);
        let terminal = Terminal::open(&door).with_remote();
        let home = terminal.folder.parent().unwrap().to_owned();
        for folder in OUTSIDE {
            fs::create_dir(home.join(folder)).unwrap();
            fs::write(home.join(folder).join("secret"), "c4nary-content\n").unwrap();
            fs::write(home.join(folder).join("c4nary-name"), "c4nary-content\n").unwrap();
        }
        let socket = traps(&terminal);
        let (mut client, local, token) = (door.client().await, door.local().await, door.token().await);
        let other = json!({ "path": home.join("other"), "name": "other" });
        client.call("workspace/add", other).await.unwrap();
        let workspace = door.workspace().await;
        let before = outside(&home);
        Self { door, client, local, token, home, workspace, before, _socket: socket, _agents: agents }
    }

    /// An attack as it is tried here.
    pub(super) fn filled(&self, text: &str) -> String {
        text.replace("$home", self.home.to_str().unwrap())
    }

    /// A workspace beside the first, made like this.
    pub(super) async fn workspace(&mut self, make: Make) -> String {
        let add = json!({ "path": self.home.join("odd"), "create_if_missing": true });
        let added = self.client.call("workspace/add", add).await.unwrap();
        self.remake(make);
        added["id"].as_str().unwrap().to_owned()
    }

    /// The workspace beside the first, made anew.
    pub(super) fn remake(&self, make: Make) {
        for folder in ["odd", "full"].map(|folder| self.home.join(folder)).iter().filter(|folder| folder.exists()) {
            fs::remove_dir_all(folder).unwrap();
        }
        fs::create_dir(self.home.join("odd")).unwrap();
        make(&self.home.join("odd"));
    }

    /// What is outside from now on is what must stay.
    pub(super) fn remember(&mut self) {
        self.before = outside(&self.home);
    }

    /// Calls a method; whatever comes of it tells nothing of what is outside.
    pub(super) async fn attack(&mut self, method: &str, mut params: Value) -> Result<Value, Value> {
        if params["workspace_id"] == "$workspace" {
            params["workspace_id"] = json!(self.workspace);
        }
        let outcome = self.client.call(method, params.clone()).await;
        let told = format!("{outcome:?}");
        assert!(CANARIES.iter().all(|canary| !told.contains(canary)), "{method} {params}: {told}");
        if method == "agent/run" && outcome.is_ok() {
            // The agent is free for the next one.
            let idle = async { while self.client.call("agent/status", json!({})).await.unwrap()["state"] != "idle" {} };
            soon("the agent is done", idle).await;
        }
        outcome
    }

    /// Fetches over HTTP.
    pub(super) async fn get(&self, path: &str) -> (u16, String) {
        self.door.get(path, Some(&self.token)).await
    }

    /// Sends bytes as they are to the local socket; the answer.
    pub(super) async fn local(&mut self, frame: &[u8]) -> Value {
        self.local.send_bytes(&[frame, b"\n"].concat()).await;
        self.local.reply().await
    }

    /// Everything outside is as it was, and nothing was added.
    pub(super) fn is_untouched(&self) {
        assert_eq!(outside(&self.home), self.before);
        assert!(!self.home.join("harm").exists(), "somebody's command was run");
    }
}

/// Every trap that a repository can hold.
fn traps(terminal: &Terminal) -> UnixListener {
    let repo = &terminal.folder;
    fs::create_dir(repo.join("src")).unwrap();
    for name in ["src/main.rs", "-rf", "new\nline", "*"] {
        terminal.write(name, "as it was\n");
    }
    let not_text = Path::new(std::ffi::OsStr::from_bytes(b"bad-\xff")).to_owned();
    fs::write(repo.join(&not_text), "as it was\n").unwrap();
    terminal.git(&["add", "--all"]);
    terminal.git(&["commit", "--quiet", "--message", "second"]);
    terminal.git(&["branch", "other"]);
    for name in ["src/main.rs", "-rf", "new\nline", "*"] {
        terminal.write(name, "changed\n");
    }
    let home = repo.parent().unwrap();
    for (target, link) in [
        (Path::new("../outside/secret"), "link-file"),
        (Path::new("../outside"), "link-dir"),
        (&home.join("outside/secret"), "link-absolute"),
        (Path::new("/dev/zero"), "link-device"),
        (Path::new("circle"), "circle"),
    ] {
        symlink(target, repo.join(link)).unwrap();
    }
    assert!(std::process::Command::new("mkfifo").arg(repo.join("pipe")).status().unwrap().success());
    UnixListener::bind(repo.join("socket")).unwrap()
}

/// Everything beside the workspace with what it holds.
fn outside(home: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<_> = OUTSIDE.iter().map(|folder| home.join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => _ = found.insert(entry.path(), fs::read(entry.path()).unwrap()),
            }
        }
    }
    found
}
