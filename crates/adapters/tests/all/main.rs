//! All integration tests of the adapters, in one binary.

mod demo_agent;
