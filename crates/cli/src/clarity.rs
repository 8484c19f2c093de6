//! Roost under the names of clarity-runtime (seed 003): called `clarityctl` it operates services, called `clarityd` it is
//! the daemon. Both take the commands, options and variables of the originals; `cargo xtask install` makes the names.

pub(crate) mod arguments;
mod bridge;
pub(crate) mod clarityctl;
pub(crate) mod clarityd;
mod control_plane;
mod doctor;
mod own_token;

use std::ffi::OsStr;
use std::path::Path;

use roost_model::secret::Secret;

/// Variables that hold the daemon's token, the first that is set.
const TOKEN_VARIABLES: [&str; 2] = ["CLARITYD_AUTH_TOKEN", "CLARITY_API_TOKEN"];

/// A program of clarity-runtime that this one can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClarityProgram {
    /// The operator's command line.
    Clarityctl,
    /// The process that runs services and serves clients.
    Clarityd,
}

impl ClarityProgram {
    /// What it calls itself.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Clarityctl => "clarityctl",
            Self::Clarityd => "clarityd",
        }
    }

    /// The program that is meant by the name under which this one was called.
    pub(crate) fn by_name(program: Option<&OsStr>) -> Option<Self> {
        let name = Path::new(program?).file_name()?;
        [Self::Clarityctl, Self::Clarityd].into_iter().find(|one| name == one.name())
    }
}

/// The token that was given, else the one in the environment.
fn token(given: Option<String>) -> Option<Secret> {
    let of_variable = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    given.filter(|token| !token.is_empty()).or_else(|| TOKEN_VARIABLES.iter().find_map(of_variable)).map(Secret::from)
}
