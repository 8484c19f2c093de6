//! Roost: log.
