//! Roost: adapters.
