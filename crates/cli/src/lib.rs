//! The command line: every command, what it prints and what it asks at the terminal.
//!
//! Commands talk to the daemon over its socket and read the log at rest where none runs. What needs the daemon's own
//! parts comes from a [`Backend`], which the composition root implements: so this crate is not built anew when the
//! engine, the server or an adapter changes.

mod ago;
mod ask;
mod backend;
mod background;
mod blocking;
mod bundle;
mod clarity;
mod cli;
mod cmd;
mod complete;
mod connect;
mod conversation;
mod diagnostics;
mod editor;
mod error;
mod exit;
mod find;
mod gutter;
mod interrupt;
mod keyboard;
mod line;
mod pairing;
mod past;
mod paths;
mod printer;
mod reading;
mod render;
mod screen;
mod size;
mod state_lock;
mod stderr;
mod style;
mod table;
mod tls;
mod typed;
mod watch;
mod workspace;
mod wrap;

pub use backend::{
    ArtifactLoss, Backend, CommandSettings, Installation, Login, LoginCommand, NativeSessions, RuntimeReport, Work,
};
pub use background::{StartResult, detach, say_failed};
pub use blocking::blocking;
pub use cli::{Launch, main};
pub use cmd::serve::{Args as ServeArgs, DAEMON_NAME, Listen};
pub use connect::{find_with_status, stop_daemon};
pub use diagnostics::{filter, for_people};
pub use error::Error;
pub use exit::Exit;
pub use interrupt::Interrupt;
pub use pairing::{say_code_ended, say_listening};
pub use paths::{StateDir, config_file, working_directory};
pub use state_lock::lock;
pub use tls::Tls;
