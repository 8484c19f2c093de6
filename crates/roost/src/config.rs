//! `roost.toml` and the environment: the one place where configuration is read.

mod environment;
mod keys;
#[cfg(test)]
mod reference_tests;
mod sections;
mod suggest;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use roost_adapters::{BUILT_IN, acp, built_in};
use roost_engine::facts::ConfigKeys;
use roost_policy::RuleSet;

pub(crate) use sections::{
    Budgets, Config, Daemon, HideState, Limits, Runtime, Synchronous, Wasm, WhenExceeded, WhenFull,
};
use suggest::nearest;

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}: {message}", path.display())]
    Invalid { path: PathBuf, message: String },
    #[error("environment: {0}")]
    Environment(String),
}

impl Config {
    /// The configuration in this file, with what these variables say instead.
    pub(crate) fn read(path: &Path, variables: impl Iterator<Item = (OsString, OsString)>) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Unreadable { path: path.into(), source })?;
        let config = Self::parse(&text).map_err(|message| Error::Invalid { path: path.into(), message })?;
        config.with(&text, variables)
    }

    /// The configuration in this file, else the defaults, with what these variables say instead.
    pub(crate) fn read_if_there(
        path: &Path,
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<Self, Error> {
        match path.try_exists() {
            Ok(false) => Self::default().with("", variables),
            _ => Self::read(path, variables),
        }
    }

    fn with(self, text: &str, variables: impl Iterator<Item = (OsString, OsString)>) -> Result<Self, Error> {
        let config = environment::overlay(text, self, variables).map_err(Error::Environment)?;
        config.check().map_err(Error::Environment)?;
        Ok(config)
    }

    /// Reads the text of a `roost.toml`.
    fn parse(text: &str) -> Result<Self, String> {
        let config: Self = toml::from_str(text).map_err(|error| explain(&error))?;
        config.check()?;
        Ok(config)
    }

    /// Checks what the types cannot: rules, runtime ids, and which keys a runtime takes.
    fn check(&self) -> Result<(), String> {
        RuleSet::new(&self.policy.rules).map_err(|error| error.to_string())?;
        if !self.budgets.cost_usd.is_finite() || self.budgets.cost_usd < 0.0 {
            return Err("budgets.cost_usd is an amount in US dollars; write a number, 0 or more".into());
        }
        for (id, runtime) in &self.runtimes {
            if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
                return Err(format!("\"{id}\" cannot name a runtime; use letters, digits, '-', '_' and '.'"));
            }
            let built_in = built_in(id);
            let keys = built_in.map_or(acp::FACTS.config, |one| one.facts.config);
            if runtime.url.is_some() {
                runtime.check_url(id, keys)?;
            }
            if !keys.command {
                runtime.check_without_command(id)?;
            } else if !keys.settings && !runtime.config.is_empty() {
                let why = "its protocol has no place for settings; say the same by `args` or `env`";
                return Err(format!("[runtimes.{id}] takes no `config`: {why}"));
            }
            if built_in.is_none() && runtime.command.is_none() && acp::preset(id).is_none() {
                return Err(format!("[runtimes.{id}] needs a `command`, such as command = \"{id}\""));
            }
        }
        Ok(())
    }
}

impl Runtime {
    /// Refuses keys that have no effect on a runtime inside this binary.
    fn check_without_command(&self, id: &str) -> Result<(), String> {
        let unfit = [
            ("command", self.command.is_some()),
            ("args", !self.args.is_empty()),
            ("env", !self.env.is_empty()),
            ("display_name", self.display_name.is_some()),
            ("model", self.model.is_some()),
            ("config", !self.config.is_empty()),
        ];
        match unfit.iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) => {
                Err(format!("the {id} is part of Roost and takes no `{key}`; give an agent of your own another id"))
            }
            None => Ok(()),
        }
    }

    /// Refuses keys that contradict a `url`, where the server runs already.
    fn check_url(&self, id: &str, keys: ConfigKeys) -> Result<(), String> {
        if !keys.url {
            let takers = BUILT_IN.iter().filter(|one| one.facts.config.url).map(|one| format!("`{}`", one.id));
            let takers: Vec<_> = takers.collect();
            return Err(format!("[runtimes.{id}] takes no `url`; only {} does", takers.join(" or ")));
        }
        let unfit =
            [("command", self.command.is_some()), ("args", !self.args.is_empty()), ("config", !self.config.is_empty())];
        match unfit.iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) => {
                Err(format!("[runtimes.{id}] has a `url`, where its server runs already: remove `{key}`"))
            }
            None => Ok(()),
        }
    }
}

/// Replaces the names of Rust's types in an error of serde's.
fn in_plain_words(message: &str) -> String {
    const TYPES: [(&str, &str); 6] = [
        ("expected u16", "expected a whole number from 0 to 65535"),
        ("expected u32", "expected a whole number from 0 to 4294967295"),
        ("expected u64", "expected a whole number, 0 or more"),
        ("expected usize", "expected a whole number, 0 or more"),
        ("expected f64", "expected a number"),
        ("expected a boolean", "expected true or false"),
    ];
    TYPES.iter().fold(message.to_owned(), |message, (name, words)| message.replace(name, words))
}

/// Adds what was probably meant to an error about an unknown key or value.
fn explain(error: &toml::de::Error) -> String {
    let mut text = in_plain_words(error.to_string().trim_end());
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

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
