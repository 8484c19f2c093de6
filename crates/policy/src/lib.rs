//! The one policy: rules and context in, a decision with its rule's name out. Pure: no I/O, no clock.
mod class;
mod commands;
mod decide;
mod index;
mod pattern;
mod remembered;
mod rules;
pub mod shell;
mod subject;
mod tools;
pub use class::*;
pub use decide::*;
pub use pattern::Pattern;
pub use remembered::{Memory, Remembered, Scope};
pub use rules::*;
pub use subject::*;
mod redact;
pub use redact::{REDACTED, is_secret_name, redact, redact_json};
