//! The words of Roost: wire types, ids, canonical JSON and hashes, and pure projections of events.
//!
//! Everything here is data and functions of data: no I/O, no clock but [`time::Timestamp::now`], no async. Other crates convert
//! at their edges; only these types are serialised.
//!
//! Decisions:
//! * [`event::EventBody`] ties a type name to its payload in one table, so the two cannot disagree; a type that this
//!   version does not know is kept as it came.
//! * [`session::SessionRecord`] is a fold over events. The log stores it beside them in the same transaction, and can
//!   therefore always rebuild it.
//! * Ids are `Arc<str>` newtypes: stamping them on every delta must not allocate.

pub mod canonical;
pub mod content;
pub mod event;
pub mod failure;
pub mod ids;
pub mod mode;
pub mod payload;
pub mod registry;
pub mod runtime;
pub mod schema;
pub mod session;
pub mod time;
pub mod tool;
pub mod transcript;
