//! Roost: engine.
