//! The commands, one file each.

pub(crate) mod approvals;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod log;
pub(crate) mod run;
pub(crate) mod runtimes;
pub(crate) mod sessions;
