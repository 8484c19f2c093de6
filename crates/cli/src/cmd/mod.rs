//! The commands, one file each.

pub(crate) mod acp;
pub(crate) mod approvals;
pub(crate) mod attach;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod devices;
pub(crate) mod doctor;
pub(crate) mod down;
pub(crate) mod export;
pub(crate) mod files;
pub(crate) mod git;
pub(crate) mod log;
pub(crate) mod login;
pub(crate) mod pair;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod runtimes;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod sessions;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod up;
pub(crate) mod workspaces;
