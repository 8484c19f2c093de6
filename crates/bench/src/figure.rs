//! Figures, their targets, and the table and file that show them.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::Outcome;

/// The target of a figure.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    /// The figure is shown and not judged.
    None,
    /// Met if the figure is at least this.
    AtLeast(f64),
    /// Met if the figure is at most this.
    AtMost(f64),
    /// Not judged, because the yardstick of this run shows a machine that is too busy.
    Void,
}

/// One measured figure; `met` is true if it has no target.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figure {
    bench: &'static str,
    what: String,
    value: f64,
    unit: &'static str,
    target: Target,
    met: bool,
}

/// All figures of a run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Table {
    figures: Vec<Figure>,
}

impl Table {
    /// Adds a figure and judges it.
    pub(crate) fn add(
        &mut self,
        bench: &'static str,
        what: impl Into<String>,
        value: f64,
        unit: &'static str,
        target: Target,
    ) {
        let met = match target {
            Target::None | Target::Void => true,
            Target::AtLeast(least) => value >= least,
            Target::AtMost(most) => value <= most,
        };
        let what = what.into();
        // Also at once, so that a run that is interrupted has shown its figures.
        eprintln!("  {what}: {} {unit}", number(value));
        self.figures.push(Figure { bench, what, value, unit, target, met });
    }

    /// True if no figure missed its target; decides the exit code.
    pub(crate) fn all_met(&self) -> bool {
        self.figures.iter().all(|figure| figure.met)
    }

    /// Writes the figures as JSON.
    pub(crate) fn save(&self, path: &Path) -> Outcome {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        Ok(std::fs::write(path, serde_json::to_string_pretty(self)?)?)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:<8} {:<58} {:>12} {:<9} {:<14} result", "bench", "what", "value", "unit", "target")?;
        for Figure { bench, what, value, unit, target, met } in &self.figures {
            let (target, result) = match target {
                Target::None => (String::new(), ""),
                Target::Void => ("void".into(), "void"),
                Target::AtLeast(least) => (format!(">= {}", number(*least)), if *met { "met" } else { "MISSED" }),
                Target::AtMost(most) => (format!("<= {}", number(*most)), if *met { "met" } else { "MISSED" }),
            };
            writeln!(f, "{bench:<8} {what:<58} {:>12} {unit:<9} {target:<14} {result}", number(*value))?;
        }
        Ok(())
    }
}

fn number(value: f64) -> String {
    if value.abs() >= 1000.0 || value == value.trunc() { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// The median; NaN if there are no values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A duration in milliseconds, with fractions.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
