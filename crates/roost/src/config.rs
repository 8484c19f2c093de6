//! `roost.toml`: the one place where configuration is read.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use roost_policy::RuleSet;
use roost_process::Isolation;
use roost_proto::registry::RuntimeStatus;
use serde::Deserialize;

/// Everything that can be configured.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// The runtime when none is named.
    pub(crate) default_runtime: Option<String>,
    pub(crate) sessions: Sessions,
    pub(crate) policy: Policy,
    pub(crate) log: Log,
    /// Agents by their ids; `demo` is there without being named.
    pub(crate) runtimes: BTreeMap<String, Runtime>,
}

/// `[sessions]`: how many, and for how long.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Sessions {
    /// Most runtimes alive at once.
    pub(crate) max: NonZeroUsize,
    /// What happens to one too many.
    pub(crate) when_full: WhenFull,
    /// How long a runtime is kept without a task.
    pub(crate) idle_timeout_minutes: u32,
}

impl Default for Sessions {
    fn default() -> Self {
        Self { max: NonZeroUsize::MIN.saturating_add(31), when_full: WhenFull::default(), idle_timeout_minutes: 30 }
    }
}

/// What happens to a session too many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WhenFull {
    /// It waits.
    #[default]
    Queue,
    /// It is refused.
    Reject,
}

/// `[policy]`: what clients may ask for.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Policy {
    /// Clients other than the local command line may use the mode `yolo`.
    pub(crate) allow_yolo: bool,
    /// What may run unasked and what may not run at all, whatever the mode.
    pub(crate) rules: Vec<roost_policy::Rule>,
    /// How long somebody may take to answer before the answer is no; 0 means for ever, absent means a day.
    pub(crate) approval_timeout_minutes: Option<u32>,
}

impl Policy {
    /// How long somebody may take to answer.
    pub(crate) fn approval_timeout(&self) -> Option<Duration> {
        match self.approval_timeout_minutes {
            Some(0) => None,
            minutes => Some(Duration::from_secs(60 * u64::from(minutes.unwrap_or(24 * 60)))),
        }
    }
}

/// `[log]`: how the record is kept.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Log {
    /// What an event survives.
    pub(crate) synchronous: Synchronous,
    /// Days after which events are removed.
    pub(crate) retention_days: Option<u32>,
    /// Gigabytes beyond which the oldest events are removed.
    pub(crate) retention_gb: Option<u32>,
}

/// What an event that somebody has seen survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Synchronous {
    /// The end of the process.
    #[default]
    Normal,
    /// The loss of power too.
    Full,
}

/// `[runtimes.<id>]`: an agent that speaks ACP on its stdin and stdout.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Runtime {
    /// Its program: a path, or a name to be found in `PATH`.
    pub(crate) command: Option<String>,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// Variables on top of the allow-listed environment.
    pub(crate) env: BTreeMap<String, String>,
    /// Whether it may be used.
    pub(crate) status: RuntimeStatus,
    /// Its name for people.
    pub(crate) display_name: Option<String>,
    /// How far it is kept apart from the user's own home.
    pub(crate) isolation: Option<Isolation>,
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}: {message}", path.display())]
    Invalid { path: PathBuf, message: String },
}

impl Config {
    /// The configuration in this file.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Unreadable { path: path.into(), source })?;
        Self::parse(&text).map_err(|message| Error::Invalid { path: path.into(), message })
    }

    /// The configuration in this file, else the defaults.
    pub(crate) fn read_if_there(path: &Path) -> Result<Self, Error> {
        match Self::read(path) {
            Err(Error::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            answer => answer,
        }
    }

    /// Reads the text of a `roost.toml`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let config: Self = toml::from_str(text).map_err(|error| explain(&error))?;
        RuleSet::new(&config.policy.rules).map_err(|error| error.to_string())?;
        for (id, runtime) in &config.runtimes {
            if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
                return Err(format!("\"{id}\" cannot name a runtime; use letters, digits, '-', '_' and '.'"));
            }
            match (id.as_str(), &runtime.command) {
                ("demo", Some(_)) => {
                    return Err("the demo is part of Roost and takes no `command`; give the agent another id".into());
                }
                ("demo", None) | (_, Some(_)) => {}
                (_, None) => return Err(format!("[runtimes.{id}] needs a `command`, such as command = \"{id}\"")),
            }
        }
        Ok(config)
    }
}

/// Adds what was probably meant to an error about an unknown key or value.
fn explain(error: &toml::de::Error) -> String {
    let mut text = error.to_string().trim_end().to_owned();
    // Serde words it "unknown field `a`, expected one of `b`, `c`": what stands between backticks are the names.
    let mut names = error.message().split('`').skip(1).step_by(2);
    if error.message().starts_with("unknown ")
        && let Some(wrong) = names.next()
        && let Some(meant) = nearest(wrong, names)
    {
        text.push_str(&format!("\ndid you mean `{meant}`?"));
    }
    text
}

/// The name that needs the fewest changes to become the wrong one, if they are few.
fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.map(|name| (distance(wrong, name), name)).min()?;
    (near.0 <= wrong.len().max(near.1.len()) / 2).then_some(near.1)
}

/// How many bytes to add, remove or replace to make one text the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_configured_means_the_defaults() {
        let config = Config::parse("").unwrap();
        assert_eq!((config.sessions.max.get(), config.sessions.idle_timeout_minutes), (32, 30));
        assert_eq!(config, Config::default());
    }

    #[test]
    fn every_key_is_understood() {
        let text = r#"
            default_runtime = "goose"
            [sessions]
            max = 3
            when_full = "reject"
            idle_timeout_minutes = 5
            [policy]
            allow_yolo = true
            [log]
            synchronous = "full"
            retention_days = 7
            retention_gb = 1
            [runtimes.demo]
            status = "disabled"
            [runtimes.goose]
            command = "goose"
            args = ["acp"]
            env = { GOOSE_MODE = "auto" }
            status = "preview"
            display_name = "Goose"
            isolation = "namespaced"
        "#;
        let config = Config::parse(text).unwrap();
        let goose = Runtime {
            command: Some("goose".into()),
            args: vec!["acp".into()],
            env: [("GOOSE_MODE".into(), "auto".into())].into(),
            status: RuntimeStatus::Preview,
            display_name: Some("Goose".into()),
            isolation: Some(Isolation::Namespaced),
        };
        let demo = Runtime { status: RuntimeStatus::Disabled, ..Runtime::default() };
        let expected = Config {
            default_runtime: Some("goose".into()),
            sessions: Sessions {
                max: NonZeroUsize::new(3).unwrap(),
                when_full: WhenFull::Reject,
                idle_timeout_minutes: 5,
            },
            policy: Policy { allow_yolo: true, ..Policy::default() },
            log: Log { synchronous: Synchronous::Full, retention_days: Some(7), retention_gb: Some(1) },
            runtimes: [("demo".into(), demo), ("goose".into(), goose)].into(),
        };
        assert_eq!(config, expected);
    }

    #[test]
    fn an_error_names_what_is_wrong_and_what_was_meant() {
        let table = [
            ("defualt_runtime = \"demo\"", &["defualt_runtime", "did you mean `default_runtime`?"][..]),
            ("[sesions]\nmax = 1", &["sesions", "did you mean `sessions`?"]),
            ("[runtimes.x]\ncomand = \"x\"", &["line 2", "comand", "did you mean `command`?"]),
            ("[sessions]\nwhen_full = \"queu\"", &["queu", "did you mean `queue`?"]),
            ("[sessions]\nmax = 0", &["line 2", "nonzero"]),
            ("[log]\nzzzzzzzzzzzzzzzzzzzz = 1", &["zzzz", "expected one of"]),
            ("[runtimes.x]\n", &["[runtimes.x]", "command"]),
            ("[runtimes.demo]\ncommand = \"x\"", &["demo", "another id"]),
            ("[runtimes.\"a b\"]\ncommand = \"x\"", &["a b", "cannot name"]),
            ("max =", &["line 1"]),
        ];
        for (text, parts) in table {
            let error = Config::parse(text).unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{text:?}: {part:?} is not in {error:?}");
            }
        }
    }

    #[test]
    fn a_name_that_is_far_from_all_others_suggests_none() {
        assert_eq!(nearest("zzzz", ["max", "when_full"].into_iter()), None);
    }
}
