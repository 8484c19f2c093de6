//! The engine at its boundary: commands in, a real log out, a scripted runtime behind it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "clippy knows test functions, but not their helpers")]

mod adopting;
mod approving;
mod approving_faults;
mod conversation;
mod deciding;
mod ending;
mod failing;
mod forking;
mod full_disk;
mod full_house;
mod hosting;
mod ledger;
mod ledger_model;
mod lying;
mod model;
mod questioning;
mod recovering;
mod remembering;
mod resuming;
mod shell_folder;
mod steering;
mod stopping;
mod tool_servers;
mod watched;
