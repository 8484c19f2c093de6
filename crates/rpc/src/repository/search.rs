//! Files by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RepositoryFile, list_or_text};

words! {
    /// How names are compared.
    SearchMode {
        /// All letters in order, anywhere in the path.
        Fuzzy,
        /// The text as it is, anywhere in the path.
        Exact,
        /// The text as it is, where the name or the path begins.
        Prefix,
        /// The extension.
        Extension,
    }
}

params! {
    /// What is searched for.
    SearchParams {
        /// The text.
        #[serde(alias = "q")]
        query: String,
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// How it is compared; fuzzy if absent.
        mode: SearchMode,
        /// So many files at most.
        limit: u32,
        /// After so many.
        offset: u32,
        /// Only these extensions.
        #[serde(alias = "file_types", deserialize_with = "list_or_text")]
        extensions: Vec<String>,
        /// No files that are no text; so if absent.
        exclude_binaries: bool,
        /// Only files that git tracks.
        git_tracked_only: bool,
        /// Only files of at least so many bytes.
        min_size: u64,
        /// Only files of at most so many bytes.
        max_size: u64,
    }
}

wire! {
    /// Files that fit, the best first.
    SearchResult {
        /// The text.
        query: String,
        /// How it was compared.
        mode: SearchMode,
        /// Some of them.
        results: Vec<RepositoryFile>,
        /// How many there are.
        total: u64,
        /// There are more after these.
        has_more: bool,
        /// How long it took.
        elapsed_ms: f64,
    }
}

wire! {
    /// A search that goes on: what fits comes as `search_results`.
    SearchStarted {
        /// Its id, for changes.
        search_id: String,
        /// Always `started`.
        status: String,
    }
}

params! {
    /// Another text for a search that goes on.
    SearchUpdateParams {
        /// Which search.
        search_id: String,
        /// The text.
        #[serde(alias = "q")]
        query: String,
        ;
    }
}

params! {
    /// A search that is wanted no more.
    SearchCancelParams {
        /// Which.
        search_id: String,
        ;
    }
}
