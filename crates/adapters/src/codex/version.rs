//! The version of the installed Codex, which decides between the app server and `codex exec`.

use parking_lot::Mutex;
use roost_engine::adapter::Availability;
use roost_model::runtime::RuntimeEnv;
use roost_process::Holder;

use crate::host::{AgentCommand, VersionProbe};

/// The first version whose app server speaks WebSocket on a unix socket (2026-04-30), which the adapter depends on.
const APP_SERVER: [u64; 3] = [0, 128, 0];

/// Probes the installed version and remembers the last answer.
#[derive(Default)]
pub(super) struct InstalledVersion {
    versions: VersionProbe,
    /// The version of the last probe; `None` before it, or if Codex printed none.
    last: Mutex<Option<String>>,
}

impl InstalledVersion {
    /// Runs `codex --version`, or uses the probe's cached answer.
    pub(super) async fn probe(&self, holder: &Holder, command: &AgentCommand, env: &RuntimeEnv) -> Availability {
        let install = "install it with `npm install -g @openai/codex`, or set its `command`";
        // No version is refused as too old: `codex exec` serves those without an app server.
        let found = self.versions.availability(holder, command, command.environment(env), install, |_| None).await;
        if let Availability::Installed { version } = &found {
            self.last.lock().clone_from(version);
        }
        found
    }

    /// The version of the last probe, if it is too old for the app server. An unknown version counts as new.
    pub(super) fn too_old(&self) -> Option<String> {
        self.last.lock().clone().filter(|version| is_too_old(version))
    }
}

fn is_too_old(version: &str) -> bool {
    numbers(version).is_some_and(|numbers| numbers < APP_SERVER)
}

/// The three numbers of a version; a pre-release counts as its release.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut numbers = version.split(['-', '+']).next()?.split('.').map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_version_that_is_known_to_be_old_is_too_old() {
        let table = [
            ("0.127.9", true),
            ("0.44.0", true),
            ("0.127.0-alpha.3", true),
            ("0.128.0-alpha.1", false),
            ("0.128.0", false),
            ("0.166.0", false),
            ("1.0.0", false),
            ("2026", false),
            ("0.x.1", false),
        ];
        for (version, is_old) in table {
            assert_eq!(is_too_old(version), is_old, "{version}");
        }
        assert_eq!(InstalledVersion::default().too_old(), None);
    }
}
