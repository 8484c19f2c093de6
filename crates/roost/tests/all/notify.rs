//! The program that Codex calls when a turn is over, under both of its names.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::fs::{CWD, FileType, Mode, OFlags};
use tempfile::TempDir;

const EVENT: &str = r#"{"type":"agent-turn-complete","turn-id":"1"}"#;

/// `roost notify`, and Roost linked to the name of the forwarder; both without any variables.
fn forwarders(folder: &Path) -> [Command; 2] {
    let link = folder.join("acplb-notify-forwarder");
    symlink(env!("CARGO_BIN_EXE_roost"), &link).unwrap();
    let mut notify = Command::new(env!("CARGO_BIN_EXE_roost"));
    notify.arg("notify");
    [notify, Command::new(link)].map(|mut command| {
        command.env_clear().stdin(Stdio::null());
        command
    })
}

fn output(command: &mut Command, args: &[&str], path: &Path, kind: &str) -> Output {
    command.args(args).env("ACPLB_NOTIFY_PATH", path).env("ACPLB_NOTIFY_KIND", kind).output().unwrap()
}

#[test]
fn both_names_append_the_argument_as_a_line_to_a_file() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("notify.jsonl");
    for mut forwarder in forwarders(folder.path()) {
        let done = output(&mut forwarder, &[EVENT], &file, "file");
        assert!(done.status.success() && done.stdout.is_empty() && done.stderr.is_empty(), "{done:?}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{EVENT}\n{EVENT}\n"));
    // What others may do with it is at most this; the umask may take more away.
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o133, 0);
}

#[test]
fn with_acplb_debug_both_names_say_what_they_did() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("notify.jsonl");
    for mut forwarder in forwarders(folder.path()) {
        let done = output(forwarder.env("ACPLB_DEBUG", "1"), &[EVENT], &file, "file");
        let said = format!("roost notify: passed on {} bytes\n", EVENT.len() + 1);
        assert_eq!(String::from_utf8_lossy(&done.stderr), said, "{done:?}");
    }
}

#[test]
fn both_names_write_the_argument_as_a_line_to_a_fifo() {
    let folder = TempDir::new().unwrap();
    let fifo: PathBuf = folder.path().join("notify.fifo");
    rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let reader = rustix::fs::open(&fifo, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap();
    for mut forwarder in forwarders(folder.path()) {
        let done = output(&mut forwarder, &[EVENT], &fifo, "fifo");
        assert!(done.status.success(), "{done:?}");
        let mut read = [0; 256];
        let length = rustix::io::read(&reader, &mut read).unwrap();
        assert_eq!(str::from_utf8(&read[..length]).unwrap(), format!("{EVENT}\n"));
    }
}

#[test]
fn both_names_fail_and_say_what_is_wrong() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("notify.jsonl");
    let table: [(&[&str], &str, &str); 3] =
        [(&[], "file", "exactly one argument"), (&["{}", "{}"], "file", "exactly one"), (&["{}"], "pipe", "KIND")];
    for (args, kind, expected) in table {
        let links = TempDir::new().unwrap();
        for mut forwarder in forwarders(links.path()) {
            let done = output(&mut forwarder, args, &file, kind);
            assert_eq!(done.status.code(), Some(1), "{done:?}");
            assert!(String::from_utf8_lossy(&done.stderr).contains(expected), "{done:?}");
        }
    }
    for mut forwarder in forwarders(folder.path()) {
        let done = forwarder.arg(EVENT).output().unwrap();
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        assert!(String::from_utf8_lossy(&done.stderr).contains("ACPLB_NOTIFY_PATH"), "{done:?}");
    }
    assert!(!file.exists());
}
