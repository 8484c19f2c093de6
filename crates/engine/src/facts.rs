//! What the rest of Roost must know about a runtime besides how to talk to it. Each adapter supplies it, so that
//! nothing outside the adapter's folder names a runtime.

pub use roost_policy::{Action, ControlFiles, Toolset};

use semver::Version;

use crate::plain::{PlainSetting, Takes};

/// The facts about one runtime. Whatever an adapter leaves as in [`RuntimeFacts::UNKNOWN`] is as strict as possible.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeFacts {
    /// Its rank in the choice of the default runtime: the lowest rank wins among those that are ready. A runtime
    /// without a rank is used only if it is named.
    pub preference: Option<u32>,
    /// Which keys its section of `roost.toml` may have.
    pub config: ConfigKeys,
    /// Which of its own settings a paired device may choose; all others need more rights than to steer agents.
    pub plain_settings: &'static [PlainSetting],
    /// Which of them says how much the model thinks; `None` if none does.
    pub thought_level: Option<&'static str>,
    /// Whether a task takes messages while it runs, see [`crate::adapter::TaskControl::steer`].
    pub steers: bool,
    /// What its tools do, for the policy.
    pub tools: Toolset,
    /// The files of a workspace that steer it. Once it is registered, the policy guards them in the sessions of every
    /// runtime.
    pub control_files: ControlFiles,
    /// The versions that it was tested with; `None` if Roost's tests do not run it.
    pub tested: Option<TestedVersions>,
}

impl RuntimeFacts {
    /// A runtime of which nothing is known: it is started by a command, takes no settings, and every use of its tools
    /// is asked about.
    pub const UNKNOWN: Self = Self {
        preference: None,
        config: ConfigKeys { command: true, settings: false, url: false },
        plain_settings: &[],
        thought_level: None,
        steers: false,
        tools: Toolset::UNKNOWN,
        control_files: ControlFiles::NONE,
        tested: None,
    };

    /// The setting for how much the model thinks, and its values; `None` if the runtime has no such setting.
    pub fn thought_levels(&self) -> Option<(&'static str, &'static [&'static str])> {
        let name = self.thought_level?;
        self.plain_settings.iter().find_map(|setting| match (setting.path, setting.takes) {
            ([key], Takes::OneOf(levels)) if *key == name => Some((name, levels)),
            _ => None,
        })
    }
}

/// The range of versions that Roost's tests run a runtime with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestedVersions {
    /// The version that every run of the tests uses; the oldest of the range.
    pub pinned: &'static str,
    /// The newest release when the tests last ran with one.
    pub newest: &'static str,
}

impl TestedVersions {
    /// What to tell people about a version outside of the range; `None` for one inside, or one that is no version number.
    pub fn note(&self, agent: &str, version: &str) -> Option<String> {
        let [installed, oldest, newest] = [version, self.pinned, self.newest].map(|text| Version::parse(text).ok());
        let (installed, oldest, newest) = (installed?, oldest?, newest?);
        if installed > newest {
            let tested = format!("{agent} {version} is newer than {newest}, the newest that Roost was tested with");
            Some(format!("{tested}: it will probably work; report what does not"))
        } else if installed < oldest {
            let tested = format!("{agent} {version} is older than {oldest}, the oldest that Roost was tested with");
            Some(format!("{tested}: update it if something does not work"))
        } else {
            None
        }
    }
}

/// Which keys of its `[runtimes.<id>]` mean something to a runtime.
#[derive(Clone, Copy, Debug)]
pub struct ConfigKeys {
    /// Those about its program: `command`, `args`, `env`, `display_name` and `model`.
    pub command: bool,
    /// `config`: settings of its own, passed on as they are.
    pub settings: bool,
    /// `url`: the address of a server that runs already.
    pub url: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_version_outside_of_the_tested_range_is_noted() {
        let tested = TestedVersions { pinned: "2.1.197", newest: "2.1.325" };
        let newer = "is newer than 2.1.325, the newest that Roost was tested with: it will probably work; report what \
                     does not";
        let older =
            "is older than 2.1.197, the oldest that Roost was tested with: update it if something does not work";
        for (version, expected) in [
            ("2.1.400", Some(newer)),
            ("2.1.326-beta.1", Some(newer)),
            ("10.0.0", Some(newer)),
            ("2.1.196", Some(older)),
            ("2.1.197-beta.1", Some(older)),
            ("2.1.197", None),
            ("2.1.200", None),
            ("2.1.325", None),
            ("2.1", None),
            ("nightly", None),
        ] {
            let expected = expected.map(|words| format!("Claude Code {version} {words}"));
            assert_eq!(tested.note("Claude Code", version), expected);
        }
    }
}
