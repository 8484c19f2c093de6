//! The policy seen from outside.

mod classes;
mod compound;
mod decisions;
mod everyday;
mod kit;
mod permissions;
mod redaction;
mod remembered;
mod rules;
mod second_look;
mod second_parser;
mod shell;
mod shell_lines;
mod unasked;
