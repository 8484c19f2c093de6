//! Which OpenCode is installed.

use std::sync::Arc;

use roost_engine::adapter::Availability;
use roost_model::runtime::RuntimeEnv;
use roost_process::Holder;

use super::launch::environment;
use crate::acp::AgentCommand;
use crate::version_probe::VersionProbe;

/// How it is installed and brought up to date.
pub(super) const INSTALL: &str = "`npm install -g opencode-ai@latest`";
/// The oldest that Roost was tried with: its server's events and requests change between versions.
const OLDEST: [u64; 2] = [1, 18];

/// The version.
#[derive(Default)]
pub(super) struct Version(VersionProbe);

impl Version {
    /// Whether OpenCode is there, and which.
    pub(super) async fn look(&self, holder: &Arc<Holder>, command: &AgentCommand, env: &RuntimeEnv) -> Availability {
        let env = environment(command, env);
        let path = env.get("PATH").map(|path| path.to_string_lossy().into_owned());
        let program = match roost_process::find_program(&command.program, path.as_deref()).await {
            Ok(program) => program,
            Err(error) => {
                let reason = format!("{error}; install it with {INSTALL}, or set its `command`");
                return Availability::Missing { reason };
            }
        };
        match self.0.of(&program, holder, command, env).await {
            Some(version) if is_too_old(&version) => Availability::Missing { reason: too_old(&version, INSTALL) },
            version => Availability::Installed { version },
        }
    }
}

/// Whether Roost cannot talk to this version. One that is no number is taken for a new one.
pub(super) fn is_too_old(version: &str) -> bool {
    let numbers: Vec<u64> = version.split(['.', '-', '+']).map_while(|number| number.parse().ok()).collect();
    !numbers.is_empty() && numbers.as_slice() < OLDEST.as_slice()
}

/// What to say to somebody with a version that is too old.
pub(super) fn too_old(version: &str, how: &str) -> String {
    let [major, minor] = OLDEST;
    format!("OpenCode {version} is too old: Roost needs {major}.{minor} or later; update it with {how}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_before_the_oldest_is_too_old() {
        for version in ["0.15.31", "1.17.99", "1", "1.2"] {
            assert!(is_too_old(version), "{version}");
        }
        for version in ["1.18", "1.18.0", "1.18.33", "1.100.0-beta.1", "2.0.0", "local"] {
            assert!(!is_too_old(version), "{version}");
        }
    }
}
