//! The model of Roost: ids, events and their payloads, sessions, tools, runtimes, canonical JSON and hashes.
//!
//! Everything here is data and functions of data: no I/O, no clock but [`time::Timestamp::now`], no async. The methods
//! that clients call are `roost-rpc`'s; what cdev clients see of events is made in `roost-server`.
//!
//! Decisions:
//! * [`event::EventBody`] ties a type name to its payload in one table, so the two cannot disagree; a type that this
//!   version does not know is kept as it came.
//! * [`session::SessionRecord`] is a fold over events. The log stores it beside them in the same transaction, and can
//!   therefore always rebuild it.
//! * Ids are `Arc<str>` newtypes: stamping them on every delta must not allocate.
//!
//! An event from a draft to its line in the log, and back:
//!
//! ```
//! use roost_model::event::{NewEvent, NormalizedEvent, RuntimeRef, Trace};
//! use roost_model::ids::SessionId;
//! use roost_model::payload::TaskCompletedPayload;
//! use roost_model::runtime::RuntimeName;
//! use roost_model::time::Timestamp;
//!
//! let draft = NewEvent {
//!     time: Timestamp::from_millis(0),
//!     trace: Trace::session(SessionId::from("s1")),
//!     runtime: RuntimeRef::new(RuntimeName::Demo),
//!     body: TaskCompletedPayload { reason: "end_turn".into() }.into(),
//! };
//! let event = draft.numbered(7);
//! let line = serde_json::to_string(&event)?;
//! println!("{line}");
//! assert_eq!(
//!     line,
//!     r#"{"schema_version":1,"seq":7,"time":"1970-01-01T00:00:00.000Z","type":"task.completed","#.to_owned()
//!         + r#""trace":{"session_id":"s1"},"runtime":{"name":"demo"},"payload":{"reason":"end_turn"}}"#
//! );
//! assert_eq!(serde_json::from_str::<NormalizedEvent>(&line)?, event);
//! # Ok::<(), serde_json::Error>(())
//! ```

pub mod approval;
pub mod canonical;
pub mod content;
pub mod event;
pub mod failure;
pub mod ids;
mod json;
pub mod mode;
pub mod pattern;
pub mod payload;
pub mod registry;
pub mod run;
pub mod runtime;
#[cfg(feature = "schema")]
pub mod schema;
pub mod scope;
pub mod secret;
pub mod service;
pub mod session;
pub mod sources;
pub mod time;
pub mod tool;
pub mod transcript;
