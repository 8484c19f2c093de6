//! The methods that list and search a workspace's files by means of its index.

mod grep;
mod search;

use roost_model::time::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

use super::file::{FileInfo, FilesPage};

pub use grep::*;
pub use search::*;

params! {
    /// Parameters that select a workspace's index.
    #[derive(Default)]
    RepositoryParams {
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
    }
}

words! {
    /// The state of an index.
    IndexWord {
        /// It was not built yet; asking for its status builds it.
        Initializing,
        /// It is being built.
        Indexing,
        /// It can be searched.
        Ready,
        /// It could not be built; see `error_message`.
        Error,
    }
}

wire! {
    /// The state of a workspace's index.
    IndexStatusResult {
        /// The state in one word.
        status: IndexWord,
        /// Files in the index.
        total_files: u64,
        /// The same as `total_files`, because files are never indexed in part.
        indexed_files: u64,
        /// Size of those files together, in bytes.
        total_size_bytes: u64,
        /// When all files were last read; absent before the first time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_full_scan: Option<Timestamp>,
        /// When the index last changed; absent before the first time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_update: Option<Timestamp>,
        /// The same as `last_update`, by the name that some clients read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_indexed_at: Option<Timestamp>,
        /// Memory that the index uses, in bytes.
        database_size_bytes: u64,
        /// The same as `database_size_bytes`, by the name that some clients read.
        index_size_bytes: u64,
        /// Whether the workspace is in a git repository.
        is_git_repo: bool,
        /// 1 if the index is ready, else 0.
        progress: f64,
        /// Whether a file watcher keeps it up to date.
        is_live: bool,
        /// Files that are left out because their names are not UTF-8.
        unnamed_files: u64,
        /// Why the index could not be built; absent if it could.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_message: Option<String>,
    }
}

params! {
    /// Parameters of `repository/index/rebuild`.
    #[derive(Default)]
    IndexRebuildParams {
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Accepted and ignored: while the index is being built, a second build would change nothing.
        force: bool,
    }
}

words! {
    /// Whether a rebuild was started.
    RebuildWord {
        /// It was started and runs in the background; see `repository/index/status`.
        Started,
        /// The index was already being built.
        AlreadyIndexing,
    }
}

wire! {
    /// The answer to a request for a rebuild.
    IndexRebuildResult {
        /// Whether a rebuild was started.
        status: RebuildWord,
        /// The result for people.
        message: String,
    }
}

wire! {
    /// A file in the index.
    RepositoryFile {
        /// The fields that every list of files has.
        #[serde(flatten)]
        file: FileInfo,
        /// Number of lines; absent if they were not counted yet or it is not text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line_count: Option<u64>,
        /// How well it matches the query, from 0 to 1; absent outside a search.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        match_score: Option<f64>,
    }
}

words! {
    /// What files are sorted by.
    FileSort {
        /// By name without the path; the default.
        Name,
        /// By size in bytes.
        Size,
        /// By time of the last modification.
        Modified,
        /// By path, relative to the workspace's folder.
        Path,
    }
}

words! {
    /// The direction in which files are sorted.
    SortOrder {
        /// Smallest, oldest or first in the alphabet first.
        Asc,
        /// Largest, newest or last in the alphabet first.
        Desc,
    }
}

params! {
    /// Parameters of `repository/files/list`.
    #[derive(Default)]
    RepositoryListParams {
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Path of the folder, relative to the workspace's folder; the workspace's folder itself if absent.
        #[serde(alias = "path")]
        directory: String,
        /// Whether to include the files of its subfolders; false if absent.
        recursive: bool,
        /// Most files to return: 1 to 1000, default 100. Folders are not counted.
        limit: u32,
        /// Files to skip; 0 if absent.
        offset: u32,
        /// What to sort by; `name` if absent.
        #[serde(alias = "sort")]
        sort_by: FileSort,
        /// The direction of the order; `asc` if absent.
        #[serde(alias = "order")]
        sort_order: SortOrder,
        /// Only files with these extensions; all if absent.
        #[serde(alias = "file_types", deserialize_with = "list_or_text")]
        extensions: Vec<String>,
        /// Only files of at least this size in bytes; all if absent.
        min_size: u64,
        /// Only files of at most this size in bytes; all if absent.
        max_size: u64,
    }
}

wire! {
    /// A folder in the index.
    RepositoryFolder {
        /// Path, relative to the workspace's folder.
        path: String,
        /// Name without the path.
        name: String,
        /// Files in it and in its subfolders.
        file_count: u64,
        /// Folders directly in it.
        folder_count: u64,
        /// Size of those files together, in bytes.
        total_size_bytes: u64,
        /// When the newest of those files was modified.
        last_modified: Timestamp,
    }
}

wire! {
    /// A page of a folder's files, and its folders.
    RepositoryListResult {
        /// Path of the folder, relative to the workspace's folder.
        directory: String,
        /// The files of this page, in the order that was requested.
        files: Vec<RepositoryFile>,
        /// The folders in it, at most 1000; not paged.
        directories: Vec<RepositoryFolder>,
        /// Number of files on all pages.
        total_files: u64,
        /// Number of folders in it.
        total_directories: u64,
        /// Which part of the files this page contains.
        pagination: FilesPage,
    }
}

params! {
    /// Parameters of `repository/files/tree`.
    #[derive(Default)]
    TreeParams {
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Path of the top folder, relative to the workspace's folder; the workspace's folder itself if absent.
        #[serde(alias = "directory")]
        path: String,
        /// Levels of folders to open: at most 10, default 2.
        depth: u32,
        /// Whether to include names that begin with a dot; false if absent.
        include_hidden: bool,
    }
}

wire! {
    /// A folder or file in a tree.
    TreeNode {
        /// Path, relative to the workspace's folder.
        path: String,
        /// Name without the path.
        name: String,
        /// Whether it is a file or a folder.
        #[serde(rename = "type")]
        kind: super::file::EntryType,
        /// The entries of a folder; absent for a file, and for a folder below `depth`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        children: Option<Vec<TreeNode>>,
        /// Size of a file in bytes; absent for a folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size_bytes: Option<u64>,
        /// What follows the last dot of a file's name; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extension: Option<String>,
        /// Files in a folder and its subfolders; absent for a file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file_count: Option<u64>,
        /// Size of those files together, in bytes; absent for a file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_size_bytes: Option<u64>,
    }
}

wire! {
    /// A tree of folders. Its top is there twice: its fields at this level, and again as `root`.
    TreeResult {
        /// The top folder.
        #[serde(flatten)]
        node: TreeNode,
        /// The top folder again, for clients that read it here.
        root: TreeNode,
        /// Number of nodes in the tree.
        total_nodes: u64,
        /// Whether the tree is as deep as `depth` allows, so that there may be more below it.
        max_depth_reached: bool,
        /// Whether nodes are missing because there are more than 2500 or they would exceed 768 KiB.
        truncated: bool,
    }
}

wire! {
    /// How much of a workspace is written in one language.
    LanguageStats {
        /// Name of the language, judged by the files' extensions.
        language: String,
        /// Number of files.
        files: u64,
        /// Number of lines.
        lines: u64,
        /// Size in bytes.
        bytes: u64,
        /// Share of the bytes in percent, from 0 to 100.
        percentage: f64,
    }
}

wire! {
    /// Numbers about a workspace's files.
    RepositoryStats {
        /// Number of files.
        total_files: u64,
        /// Number of folders.
        total_directories: u64,
        /// Size of all files together, in bytes.
        total_size_bytes: u64,
        /// Number of lines in all text files.
        total_lines: u64,
        /// Number of files by extension, for the 20 most frequent ones.
        files_by_extension: serde_json::Map<String, serde_json::Value>,
        /// The 10 largest files.
        largest_files: Vec<RepositoryFile>,
        /// The 10 files that were modified last.
        recently_modified: Vec<RepositoryFile>,
        /// Number of files that git tracks.
        git_tracked_files: u64,
        /// Always 0, because the index leaves out what git ignores.
        git_ignored_files: u64,
        /// Number of files that are not text.
        binary_files: u64,
        /// Number of files whose names suggest that they contain secrets.
        sensitive_files: u64,
        /// The languages, the one with the most bytes first.
        languages: Vec<LanguageStats>,
    }
}

/// Reads a list, or a text with commas in the way of a URL's query.
fn list_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        List(Vec<String>),
        Text(String),
    }
    Ok(Option::<Either>::deserialize(deserializer)?.map(|either| match either {
        Either::List(list) => list,
        Either::Text(text) => text.split(',').map(|word| word.trim().to_owned()).collect(),
    }))
}
