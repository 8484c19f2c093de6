//! Tells a network that is down from other failures, in the words of several agents.

/// What system calls, resolvers and HTTP libraries say when no connection can be made, in lower case.
const SIGNS: [&str; 14] = [
    "econnrefused",
    "enotfound",
    "eai_again",
    "enetunreach",
    "ehostunreach",
    "etimedout",
    "connection refused",
    "network is unreachable",
    "no route to host",
    "could not resolve host",
    "failed to lookup address",
    "dns error",
    "error sending request for url",
    "fetch failed",
];

/// True if a message says that no connection could be made.
pub(super) fn is_down(message: &str) -> bool {
    let message = message.to_lowercase();
    SIGNS.iter().any(|sign| message.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_so_is_a_network_that_is_down() {
        let table = [
            ("request failed: connect ECONNREFUSED 127.0.0.1:9", true),
            ("TypeError: fetch failed", true),
            ("stream error: error sending request for url (http://127.0.0.1:9/v1/responses)", true),
            ("getaddrinfo EAI_AGAIN api.example.com", true),
            ("429 Too Many Requests", false),
            ("the model refused", false),
        ];
        for (message, expected) in table {
            assert_eq!(is_down(message), expected, "{message}");
        }
    }
}
