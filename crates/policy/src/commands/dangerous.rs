//! Commands that cannot be undone or that reach beyond the workspace.
//!
//! One named file that goes (`rm a`) is a write like one that is overwritten; what may take a tree along is dangerous.

use super::{Args, git};
use crate::shell::SHELLS;

/// Programs that are dangerous with any argument: other users, disks, machines, clouds, other processes, and the
/// commands that make a shell run something else than it says.
const ALWAYS: [&str; 55] = [
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
    "rmmod",
    "service",
    "setcap",
    "shred",
    "shutdown",
    "su",
    "sudo",
    "swapoff",
    "swapon",
    "sysctl",
    "systemctl",
    "terraform",
    "trap",
    "ufw",
    "umount",
    "useradd",
    "userdel",
    "usermod",
    "visudo",
    "wipefs",
    "tofu",
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
        "gh" | "glab" => args.has("delete"),
        "roost" => !args.certain().next().is_some_and(|command| ROOST_READS.contains(&command)),
        other => ALWAYS.contains(&other) || other.starts_with("mkfs"),
    }
}

fn git_is(args: Args<'_>) -> bool {
    let git = git::parts(args);
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
        "branch" => rest.has_short("D") || rest.has_long(&["--force"]),
        "reflog" => rest.has("expire") || rest.has("delete"),
        "update-ref" => rest.has_short("d"),
        "filter-branch" | "filter-repo" | "prune" => true,
        _ => false,
    }
}

/// Whether a program runs what is piped into it.
pub(super) fn runs_its_input(program: &str, args: Args<'_>) -> bool {
    let script = args.certain().any(|arg| !arg.starts_with('-'));
    match program {
        "python" | "python3" | "node" | "perl" | "ruby" | "php" | "deno" | "bun" => !script,
        other => SHELLS.contains(&other),
    }
}
