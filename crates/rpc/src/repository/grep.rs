//! The methods that search the content of files.

use serde::{Deserialize, Serialize};

use super::list_or_text;

params! {
    /// Parameters of `repository/grep`.
    GrepParams {
        /// The text to find, or a regular expression with `regex`. An empty one is refused.
        #[serde(alias = "query", alias = "q")]
        pattern: String,
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Whether `pattern` is a regular expression; false if absent.
        regex: bool,
        /// Whether upper and lower case differ. If absent, they differ if the pattern has upper case.
        case_sensitive: bool,
        /// Whether to match only whole words; false if absent.
        whole_words: bool,
        /// Only files below this folder, relative to the workspace's folder; all if absent.
        #[serde(alias = "path")]
        directory: String,
        /// Only files with these extensions; all if absent.
        #[serde(alias = "file_types", deserialize_with = "list_or_text")]
        extensions: Vec<String>,
        /// Only files that git tracks; false if absent.
        git_tracked_only: bool,
        /// Lines to show before and after each match: at most 20, default 0.
        #[serde(alias = "context")]
        context_lines: u32,
        /// Most lines with a match: 1 to 10000, default 1000.
        limit: u32,
        /// Most lines with a match in one file: 1 to 10000, default 100.
        limit_per_file: u32,
        /// Whether to answer at once and send what is found as `grep_results` events; false if absent.
        /// Needs a connection.
        stream: bool,
    }
}

wire! {
    /// The position of a match in its line, in bytes.
    GrepSpan {
        /// First byte of the match, from 0 in `text`.
        start: u64,
        /// The byte after its last.
        end: u64,
    }
}

wire! {
    /// A line of a file.
    GrepLine {
        /// Number of the line, from 1.
        line: u64,
        /// The line, or of a long one the part around its first match.
        text: String,
        /// The matches in `text`; empty for a line of context.
        matches: Vec<GrepSpan>,
        /// Whether the line is longer than `text`.
        truncated: bool,
    }
}

wire! {
    /// The matches in one file.
    GrepFile {
        /// Path, relative to the workspace's folder.
        path: String,
        /// The lines with a match and the context around them, in order.
        lines: Vec<GrepLine>,
        /// Number of those lines that have a match.
        match_count: u64,
        /// Whether the file has more matches than `limit_per_file`.
        truncated: bool,
    }
}

wire! {
    /// The result of a search in files, or that it has started.
    GrepResult {
        /// Id of the search, for `repository/grep/cancel`.
        grep_id: String,
        /// `started` if the matches come as events, else `completed`.
        status: String,
        /// The files with matches, by path; empty if they come as events.
        files: Vec<GrepFile>,
        /// Number of lines with a match; 0 if they come as events.
        total_matches: u64,
        /// Number of files with a match; 0 if they come as events.
        matched_files: u64,
        /// Number of files that were searched; 0 if the matches come as events.
        searched_files: u64,
        /// Whether there are more matches than `limit`, or than fit into 768 KiB.
        truncated: bool,
        /// Time it took in milliseconds; 0 if the matches come as events.
        elapsed_ms: u64,
    }
}

params! {
    /// Parameters of `repository/grep/cancel`. Cancelling a search that has ended is no error.
    GrepCancelParams {
        /// Id of the search.
        grep_id: String,
        ;
    }
}
