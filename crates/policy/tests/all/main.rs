//! The policy seen from outside.

mod classes;
mod decisions;
mod kit;
mod redaction;
mod remembered;
mod rules;
mod shell;
mod unasked;
