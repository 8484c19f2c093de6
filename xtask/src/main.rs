//! The habits of the project as code.

fn main() {}
