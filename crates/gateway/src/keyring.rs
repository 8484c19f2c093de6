//! The desktop's keyring (GNOME Keyring, KWallet, KeePassXC), reached through `secret-tool` of libsecret.
//!
//! Decisions:
//! * A program and no D-Bus client of our own: where there is a keyring, its tool is one package away, and a daemon on a
//!   build machine carries nothing for what it does not have.
//! * The kernel's own keyring is not used: it forgets at a restart.
//! * A secret goes through pipes only. The program gets the variables that lead to the session's bus, and no others.
//! * A locked keyring asks its person at their screen; nobody waits for that longer than [`PATIENCE`].

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The program that talks to the keyring.
const PROGRAM: &str = "secret-tool";
/// What our secrets have in common, as python's `keyring` and others name it.
const SERVICE: &str = "roost";
/// The variables that lead to the keyring of whoever runs the daemon.
const VARIABLES: [&str; 7] =
    ["PATH", "HOME", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"];
/// How long the keyring, or the person who unlocks it, may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often we look whether the program has ended.
const LOOK: Duration = Duration::from_millis(10);
/// The bytes of a secret that are read at most.
const MAX_BYTES: u64 = 64 * 1024;

/// What the program said.
struct Ended {
    is_success: bool,
    output: String,
    error: String,
}

/// The keyring of whoever has these variables. Every call of it blocks.
pub(crate) struct Keyring<V>(pub(crate) V);

impl<V: Fn(&str) -> Option<String>> Keyring<V> {
    /// Why the keyring cannot be used, if so.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.get("availability").map(drop)
    }

    /// The secret of this name, if there is one.
    pub(crate) fn get(&self, name: &str) -> Result<Option<String>, String> {
        match self.run(&["lookup", "service", SERVICE, "username", name], "")? {
            Ended { is_success: true, output, .. } => Ok(Some(output)),
            Ended { error, .. } if error.is_empty() => Ok(None),
            Ended { error, .. } => Err(error),
        }
    }

    /// Keeps a secret, in place of an earlier one of this name.
    pub(crate) fn set(&self, name: &str, secret: &str) -> Result<(), String> {
        let label = format!("--label=Roost: {name}");
        match self.run(&["store", &label, "service", SERVICE, "username", name], secret)? {
            Ended { is_success: true, .. } => Ok(()),
            Ended { error, .. } => Err(error),
        }
    }

    /// Deletes the secret of this name; returns whether there was one.
    pub(crate) fn delete(&self, name: &str) -> Result<bool, String> {
        if self.get(name)?.is_none() {
            return Ok(false);
        }
        match self.run(&["clear", "service", SERVICE, "username", name], "")? {
            Ended { is_success: true, .. } => Ok(true),
            Ended { error, .. } => Err(error),
        }
    }

    fn run(&self, args: &[&str], input: &str) -> Result<Ended, String> {
        let mut command = Command::new(PROGRAM);
        command.args(args).env_clear();
        command.envs(VARIABLES.iter().filter_map(|name| Some((name, (self.0)(name)?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("there is no {PROGRAM}; install libsecret-tools and unlock a keyring"),
            _ => format!("{PROGRAM} does not start: {error}"),
        })?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program that does not want it says why by its exit.
            let _ = stdin.write_all(input.as_bytes());
        }
        let is_success = wait(&mut child)?;
        // It has ended, and a secret fits into a pipe.
        let output = read(child.stdout.take());
        let error = read(child.stderr.take()).trim().replace('\n', "; ");
        Ok(Ended { is_success, output, error })
    }
}

/// Waits until the program has ended, or ends it; returns whether it succeeded.
fn wait(child: &mut Child) -> Result<bool, String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(LOOK),
            waited => {
                // It may have ended by itself meanwhile.
                let _ = child.kill().and_then(|()| child.wait());
                return Err(match waited {
                    Err(error) => error.to_string(),
                    Ok(_) => format!("the keyring did not answer within {PATIENCE:?}; is it locked?"),
                });
            }
        }
    }
}

fn read(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // What cannot be read is as good as not said.
    let _ = pipe.map(|pipe| pipe.take(MAX_BYTES).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use tempfile::TempDir;

    use super::*;

    /// Behaves as `secret-tool` does with a keyring that is a folder; writes down how it was called.
    const STAND_IN: &str = r#"#!/bin/sh
here=${0%/*}
echo "$@" >> "$here/calls"
env >> "$here/calls"
for name; do :; done
case $1 in
lookup) [ -f "$here/kept.$name" ] && cat "$here/kept.$name" ;;
store) cat > "$here/kept.$name" ;;
clear) rm "$here/kept.$name" ;;
esac
"#;

    fn write_stand_in(folder: &Path) {
        let program = folder.join(PROGRAM);
        fs::write(&program, STAND_IN).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn keyring(folder: &Path) -> Keyring<impl Fn(&str) -> Option<String>> {
        let path = format!("{}:/usr/bin:/bin", folder.display());
        Keyring(move |name: &str| match name {
            "PATH" => Some(path.clone()),
            "HOME" => Some("/nowhere".into()),
            _ => Some("a variable of the daemon".into()),
        })
    }

    #[test]
    fn a_secret_is_kept_found_and_deleted_and_is_in_no_argument() {
        let folder = TempDir::new().unwrap();
        write_stand_in(folder.path());
        let keyring = keyring(folder.path());
        assert_eq!(keyring.check(), Ok(()));
        assert_eq!(keyring.get("token"), Ok(None));
        keyring.set("token", "s3cret").unwrap();
        assert_eq!(keyring.get("token"), Ok(Some("s3cret".into())));
        assert_eq!(keyring.delete("token"), Ok(true));
        assert_eq!(keyring.delete("token"), Ok(false));
        let calls = fs::read_to_string(folder.path().join("calls")).unwrap();
        assert!(calls.contains("store --label=Roost: token service roost username token"), "{calls}");
        assert!(!calls.contains("s3cret"), "{calls}");
    }

    #[test]
    fn a_machine_without_a_keyring_says_what_is_missing() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().display().to_string();
        let keyring = Keyring(|name: &str| (name == "PATH").then(|| path.clone()));
        let why = keyring.check().unwrap_err();
        assert!(why.contains("install libsecret-tools"), "{why}");
        fs::write(folder.path().join(PROGRAM), "#!/bin/sh\necho 'no bus' >&2\nexit 1\n").unwrap();
        fs::set_permissions(folder.path().join(PROGRAM), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(keyring.check(), Err("no bus".into()));
    }
}
