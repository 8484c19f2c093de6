//! Commands that cannot be undone or that reach beyond the workspace.
//!
//! One named file that goes (`rm a`) is a write like one that is overwritten; what may take a tree along is dangerous.

use super::{Args, git};
use crate::shell::{is_shell, without_version};

/// Programs that are dangerous with any argument: other users, disks, machines, clouds, other processes, those that
/// hand work to a process outside the agent's own, and the commands that make a shell run something else than it says.
const ALWAYS: [&str; 63] = [
    "alias",
    "at",
    "aws",
    "az",
    "batch",
    "chroot",
    "crontab",
    "dd",
    "doas",
    "docker",
    "enable",
    "eval",
    "fdisk",
    "gcloud",
    "gosu",
    "halt",
    "init",
    "insmod",
    "iptables",
    "kill",
    "killall",
    "kubectl",
    "launchctl",
    "modprobe",
    "mount",
    "nft",
    "nsenter",
    "osascript",
    "parted",
    "passwd",
    "pkexec",
    "pkill",
    "podman",
    "poweroff",
    "reboot",
    "rimraf",
    "rmmod",
    "run0",
    "screen",
    "service",
    "setcap",
    "shred",
    "shutdown",
    "su",
    "su-exec",
    "sudo",
    "sudoedit",
    "swapoff",
    "swapon",
    "sysctl",
    "systemctl",
    "systemd-run",
    "terraform",
    "tmux",
    "tofu",
    "trap",
    "ufw",
    "umount",
    "useradd",
    "userdel",
    "usermod",
    "visudo",
    "wipefs",
];

/// Package managers' commands that publish, for all to see.
const PUBLISHES: [&str; 8] = ["publish", "unpublish", "yank", "owner", "login", "deprecate", "push", "token"];

/// The commands of Roost itself that only show something. With any other, an agent would decide about itself: answer
/// its own questions, let devices in, add workspaces, start agents with a mode of its choice, or end its host.
const ROOST_READS: [&str; 9] = ["doctor", "files", "git", "help", "log", "runtimes", "search", "sessions", "status"];

pub(super) fn matches(program: &str, args: Args<'_>) -> bool {
    match program {
        "rm" => {
            let uncertain = args.0.iter().any(|arg| arg.literal().is_none());
            uncertain || args.has_short("rRfd") || args.certain().any(|arg| arg.starts_with("--") && arg.len() > 2)
        }
        "chmod" | "chown" | "chgrp" => args.has_short("R") || args.has_long(&["--recursive"]),
        "find" => args.has("-delete"),
        "git" => git_is(args),
        "cargo" | "npm" | "pnpm" | "yarn" | "bun" | "gem" | "poetry" | "uv" => {
            args.certain().find(|arg| !arg.starts_with('-')).is_some_and(|command| PUBLISHES.contains(&command))
        }
        "twine" => args.has("upload"),
        "rsync" => args.certain().any(|arg| arg.starts_with("--del") || arg == "--remove-source-files"),
        "tar" => {
            args.has_long(&["--checkpoint-action", "--to-command", "--use-compress-program", "--rsh-command"])
                || args.has_short("I")
        }
        "tee" => args.certain().any(|arg| arg.starts_with("/dev/") && arg != "/dev/null" && arg != "/dev/stderr"),
        "gh" | "glab" => args.has("delete"),
        "roost" => !args.certain().next().is_some_and(|command| ROOST_READS.contains(&command)),
        other => ALWAYS.contains(&other) || other.starts_with("mkfs"),
    }
}

fn git_is(args: Args<'_>) -> bool {
    let git = git::parse(args);
    let rest = Args(git.rest);
    if git.reconfigured || git.command.is_empty() {
        return true;
    }
    match git.command {
        "push" => {
            let deletes_or_forces = |arg: &str| arg.starts_with(['+', ':']);
            rest.has_short("fd")
                || rest.has_long(&["--force", "--force-with-lease", "--mirror", "--delete", "--prune"])
                || rest.certain().any(deletes_or_forces)
        }
        "reset" => rest.has_long(&["--hard"]),
        "clean" => {
            let dry = rest.has_short("n") || rest.has_long(&["--dry-run"]);
            !dry || rest.has_long(&["--no-dry-run", "--force"]) || rest.has_short("f")
        }
        "stash" => rest.has("drop") || rest.has("clear"),
        "branch" => rest.has_short("Df") || rest.has_long(&["--force"]),
        "reflog" => rest.has("expire") || rest.has("delete"),
        "update-ref" => rest.has_short("d") || rest.has_long(&["--stdin"]),
        // What was not committed is gone.
        "checkout" => rest.has_short("f") || rest.has_long(&["--force"]) || rest.has("--") || rest.has("."),
        "restore" => !rest.has_long(&["--staged"]) || rest.has_long(&["--worktree"]),
        "rm" => rest.has_short("rf") || rest.has_long(&["--force"]),
        "worktree" => rest.has("remove") && (rest.has_short("f") || rest.has_long(&["--force"])),
        "config" => configures_a_program(rest),
        "filter-branch" | "filter-repo" | "prune" => true,
        _ => false,
    }
}

/// Whether a setting of git is changed that may name a program; those of the list do not.
fn configures_a_program(args: Args<'_>) -> bool {
    const PLAIN: [&str; 7] = ["user.", "color.", "init.", "pull.", "push.", "branch.", "advice."];
    let reads = ["--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"];
    let mut names = args.certain().filter(|arg| !arg.starts_with('-') && *arg != "set" && arg.contains('.'));
    let plain = names.next().is_some_and(|name| PLAIN.iter().any(|start| name.starts_with(start)));
    !plain && !args.certain().any(|arg| reads.contains(&arg))
}

/// Whether a program runs what is piped into it.
pub(super) fn runs_its_input(program: &str, args: Args<'_>) -> bool {
    let stdin = args.has("/dev/stdin") || args.has("-");
    let script = args.certain().any(|arg| !arg.starts_with('-'));
    match without_version(program) {
        "python" | "node" | "nodejs" | "perl" | "ruby" | "php" | "deno" | "bun" | "pypy" | "lua" | "luajit"
        | "tclsh" | "osascript" | "R" | "Rscript" | "julia" => stdin || !script,
        "." | "source" | "awk" | "gawk" | "mawk" | "make" | "gmake" | "sed" => stdin,
        "parallel" => !script,
        other => is_shell(other),
    }
}
