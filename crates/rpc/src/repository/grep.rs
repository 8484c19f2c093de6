//! Lines by content.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list_or_text;

params! {
    /// What is searched for in files.
    GrepParams {
        /// Text, or a regular expression.
        #[serde(alias = "query", alias = "q")]
        pattern: String,
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// It is a regular expression.
        regex: bool,
        /// Whether capitals matter; if absent, those of the pattern do.
        case_sensitive: bool,
        /// Only whole words.
        whole_words: bool,
        /// Only beneath this folder.
        #[serde(alias = "path")]
        directory: String,
        /// Only these extensions.
        #[serde(alias = "file_types", deserialize_with = "list_or_text")]
        extensions: Vec<String>,
        /// Only files that git tracks.
        git_tracked_only: bool,
        /// Lines shown before and after each match.
        #[serde(alias = "context")]
        context_lines: u32,
        /// Lines with a match at most.
        limit: u32,
        /// Lines with a match of one file at most.
        limit_per_file: u32,
        /// What is found comes as `grep_results` while it is found, and the answer at once.
        stream: bool,
    }
}

wire! {
    /// Where a match is in its line.
    GrepSpan {
        /// Its first byte.
        start: u64,
        /// The byte after its last.
        end: u64,
    }
}

wire! {
    /// A line of a file.
    GrepLine {
        /// Its number, from 1.
        line: u64,
        /// What it says, or the part around its first match if it is long.
        text: String,
        /// Where the matches are in `text`; none in a line of context.
        matches: Vec<GrepSpan>,
        /// It says more than `text`.
        truncated: bool,
    }
}

wire! {
    /// What was found in a file.
    GrepFile {
        /// Where it is.
        path: String,
        /// Lines with a match and those around them.
        lines: Vec<GrepLine>,
        /// Lines with a match among them.
        match_count: u64,
        /// The file has more of them.
        truncated: bool,
    }
}

wire! {
    /// What a search in files came to, or that it goes on.
    GrepResult {
        /// Its id, to cancel it.
        grep_id: String,
        /// `started` if what is found comes as events, else `completed`.
        status: String,
        /// What was found, in the order of the paths; nothing if it comes as events.
        files: Vec<GrepFile>,
        /// Lines with a match.
        total_matches: u64,
        /// Files with a match.
        matched_files: u64,
        /// Files that were looked into.
        searched_files: u64,
        /// There is more than the limit.
        truncated: bool,
        /// How long it took.
        elapsed_ms: f64,
    }
}

params! {
    /// A search in files that is wanted no more.
    GrepCancelParams {
        /// Which.
        grep_id: String,
        ;
    }
}
