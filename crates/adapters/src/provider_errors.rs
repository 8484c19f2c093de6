//! Words for what a runtime says about the provider of its model, shared by the runtimes that tell it only as text.

/// What a connection that cannot be made most likely means.
pub(crate) const UNREACHABLE: &str = "the provider cannot be reached: the network is down, or its address is wrong";

/// Texts of Node and Bun that say that no connection was made.
const NO_CONNECTION: [&str; 9] = [
    "Cannot connect to API",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ENOTFOUND",
    "ETIMEDOUT",
    "Unable to connect",
    "fetch failed",
];

/// Whether an error's text says that the provider could not be reached.
pub(crate) fn is_unreachable(text: &str) -> bool {
    NO_CONNECTION.iter().any(|sign| text.contains(sign))
}

/// A request to the provider that failed and that the runtime sends again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProviderRetry<'a> {
    /// The runtime's name for people.
    pub(crate) runtime: &'a str,
    /// How often the request has failed by now.
    pub(crate) attempt: u64,
    /// The HTTP status of the answer, if there was one.
    pub(crate) status: Option<u64>,
    /// What went wrong, in the runtime's or the provider's words; may be empty.
    pub(crate) reason: &'a str,
}

impl ProviderRetry<'_> {
    /// The sentence for people: what went wrong, that the runtime goes on, and what to do.
    pub(crate) fn message(self) -> String {
        let Self { runtime, attempt, status, reason } = self;
        let later = "wait, or stop the task and try again later";
        let (what, advice) = match status {
            None if is_unreachable(reason) => (UNREACHABLE, "check the connection, or stop the task"),
            Some(429) => ("the provider takes no more requests for now (HTTP 429)", later),
            Some(500..) => ("the provider has an error of its own", later),
            _ => ("the provider did not answer as it should", later),
        };
        let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
        format!("{what}{reason}; {runtime} tries again after {attempt} failed: {advice}")
    }
}
