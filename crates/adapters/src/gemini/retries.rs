//! The lines of Gemini's debug log, which comes over stderr, by which it tells that a request to its provider failed and
//! is sent again. The protocol says nothing about it, and with a provider that is down it goes on for minutes.

use serde_json::Value;

use crate::acp::StderrLine;
use crate::provider_errors::ProviderRetry;

/// Reads a line of stderr: of the debug log (`[time] [WARN] …`) only what people should know, and no stack traces.
pub(super) fn read_stderr(line: &str) -> StderrLine {
    let entry = line.strip_prefix('[').and_then(|line| line.split_once("Z] [")?.1.split_once("] "));
    match entry {
        Some((_, text)) => read_retry(text).map_or(StderrLine::Debug, StderrLine::Warning),
        // The rest of an entry of several lines.
        None if line.starts_with([' ', '\t', '}']) => StderrLine::Debug,
        None => StderrLine::Plain,
    }
}

/// The sentence for people about a request that is sent again; `None` for every other text.
fn read_retry(line: &str) -> Option<String> {
    let (attempt, rest) = line.strip_prefix("Attempt ")?.split_once(" failed")?;
    let attempt = attempt.parse().ok()?;
    let (how, error) = rest.split_once("Retrying ")?;
    let status = how.split(|c: char| !c.is_ascii_digit()).find(|digits| digits.len() == 3);
    let status = status.filter(|_| how.starts_with(" with ")).and_then(|digits| digits.parse().ok());
    // Either the reason stands before "Retrying after 5000ms...", or an error after "Retrying with backoff...".
    let before = how.strip_prefix(": ").map(|reason| reason.trim_end_matches(". "));
    let reason = before.unwrap_or_else(|| error.split_once("... ").map_or("", |(_, error)| error));
    Some(ProviderRetry { runtime: "Gemini", attempt, status, reason: &provider_message(reason) }.message())
}

/// The provider's own sentence, if the error holds its JSON answer.
fn provider_message(error: &str) -> String {
    let answer = error.find('{').and_then(|at| serde_json::from_str::<Value>(&error[at..]).ok());
    let message = answer.as_ref().and_then(|answer| answer.pointer("/error/message")?.as_str());
    message.unwrap_or(error).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_debug_log_only_retries_are_kept() {
        let retry = "[2026-11-16T15:54:10.123Z] [WARN] Attempt 1 failed with status 500. Retrying with backoff... ";
        assert!(matches!(read_stderr(retry), StderrLine::Warning(text) if text.contains("an error of its own")));
        assert_eq!(read_stderr("[2026-11-16T15:54:10.123Z] [DEBUG] Hook registry initialized"), StderrLine::Debug);
        assert_eq!(read_stderr("    at async Turn.run (file:///x.js:1:2)"), StderrLine::Debug);
        assert_eq!(read_stderr("no more room"), StderrLine::Plain);
    }

    #[test]
    fn a_retry_is_told_with_what_went_wrong_and_what_to_do() {
        let later = "wait, or stop the task and try again later";
        let cases = [
            (
                r#"Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {"error":{"message":"slow down"}}"#,
                format!(
                    "the provider takes no more requests for now (HTTP 429) (slow down); Gemini tries again after 1 \
                     failed: {later}"
                ),
            ),
            (
                "Attempt 2 failed: too busy. Retrying after 5000ms...",
                format!(
                    "the provider did not answer as it should (too busy); Gemini tries again after 2 failed: {later}"
                ),
            ),
            (
                "Attempt 3 failed. Retrying with backoff... TypeError: fetch failed",
                "the provider cannot be reached: the network is down, or its address is wrong (TypeError: fetch \
                 failed); Gemini tries again after 3 failed: check the connection, or stop the task"
                    .to_owned(),
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(read_retry(line), Some(expected), "{line}");
        }
        for line in ["Attempt 1 failed: scripted error. Max attempts reached", "    at async retry", "Attempt"] {
            assert_eq!(read_retry(line), None, "{line}");
        }
    }
}
