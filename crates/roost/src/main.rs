//! Roost: roost.

fn main() {}
