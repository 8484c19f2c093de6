//! Token counts: `codex exec` reports totals of the thread, we report usage per turn.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use roost_model::payload::UsageReportedPayload;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The token totals of a thread so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Totals {
    input_tokens: u64,
    cached_input_tokens: u64,
    output_tokens: u64,
    reasoning_output_tokens: u64,
}

impl Totals {
    /// Reads the last totals in a thread's rollout file; zero if there are none. Blocks on the disk.
    pub(super) fn from_rollout(file: &Path) -> io::Result<Self> {
        let mut last = Self::default();
        for line in BufReader::new(File::open(file)?).split(b'\n') {
            let line = line?;
            let Ok(line) = serde_json::from_slice::<Value>(&line) else { continue };
            let counted = line.pointer("/payload/type").is_some_and(|kind| kind == "token_count");
            let totals = line.pointer("/payload/info/total_token_usage").filter(|_| counted);
            last = totals.and_then(|totals| Self::deserialize(totals).ok()).unwrap_or(last);
        }
        Ok(last)
    }

    /// The usage since `before`.
    pub(super) fn since(self, before: Self) -> UsageReportedPayload {
        UsageReportedPayload {
            input_tokens: Some(self.input_tokens.saturating_sub(before.input_tokens)),
            cached_input_tokens: Some(self.cached_input_tokens.saturating_sub(before.cached_input_tokens)),
            output_tokens: Some(self.output_tokens.saturating_sub(before.output_tokens)),
            reasoning_tokens: Some(self.reasoning_output_tokens.saturating_sub(before.reasoning_output_tokens)),
            cost_usd: None,
            context: None,
        }
    }
}
