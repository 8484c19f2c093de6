//! The Rust client of the method table, over the local socket.
//!
//! ```no_run
//! # async fn example() -> Result<(), roost_client::Error> {
//! use roost_client::Client;
//! use roost_rpc::{SubscribeParams, method};
//!
//! let client = Client::connect("/home/me/.local/state/roost/roost.sock".as_ref()).await?;
//! let pending = client.call::<method::PermissionPending>(Default::default()).await?;
//! let mut events = client.subscribe(SubscribeParams::default()).await?;
//! println!("{} wait; {} new events", pending.count, events.next().await?.events.len());
//! # Ok(()) }
//! ```
//!
//! Decisions:
//! * **Calls and events have a connection each.** A [`Subscription`] reads its own socket only when it is asked for the
//!   next batch, so a slow reader fills the kernel's buffer and then makes the daemon wait, and nothing here grows. If
//!   both shared one connection, a call's answer could lie behind events that nobody takes before the answer is there.
//! * **A connection of calls is one task**, which ends with the last [`Client`]. Of notifications it keeps only
//!   the last, which is enough to show the progress of a call.
//! * **A subscription keeps other notifications for the caller**, the last 64 of them, whether or not this client
//!   knows their names.
//! * **A call that is no longer waited for** is not taken back: what the daemon has accepted it carries out.

mod client;
mod connection;
mod error;
mod line;
mod subscription;

pub use client::Client;
pub use error::Error;
pub use line::Notification;
pub use subscription::Subscription;
