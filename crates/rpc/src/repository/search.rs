//! The methods that search files by name.

use serde::{Deserialize, Serialize};

use super::{RepositoryFile, list_or_text};

words! {
    /// How a query is compared with a file's path.
    SearchMode {
        /// All characters of the query occur in this order anywhere in the path.
        Fuzzy,
        /// The query occurs unchanged anywhere in the path.
        Exact,
        /// The name or the path begins with the query.
        Prefix,
        /// The file has this extension.
        Extension,
    }
}

params! {
    /// Parameters of `repository/search` and `repository/search/start`.
    SearchParams {
        /// The text to search for, at most 1000 characters.
        #[serde(alias = "q")]
        query: String,
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// How to compare; `fuzzy` if absent.
        mode: SearchMode,
        /// Most files to return: 1 to 500, default 50.
        limit: u32,
        /// Files to skip; 0 if absent.
        offset: u32,
        /// Only files with these extensions; all if absent.
        #[serde(alias = "file_types", deserialize_with = "list_or_text")]
        extensions: Vec<String>,
        /// Whether to leave out files that are not text; true if absent.
        exclude_binaries: bool,
        /// Only files that git tracks; false if absent.
        git_tracked_only: bool,
        /// Only files of at least this size in bytes; all if absent.
        min_size: u64,
        /// Only files of at most this size in bytes; all if absent.
        max_size: u64,
    }
}

wire! {
    /// The files that match, best first.
    SearchResult {
        /// The query from the parameters.
        query: String,
        /// How it was compared.
        mode: SearchMode,
        /// The files of this page.
        results: Vec<RepositoryFile>,
        /// Number of files that match, on all pages.
        total: u64,
        /// Whether there are more files after these.
        has_more: bool,
        /// Time it took in milliseconds.
        elapsed_ms: u64,
    }
}

wire! {
    /// An interactive search has started. Results come as `search_results` events, now and after every change.
    SearchStarted {
        /// Id of the search, for `repository/search/update` and `repository/search/cancel`.
        search_id: String,
        /// Always `started`; a failure is an error.
        status: String,
    }
}

params! {
    /// Parameters of `repository/search/update`.
    SearchUpdateParams {
        /// Id of the search.
        search_id: String,
        /// The new text to search for, at most 1000 characters.
        #[serde(alias = "q")]
        query: String,
        ;
    }
}

params! {
    /// Parameters of `repository/search/cancel`.
    SearchCancelParams {
        /// Id of the search.
        search_id: String,
        ;
    }
}
