//! Roost: testkit.
