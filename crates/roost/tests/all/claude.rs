//! Claude Code itself, under its adapter, with a scripted model: what the contract of all adapters does not ask.

mod background;
mod faults;
mod live;
mod own_permissions;
mod remembering;
mod stopping;
mod surviving;
mod talking;
mod tools;
