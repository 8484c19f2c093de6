//! Roost: adapters.

pub mod demo;
