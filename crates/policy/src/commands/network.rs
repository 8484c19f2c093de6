//! Commands that talk to the network.

use super::{Args, git};

/// Programs that only make sense with the network.
const ALWAYS: [&str; 30] = [
    "apk",
    "apt",
    "apt-get",
    "aria2c",
    "brew",
    "curl",
    "dig",
    "dnf",
    "ftp",
    "gh",
    "glab",
    "host",
    "httpie",
    "nc",
    "ncat",
    "netcat",
    "npx",
    "nslookup",
    "pacman",
    "ping",
    "rsync",
    "scp",
    "sftp",
    "socat",
    "ssh",
    "telnet",
    "traceroute",
    "wget",
    "yum",
    "bunx",
];
/// Subcommands of package managers that download something.
const FETCHES: [&str; 16] = [
    "add", "ci", "create", "download", "exec", "fetch", "get", "i", "install", "mod", "outdated", "search", "sync",
    "update", "upgrade", "x",
];
/// Package managers whose first argument is checked against [`FETCHES`].
const MANAGERS: [&str; 17] = [
    "bun", "bundle", "cargo", "composer", "conda", "deno", "gem", "go", "npm", "pip", "pip3", "pipx", "pnpm", "poetry",
    "uv", "yarn", "rustup",
];

pub(super) fn matches(program: &str, args: Args<'_>) -> bool {
    match program {
        "git" => {
            let remote = ["push", "pull", "fetch", "clone", "ls-remote", "submodule", "lfs", "svn", "send-email"];
            let git = git::parse(args);
            let asks = |rest: Args<'_>| rest.has("update") || rest.has("show") || rest.has("prune");
            remote.contains(&git.command) || (git.command == "remote" && asks(Args(git.rest)))
        }
        // Without a command, it installs.
        "yarn" if args.0.is_empty() => true,
        "python" | "python3" => args.has("pip"),
        manager if MANAGERS.contains(&manager) => {
            let command = args.certain().find(|arg| !arg.starts_with(['-', '+']));
            command.is_some_and(|command| FETCHES.contains(&command) || (manager == "uv" && command == "pip"))
        }
        other => ALWAYS.contains(&other),
    }
}
