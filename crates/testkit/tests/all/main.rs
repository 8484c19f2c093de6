//! The scripted model, and real agents that talk to it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod acp_schema;
mod asking;
mod egress;
mod one_shot;
