//! The variables of seed 002 that say how a turn's end is learned.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use roost_engine::adapter::AdapterError;

/// How often a file is looked at.
const POLL: Duration = Duration::from_millis(100);

/// Where the end of a turn is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Fifo,
}

impl Kind {
    /// The kind of this name; a file when none is named.
    pub(super) fn named(name: Option<&str>) -> Result<Self, String> {
        match name {
            None | Some("file") => Ok(Self::File),
            Some("fifo") => Ok(Self::Fifo),
            Some(other) => Err(format!("ACPLB_NOTIFY_KIND is \"{other}\"; it must be file or fifo")),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Fifo => "fifo",
        }
    }
}

/// How a turn's end is learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// `ACPLB_NOTIFY_PATH` and `ACPLB_NOTIFY_KIND`.
    pub(super) sink: Option<(PathBuf, Kind)>,
    /// What of Codex's `notify` is set: `ACPLB_NOTIFY_INJECT` and `ACPLB_NOTIFY_CMD`.
    inject: Inject,
    /// `ACPLB_POLLING_INTERVAL_MS`.
    pub(super) poll: Duration,
    /// `ACPLB_IDLE_TIMEOUT_MS`: how long Codex may say nothing; absent means for ever.
    pub(crate) idle: Option<Duration>,
}

/// What Codex's `notify` is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Inject {
    /// Whatever Codex's own settings say.
    Nothing,
    /// Roost's forwarder.
    Forwarder,
    /// This value, as TOML.
    Value(String),
}

impl Default for Settings {
    fn default() -> Self {
        Self { sink: None, inject: Inject::Forwarder, poll: POLL, idle: None }
    }
}

/// All of the variables.
const VARIABLES: [&str; 6] = [
    "ACPLB_NOTIFY_PATH",
    "ACPLB_NOTIFY_KIND",
    "ACPLB_NOTIFY_INJECT",
    "ACPLB_NOTIFY_CMD",
    "ACPLB_POLLING_INTERVAL_MS",
    "ACPLB_IDLE_TIMEOUT_MS",
];

/// What to say to somebody who sets some of them for an app server, which tells the end of a turn itself.
pub(crate) fn unused(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let is_set = |name: &&str| variable(name).is_some_and(|value| !value.is_empty());
    let set: Vec<_> = VARIABLES.into_iter().filter(|name| is_set(name)).collect();
    (!set.is_empty()).then(|| {
        format!("{} do nothing here: Codex's app server says itself when a turn is over; unset them", set.join(", "))
    })
}

impl Settings {
    /// What these variables say.
    pub(crate) fn of(variable: impl Fn(&str) -> Option<String>) -> Result<Self, AdapterError> {
        Self::read(|name| variable(name).filter(|value| !value.is_empty())).map_err(AdapterError::Spawn)
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let time = |name: &str| match variable(name) {
            None => Ok(None),
            Some(value) => match value.parse().ok().filter(|millis| *millis > 0) {
                Some(millis) => Ok(Some(Duration::from_millis(millis))),
                None => Err(format!("{name} is \"{value}\"; it must be a number of milliseconds above 0")),
            },
        };
        let kind = Kind::named(variable("ACPLB_NOTIFY_KIND").as_deref())?;
        let inject = match (variable("ACPLB_NOTIFY_INJECT").as_deref(), variable("ACPLB_NOTIFY_CMD")) {
            (Some("never"), _) => Inject::Nothing,
            (Some("force"), _) | (None | Some("auto"), None) => Inject::Forwarder,
            (None | Some("auto"), Some(value)) => Inject::Value(value),
            (Some(other), _) => {
                return Err(format!("ACPLB_NOTIFY_INJECT is \"{other}\"; it must be auto, never or force"));
            }
        };
        Ok(Self {
            sink: variable("ACPLB_NOTIFY_PATH").map(|path| (path.into(), kind)),
            inject,
            poll: time("ACPLB_POLLING_INTERVAL_MS")?.unwrap_or(POLL),
            idle: time("ACPLB_IDLE_TIMEOUT_MS")?,
        })
    }

    /// The value of Codex's `notify`, as TOML, if it is to be set; `roost` is the program that forwards.
    pub(crate) fn notify(&self, roost: &OsStr) -> Option<String> {
        match (&self.sink, &self.inject) {
            (None, _) | (_, Inject::Nothing) => None,
            (_, Inject::Value(value)) => Some(value.clone()),
            (_, Inject::Forwarder) => {
                Some(toml::Value::from(vec![roost.to_string_lossy().into_owned(), "notify".into()]).to_string())
            }
        }
    }

    /// What the forwarder must find in its environment.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let sink = self.sink.iter();
        sink.flat_map(|(path, kind)| {
            [("ACPLB_NOTIFY_PATH", path.display().to_string()), ("ACPLB_NOTIFY_KIND", kind.name().to_owned())]
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Settings, String> {
        let find =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Settings::of(find).map_err(|error| error.to_string())
    }

    #[test]
    fn without_a_path_nothing_is_heard_and_nothing_is_set() {
        let settings = read(&[("ACPLB_NOTIFY_PATH", "")]).unwrap();
        assert_eq!(settings, Settings::default());
        assert_eq!((settings.notify("roost".as_ref()), settings.variables()), (None, vec![]));
    }

    #[test]
    fn what_codex_is_told_follows_from_three_variables() {
        let forwarder = r#"["/bin/roost", "notify"]"#;
        let own = r#"["mine"]"#;
        type Row<'a> = (&'a [(&'a str, &'a str)], Option<&'a str>);
        let table: [Row<'_>; 6] = [
            (&[], Some(forwarder)),
            (&[("ACPLB_NOTIFY_CMD", own)], Some(own)),
            (&[("ACPLB_NOTIFY_CMD", own), ("ACPLB_NOTIFY_INJECT", "auto")], Some(own)),
            (&[("ACPLB_NOTIFY_CMD", own), ("ACPLB_NOTIFY_INJECT", "force")], Some(forwarder)),
            (&[("ACPLB_NOTIFY_CMD", own), ("ACPLB_NOTIFY_INJECT", "never")], None),
            (&[("ACPLB_NOTIFY_INJECT", "force")], Some(forwarder)),
        ];
        for (variables, expected) in table {
            let all = [&[("ACPLB_NOTIFY_PATH", "/tmp/n")], variables].concat();
            assert_eq!(read(&all).unwrap().notify("/bin/roost".as_ref()).as_deref(), expected, "{variables:?}");
        }
    }

    #[test]
    fn times_and_kinds_are_honoured() {
        let all = [
            ("ACPLB_NOTIFY_PATH", "/tmp/n"),
            ("ACPLB_NOTIFY_KIND", "fifo"),
            ("ACPLB_POLLING_INTERVAL_MS", "20"),
            ("ACPLB_IDLE_TIMEOUT_MS", "1200"),
        ];
        let settings = read(&all).unwrap();
        assert_eq!((settings.poll, settings.idle), (Duration::from_millis(20), Some(Duration::from_millis(1200))));
        let told = [("ACPLB_NOTIFY_PATH", "/tmp/n".to_owned()), ("ACPLB_NOTIFY_KIND", "fifo".to_owned())];
        assert_eq!(settings.variables(), told);
    }

    #[test]
    fn variables_that_do_nothing_are_named() {
        let set = |name: &str| match name {
            "ACPLB_IDLE_TIMEOUT_MS" => Some("1200".to_owned()),
            "ACPLB_NOTIFY_CMD" => Some(String::new()),
            _ => None,
        };
        assert!(unused(set).unwrap().starts_with("ACPLB_IDLE_TIMEOUT_MS do nothing"), "{:?}", unused(set));
        assert_eq!(unused(|_| None), None);
    }

    #[test]
    fn a_variable_that_makes_no_sense_is_named() {
        let table = [
            ("ACPLB_NOTIFY_KIND", "socket"),
            ("ACPLB_NOTIFY_INJECT", "maybe"),
            ("ACPLB_IDLE_TIMEOUT_MS", "soon"),
            ("ACPLB_POLLING_INTERVAL_MS", "0"),
        ];
        for (name, value) in table {
            let error = read(&[(name, value)]).unwrap_err();
            assert!(error.contains(name) && error.contains(value), "{error}");
        }
    }
}
