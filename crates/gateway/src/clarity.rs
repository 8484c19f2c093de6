//! Clarity projects: help, sources, a scaffold, and the compiler that makes a module of them.
//!
//! Decisions:
//! * The compiler is the configured one. No caller chooses a program, and nothing is installed for a caller.
//! * Everything is read and written beneath one folder, which links do not lead out of.
//! * A new project is written as a whole or not at all ([`ProjectFiles::write`]).

mod compiler;
mod help;
mod install;
mod project;
mod sources;

pub use compiler::{Compiler, CompilerError};
pub use help::{TOPICS, help};
pub use install::InstallCommand;
pub use project::{ProjectError, ProjectFiles, ProjectNames, WrittenProject, read_artifact};
pub use sources::{Source, SourceQuery, Sources, list_sources};
