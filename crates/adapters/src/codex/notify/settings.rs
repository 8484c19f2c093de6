//! The `ACPLB_*` variables (seed 002), which configure how the end of a turn is learned.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use roost_engine::adapter::AdapterError;

/// How often a file is polled, unless `ACPLB_POLLING_INTERVAL_MS` is set.
const DEFAULT_POLL: Duration = Duration::from_millis(100);

/// What the forwarder writes to: `ACPLB_NOTIFY_KIND`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SinkKind {
    File,
    Fifo,
}

impl SinkKind {
    /// Parses the name; a file if there is none.
    pub(super) fn from_name(name: Option<&str>) -> Result<Self, String> {
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

/// The settings of the `ACPLB_*` variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotifySettings {
    /// `ACPLB_NOTIFY_PATH` and `ACPLB_NOTIFY_KIND`: where the forwarder writes and the session reads; `None` if there
    /// is no notify source.
    pub(super) sink: Option<(PathBuf, SinkKind)>,
    /// What Codex's `notify` is set to: `ACPLB_NOTIFY_INJECT` and `ACPLB_NOTIFY_CMD`.
    inject: NotifyValue,
    /// How often a file is polled: `ACPLB_POLLING_INTERVAL_MS`, or [`DEFAULT_POLL`].
    pub(super) poll: Duration,
    /// `ACPLB_IDLE_TIMEOUT_MS`: how long Codex may print nothing; `None` for no limit.
    pub(crate) idle: Option<Duration>,
}

/// The value that Roost gives Codex's `notify` setting.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NotifyValue {
    /// None: Codex's own settings decide.
    Nothing,
    /// A call of `roost notify`.
    Forwarder,
    /// This value, as TOML.
    Value(String),
}

impl Default for NotifySettings {
    fn default() -> Self {
        Self { sink: None, inject: NotifyValue::Forwarder, poll: DEFAULT_POLL, idle: None }
    }
}

/// Every variable, for [`unused_variables_warning`].
const VARIABLES: [&str; 6] = [
    "ACPLB_NOTIFY_PATH",
    "ACPLB_NOTIFY_KIND",
    "ACPLB_NOTIFY_INJECT",
    "ACPLB_NOTIFY_CMD",
    "ACPLB_POLLING_INTERVAL_MS",
    "ACPLB_IDLE_TIMEOUT_MS",
];

/// A warning about variables that are set for an app server, which ignores them because it reports the end of a turn
/// itself; `None` if none is set.
pub(crate) fn unused_variables_warning(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let is_set = |name: &&str| variable(name).is_some_and(|value| !value.is_empty());
    let set: Vec<_> = VARIABLES.into_iter().filter(|name| is_set(name)).collect();
    (!set.is_empty()).then(|| {
        format!("{} do nothing here: Codex's app server says itself when a turn is over; unset them", set.join(", "))
    })
}

impl NotifySettings {
    /// Reads the settings through `variable`; an empty value counts as absent. An error names the invalid variable.
    pub(crate) fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, AdapterError> {
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
        let kind = SinkKind::from_name(variable("ACPLB_NOTIFY_KIND").as_deref())?;
        let inject = match (variable("ACPLB_NOTIFY_INJECT").as_deref(), variable("ACPLB_NOTIFY_CMD")) {
            (Some("never"), _) => NotifyValue::Nothing,
            (Some("force"), _) | (None | Some("auto"), None) => NotifyValue::Forwarder,
            (None | Some("auto"), Some(value)) => NotifyValue::Value(value),
            (Some(other), _) => {
                return Err(format!("ACPLB_NOTIFY_INJECT is \"{other}\"; it must be auto, never or force"));
            }
        };
        Ok(Self {
            sink: variable("ACPLB_NOTIFY_PATH").map(|path| (path.into(), kind)),
            inject,
            poll: time("ACPLB_POLLING_INTERVAL_MS")?.unwrap_or(DEFAULT_POLL),
            idle: time("ACPLB_IDLE_TIMEOUT_MS")?,
        })
    }

    /// The value of Codex's `notify` setting as TOML; `None` if it is not to be set. `roost` is the path of this
    /// program, which forwards.
    pub(crate) fn notify_value(&self, roost: &OsStr) -> Option<String> {
        match (&self.sink, &self.inject) {
            (None, _) | (_, NotifyValue::Nothing) => None,
            (_, NotifyValue::Value(value)) => Some(value.clone()),
            (_, NotifyValue::Forwarder) => {
                Some(toml::Value::from(vec![roost.to_string_lossy().into_owned(), "notify".into()]).to_string())
            }
        }
    }

    /// The variables that the forwarder needs in Codex's environment.
    pub(crate) fn forwarder_variables(&self) -> Vec<(&'static str, String)> {
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

    fn read(variables: &[(&str, &str)]) -> Result<NotifySettings, String> {
        let find =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        NotifySettings::from_variables(find).map_err(|error| error.to_string())
    }

    #[test]
    fn without_a_path_nothing_is_heard_and_nothing_is_set() {
        let settings = read(&[("ACPLB_NOTIFY_PATH", "")]).unwrap();
        assert_eq!(settings, NotifySettings::default());
        assert_eq!((settings.notify_value("roost".as_ref()), settings.forwarder_variables()), (None, vec![]));
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
            assert_eq!(read(&all).unwrap().notify_value("/bin/roost".as_ref()).as_deref(), expected, "{variables:?}");
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
        let expected = [("ACPLB_NOTIFY_PATH", "/tmp/n".to_owned()), ("ACPLB_NOTIFY_KIND", "fifo".to_owned())];
        assert_eq!(settings.forwarder_variables(), expected);
    }

    #[test]
    fn variables_that_do_nothing_are_named() {
        let set = |name: &str| match name {
            "ACPLB_IDLE_TIMEOUT_MS" => Some("1200".to_owned()),
            "ACPLB_NOTIFY_CMD" => Some(String::new()),
            _ => None,
        };
        assert!(
            unused_variables_warning(set).unwrap().starts_with("ACPLB_IDLE_TIMEOUT_MS do nothing"),
            "{:?}",
            unused_variables_warning(set)
        );
        assert_eq!(unused_variables_warning(|_| None), None);
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
