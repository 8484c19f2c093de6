//! Settings files of other programs, which people keep by hand: JSON, perhaps with comments and trailing commas, and TOML.
//! Comments, order and everything else stay as they are, and a copy of a file is made before it is changed.

mod file;
pub mod json;
pub mod toml;

pub use file::{SettingsChange, Written};
