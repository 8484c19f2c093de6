//! Roost: process.
