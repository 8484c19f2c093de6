//! Which Gemini CLI is installed.

use std::sync::Arc;

use roost_engine::adapter::Availability;
use roost_model::runtime::RuntimeEnv;
use roost_process::Holder;

use super::launch::environment;
use crate::acp::AgentCommand;
use crate::version_probe::VersionProbe;

/// The oldest version that Roost was tried with; earlier ones keep their sessions otherwise.
const OLDEST: [u32; 2] = [0, 61];

/// What to do about a version that is too old; `None` if it is not.
pub(super) fn too_old(version: &str) -> Option<String> {
    let numbers: Vec<u32> = version.split(['.', '-']).map_while(|number| number.parse().ok()).collect();
    let [major, minor] = OLDEST;
    (numbers.len() >= 2 && numbers[..2] < OLDEST[..]).then(|| {
        format!(
            "Gemini CLI {version} is too old, Roost needs {major}.{minor} or later; install it with `npm install -g \
             @google/gemini-cli@latest`"
        )
    })
}

/// The version.
#[derive(Default)]
pub(super) struct Version(VersionProbe);

impl Version {
    /// Whether Gemini is there, and which.
    pub(super) async fn look(&self, holder: &Arc<Holder>, command: &AgentCommand, env: &RuntimeEnv) -> Availability {
        let env = environment(command, env);
        let path = env.get("PATH").map(|path| path.to_string_lossy().into_owned());
        let program = match roost_process::find_program(&command.program, path.as_deref()).await {
            Ok(program) => program,
            Err(error) => {
                let how = "install it with `npm install -g @google/gemini-cli`, or set its `command`";
                return Availability::Missing { reason: format!("{error}; {how}") };
            }
        };
        let version = self.0.of(&program, holder, command, env).await;
        match version.as_deref().and_then(too_old) {
            Some(reason) => Availability::Missing { reason },
            None => Availability::Installed { version },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_version_that_is_known_to_be_older_is_too_old() {
        let cases =
            [("0.60.9", true), ("0.9.0", true), ("0.61.0", false), ("0.61.0-nightly.1", false), ("1.0.0", false)];
        for (version, expected) in cases {
            assert_eq!(too_old(version).is_some(), expected, "{version}");
        }
        assert_eq!(too_old("nightly"), None);
    }
}
