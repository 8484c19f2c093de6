//! The corpus of attacks, by what a parameter names.

use roost_rpc::Method;
use serde_json::{Value, json};

/// The kind of thing that a parameter names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A file or a folder.
    Path,
    /// A branch, a remote, a revision, a worktree.
    Name,
    /// The URL of a repository.
    Address,
    /// What commits are chosen by.
    Words,
}

/// Something to be tried; `$home` is the folder that the workspace lies in.
pub(super) struct Attack {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

/// What a parameter names, if it names anything that could lead astray.
pub(super) fn kind(method: Method, param: &str) -> Option<Kind> {
    match param {
        "path" | "paths" | "directory" | "cwd" | "files" | "images" => Some(Kind::Path),
        "branch" | "upstream" | "remote" | "base" | "initial_branch" => Some(Kind::Name),
        "name" if method.is_git() => Some(Kind::Name),
        "url" => Some(Kind::Address),
        "author" | "since" | "until" => Some(Kind::Words),
        _ => None,
    }
}

/// What is tried on such a parameter.
pub(super) fn attacks(kind: Kind) -> Vec<Attack> {
    let texts: &[(&str, &str)] = match kind {
        Kind::Path => &[
            ("..", ".."),
            ("up", "../outside/secret"),
            ("down and up", "src/../../outside/secret"),
            ("absolute", "$home/outside/secret"),
            ("system file", "/etc/passwd"),
            ("another workspace", "../other/secret"),
            ("a name that begins like the workspace's", "../repo-x/secret"),
            ("link to a file", "link-file"),
            ("link to a folder", "link-dir"),
            ("beyond a link", "link-dir/secret"),
            ("absolute link", "link-absolute"),
            ("link to a device", "link-device"),
            ("circle of links", "circle"),
            ("pipe", "pipe"),
            ("socket", "socket"),
            ("NUL", "a\0b"),
            ("newline", "new\nline"),
            ("not UTF-8", "bad-\u{fffd}"),
            ("option", "--output=$home/harm"),
            ("dash", "-rf"),
            ("magic", ":(top,glob)**"),
            ("star", "*"),
            ("empty", ""),
            ("long", LONG),
        ],
        Kind::Name => &[
            ("option", "--upload-pack=touch $home/harm"),
            ("dash", "-x"),
            ("output", "--output=$home/harm"),
            ("range", "main..other"),
            ("file of a revision", "HEAD:file"),
            ("path", "../outside"),
            ("absolute", "$home/outside"),
            ("NUL", "a\0b"),
            ("newline", "a\nb"),
            ("space", "a b"),
            ("empty", ""),
            ("nowhere", "nowhere"),
            ("long", LONG),
        ],
        Kind::Address => &[
            ("option", "--upload-pack=touch $home/harm"),
            ("command", "ext::sh -c touch% $home/harm"),
            ("helper", "fd::17"),
            ("option for ssh", "ssh://-oProxyCommand=touch$home/harm/x"),
            ("short option for ssh", "-oProxyCommand=touch$home/harm:x"),
            ("newline", "https://x\n[core]sshCommand=x"),
            ("empty", ""),
        ],
        Kind::Words => &[
            ("option", "--output=$home/harm"),
            ("newline", "x\n--output=$home/harm"),
            ("NUL", "a\0b"),
            ("expression", "(((((("),
        ],
    };
    texts.iter().map(|(name, text)| Attack { name, text }).collect()
}

/// Longer than any file system takes.
const LONG: &str = const {
    match std::str::from_utf8(&[b'x'; 5000]) {
        Ok(text) => text,
        Err(_) => "",
    }
};

/// The parameters of a method with an attack on one of them.
pub(super) fn params(method: Method, param: &str, attack: &str) -> Value {
    let mut params = match method {
        Method::WorkspaceFileGet | Method::WorkspaceFilesList => json!({ "workspace_id": "$workspace" }),
        Method::RepositoryGrep => json!({ "pattern": "c4nary" }),
        Method::SessionSend => json!({ "workspace_id": "$workspace", "prompt": "hello" }),
        Method::SessionFork => json!({ "session_id": "none" }),
        Method::AgentRun => json!({ "prompt": "hello" }),
        Method::GitUpstreamSet => json!({ "branch": "main", "upstream": "origin/main" }),
        Method::GitRemoteAdd => json!({ "name": "copy", "url": "https://127.0.0.1:1/x", "fetch": true }),
        Method::WorktreeAdd => json!({ "name": "aside" }),
        _ => json!({}),
    };
    params[param] = match param {
        "paths" | "files" => json!([attack]),
        "images" => json!([{ "path": attack }]),
        _ => json!(attack),
    };
    params
}
