//! Roost: bench.

fn main() {}
