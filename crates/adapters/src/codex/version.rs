//! Which Codex is installed.

use parking_lot::Mutex;
use roost_engine::adapter::Availability;
use roost_model::runtime::RuntimeEnv;
use roost_process::Holder;

use crate::host::{AgentCommand, VersionProbe};

/// The first version whose app server speaks WebSocket on a unix socket (2026-04-30), which all else is built on.
const APP_SERVER: [u64; 3] = [0, 128, 0];

/// The version.
#[derive(Default)]
pub(super) struct Version {
    versions: VersionProbe,
    /// What was told last.
    last: Mutex<Option<String>>,
}

impl Version {
    /// Whether Codex is there, and which.
    pub(super) async fn look(&self, holder: &Holder, command: &AgentCommand, env: &RuntimeEnv) -> Availability {
        let install = "install it with `npm install -g @openai/codex`, or set its `command`";
        // None is too old: what cannot be done by the app server is done by `codex exec`.
        let found = self.versions.availability(holder, command, command.environment(env), install, |_| None).await;
        if let Availability::Installed { version } = &found {
            self.last.lock().clone_from(version);
        }
        found
    }

    /// The version, if it was told last and is too old for the app server. One that does not tell is taken for a new one.
    pub(super) fn too_old(&self) -> Option<String> {
        self.last.lock().clone().filter(|version| is_too_old(version))
    }
}

fn is_too_old(version: &str) -> bool {
    numbers(version).is_some_and(|numbers| numbers < APP_SERVER)
}

/// The three numbers of a version; what comes before a release counts as the release.
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
        assert_eq!(Version::default().too_old(), None);
    }
}
