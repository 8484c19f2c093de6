//! The typed payload of every event: one file per subject, all reached as `payload::Name`.
//!
//! Those of seed 001 keep the seed's names and fields; fields and types of Roost's own are additions.

macro_rules! payload {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $ty:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty),* }
    };
}

mod approval;
mod gateway;
mod host;
mod model;
mod plan;
mod question;
mod runtime;
mod service;
mod session;
mod task;
mod tool;

pub use approval::*;
pub use gateway::*;
pub use host::*;
pub use model::*;
pub use plan::*;
pub use question::*;
pub use runtime::*;
pub use service::*;
pub use session::*;
pub use task::*;
pub use tool::*;
