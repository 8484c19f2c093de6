//! The services: declared, supervised, listed, approved, and apart from each other.

mod approving;
mod declaring;
mod faults;
pub(crate) mod kit;
mod living;
mod lost;
mod pooling;
