//! A model that follows a script, spoken to over the APIs of four providers: real agents run against it without an
//! account and without a network.
//!
//! The prompt says what the model does: the last `SCRIPT:<name>` in what the user said picks a row of
//! [`script::SCRIPTS`]. The server keeps nothing between requests; everything follows from the conversation that each
//! request brings. Once the conversation holds the results of the script's tool calls, the model says what it was shown:
//! `FINAL saw <n> tool result(s): …`.
//!
//! `model_request` is a parsed request, [`script`] what the model does then, and each API is a pure translation of the two:
//! `messages` (Anthropic), `responses` and `chat` (OpenAI), `gemini` (Google). [`ModelServer`] has them all behind one port.

mod chat;
mod dialect;
mod gemini;
mod messages;
mod model_request;
mod responses;
mod route;
pub mod script;
mod server;
mod sse;
mod tools;

pub use dialect::Api;
pub use server::{End, ModelServer, RecordedRequest};

/// Input tokens that every answer reports; with Anthropic's API the cached ones come on top.
pub const INPUT_TOKENS: u64 = 100;
/// Cached input tokens that every answer reports.
pub const CACHED_TOKENS: u64 = 40;
/// Output tokens that every answer reports.
pub const OUTPUT_TOKENS: u64 = 25;
/// Reasoning tokens that every answer reports, where the API has such a field.
pub const REASONING_TOKENS: u64 = 5;
