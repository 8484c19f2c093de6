//! Lines by their content: every match over the door, beside `rg` with line numbers.
//!
//! `rg -n` is the harder yardstick: its `--json` tells the places of the matches as we do, and takes longer.

use std::time::Instant;

use serde_json::{Value, json};

use super::tool::{measure_alternately, run};
use super::tree::{ANY_CASE, COMMON, RARE};
use super::workspace_daemon::WorkspaceDaemon;
use super::{BENCH, Tree};
use crate::Outcome;
use crate::figure::{Table, Target, millis};

/// The limit of lines in every search; no pattern reaches it.
const LIMIT: usize = 10_000;

/// A search: its text, the parameters for the daemon and the flags for `rg`.
struct Pattern {
    what: &'static str,
    text: &'static str,
    params: Value,
    flags: &'static [&'static str],
}

/// Adds the time to stream all matches of several patterns, beside `rg -n`; both must find the same lines.
pub(super) fn measure(table: &mut Table, tree: &Tree) -> Outcome {
    let mut host = WorkspaceDaemon::start()?;
    let id = host.add(tree.folder.path())?;
    host.follow(&id)?;
    let patterns = [
        Pattern { what: "rare text", text: RARE, params: json!({}), flags: &["-F", "-s"] },
        Pattern { what: "common text", text: COMMON, params: json!({}), flags: &["-F", "-s"] },
        Pattern {
            what: "regular expression",
            text: r"\b(kafka|redis)_(sink|source)\b",
            params: json!({ "regex": true }),
            flags: &["-s"],
        },
        Pattern { what: "any case", text: ANY_CASE, params: json!({ "case_sensitive": false }), flags: &["-F", "-i"] },
    ];
    for pattern in &patterns {
        search(table, &mut host, tree, &id, pattern)?;
    }
    Ok(())
}

fn search(table: &mut Table, host: &mut WorkspaceDaemon, tree: &Tree, id: &str, pattern: &Pattern) -> Outcome {
    let (name, folder, what) = (tree.name, tree.folder.path(), pattern.what);
    let (mut found, mut lines) = (0, 0);
    let ours = || {
        let (took, count) = streamed(host, id, pattern)?;
        found = count;
        Ok(took)
    };
    let theirs = || {
        let args = [&["-n", "--hidden", "--glob", "!.git"], pattern.flags, &["-e", pattern.text, "."]].concat();
        let (took, output) = run(folder, "rg", &args, b"")?;
        lines = output.iter().filter(|byte| **byte == b'\n').count();
        Ok(took)
    };
    let (ours, theirs) = measure_alternately(tree.rounds, ours, theirs)?;
    if found != lines {
        return Err(format!("{name}, {what}: {found} lines found, {lines} by rg").into());
    }
    table.add(BENCH, format!("{name}: {what} by `rg -n`, p50"), theirs, "ms", Target::None);
    let what = format!("{name}: {what} in {found} lines, WebSocket, p50");
    table.add(BENCH, what, ours, "ms", Target::AtMost(theirs * 1.2));
    Ok(())
}

/// Milliseconds from the call to the last streamed match, and the number of lines found.
fn streamed(host: &mut WorkspaceDaemon, id: &str, pattern: &Pattern) -> Outcome<(f64, usize)> {
    let mut params = pattern.params.clone();
    for (name, value) in [("limit", LIMIT), ("limit_per_file", LIMIT)] {
        params[name] = value.into();
    }
    params["case_sensitive"] = pattern.params.get("case_sensitive").cloned().unwrap_or(true.into());
    params["pattern"] = pattern.text.into();
    params["stream"] = true.into();
    params["workspace_id"] = id.into();
    let start = Instant::now();
    host.client.send("repository/grep", params)?;
    let frames = host.client.frames_until(|frame| memchr::memmem::find(frame, b"event/grep_completed").is_some())?;
    let took = millis(start.elapsed());
    let mut lines = 0;
    for frame in frames {
        let message: Value = serde_json::from_slice(&frame)?;
        if let Some(error) = message.get("error") {
            return Err(format!("the daemon refused a search: {error}").into());
        }
        let files = message["params"]["files"].as_array();
        lines += files.into_iter().flatten().filter_map(|file| file["match_count"].as_u64()).sum::<u64>();
    }
    Ok((took, lines as usize))
}
