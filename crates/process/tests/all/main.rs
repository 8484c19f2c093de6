//! The crate at its boundary: real holders, real processes, real pipes.

mod crash;
mod launch;
mod stop;
mod streams;
mod support;
