//! The files of a workspace by name and by content, out of its index.

mod grep;
mod search;

use roost_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::file::{FileInfo, FilesPage};

pub use grep::*;
pub use search::*;

params! {
    /// A workspace's files.
    #[derive(Default)]
    RepositoryParams {
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
    }
}

words! {
    /// How an index is.
    IndexWord {
        /// Nothing was looked at yet.
        Initializing,
        /// The files are looked at.
        Indexing,
        /// It can be searched.
        Ready,
        /// The files cannot be looked at.
        Error,
    }
}

wire! {
    /// How a workspace's index is.
    IndexStatusResult {
        /// In a word.
        status: IndexWord,
        /// Files that it knows.
        total_files: u64,
        /// The same: a file is known whole or not at all.
        indexed_files: u64,
        /// Bytes of all files.
        total_size_bytes: u64,
        /// When all files were looked at.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_full_scan: Option<Timestamp>,
        /// When it changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_update: Option<Timestamp>,
        /// The same, by the name that some clients read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_indexed_at: Option<Timestamp>,
        /// Bytes of memory that it takes.
        database_size_bytes: u64,
        /// The same, by the name that some clients read.
        index_size_bytes: u64,
        /// The workspace lies in a git repository.
        is_git_repo: bool,
        /// How far it is, from 0 to 1.
        progress: f64,
        /// A watcher keeps it up to date.
        is_live: bool,
        /// Files that it leaves out because their names are no text.
        unnamed_files: u64,
        /// What is wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_message: Option<String>,
    }
}

params! {
    /// An index to be made anew.
    #[derive(Default)]
    IndexRebuildParams {
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// Also while it is being made; changes nothing, since one look at the files is enough.
        force: bool,
    }
}

words! {
    /// What became of the wish for a new index.
    RebuildWord {
        /// It is begun.
        Started,
        /// It was begun before.
        AlreadyIndexing,
    }
}

wire! {
    /// What became of the wish for a new index.
    IndexRebuildResult {
        /// In a word.
        status: RebuildWord,
        /// For people.
        message: String,
    }
}

wire! {
    /// A file of the index.
    RepositoryFile {
        /// What every list of files tells.
        #[serde(flatten)]
        file: FileInfo,
        /// Its lines, once they were counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line_count: Option<u64>,
        /// How well it fits the query, from 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        match_score: Option<f64>,
    }
}

words! {
    /// By what files are sorted.
    FileSort {
        /// Their names.
        Name,
        /// Their sizes.
        Size,
        /// When they were changed.
        Modified,
        /// Their paths.
        Path,
    }
}

words! {
    /// Which end comes first.
    SortOrder {
        /// The smallest.
        Asc,
        /// The biggest.
        Desc,
    }
}

params! {
    /// A folder to be listed.
    #[derive(Default)]
    RepositoryListParams {
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// The folder; the workspace's own if absent.
        #[serde(alias = "path")]
        directory: String,
        /// Also what is in its folders.
        recursive: bool,
        /// So many files at most.
        limit: u32,
        /// After so many.
        offset: u32,
        /// By what they are sorted.
        #[serde(alias = "sort")]
        sort_by: FileSort,
        /// Which end comes first.
        #[serde(alias = "order")]
        sort_order: SortOrder,
        /// Only these extensions.
        #[serde(alias = "file_types", deserialize_with = "list_or_text")]
        extensions: Vec<String>,
        /// Only files of at least so many bytes.
        min_size: u64,
        /// Only files of at most so many bytes.
        max_size: u64,
    }
}

wire! {
    /// A folder of the index.
    RepositoryFolder {
        /// Where it is.
        path: String,
        /// Its name.
        name: String,
        /// Files beneath it.
        file_count: u64,
        /// Folders in it.
        folder_count: u64,
        /// Their bytes.
        total_size_bytes: u64,
        /// When the latest of them was changed.
        last_modified: Timestamp,
    }
}

wire! {
    /// What is in a folder.
    RepositoryListResult {
        /// Where it is.
        directory: String,
        /// Some of its files.
        files: Vec<RepositoryFile>,
        /// Its folders.
        directories: Vec<RepositoryFolder>,
        /// How many files there are.
        total_files: u64,
        /// How many folders there are.
        total_directories: u64,
        /// Where the page of files stands.
        pagination: FilesPage,
    }
}

params! {
    /// A tree of folders.
    #[derive(Default)]
    TreeParams {
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// Its top; the workspace's own folder if absent.
        #[serde(alias = "directory")]
        path: String,
        /// Levels.
        depth: u32,
        /// What begins with a dot, too.
        include_hidden: bool,
    }
}

wire! {
    /// A folder or a file of a tree.
    TreeNode {
        /// Where it is.
        path: String,
        /// Its name.
        name: String,
        /// What it is.
        #[serde(rename = "type")]
        kind: super::file::EntryType,
        /// What is in a folder; absent where the tree ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        children: Option<Vec<TreeNode>>,
        /// A file's bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size_bytes: Option<u64>,
        /// What follows the last dot of a file's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extension: Option<String>,
        /// Files beneath a folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file_count: Option<u64>,
        /// Their bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_size_bytes: Option<u64>,
    }
}

wire! {
    /// A tree: its top, for clients that read it there, and the same as `root`.
    TreeResult {
        /// The top.
        #[serde(flatten)]
        node: TreeNode,
        /// The top again.
        root: TreeNode,
        /// Folders and files in it.
        total_nodes: u64,
        /// How deep it goes.
        max_depth_reached: u32,
        /// There were more nodes than fit.
        truncated: bool,
    }
}

wire! {
    /// How much there is of a language.
    LanguageStats {
        /// Its name.
        language: String,
        /// Files.
        files: u64,
        /// Lines.
        lines: u64,
        /// Bytes.
        bytes: u64,
        /// Its part of the bytes, in percent.
        percentage: f64,
    }
}

wire! {
    /// What a workspace is made of.
    RepositoryStats {
        /// Files.
        total_files: u64,
        /// Folders.
        total_directories: u64,
        /// Bytes.
        total_size_bytes: u64,
        /// Lines of all texts.
        total_lines: u64,
        /// How many files of each extension, of the most frequent ones.
        files_by_extension: serde_json::Map<String, serde_json::Value>,
        /// The largest files.
        largest_files: Vec<RepositoryFile>,
        /// The files that were changed last.
        recently_modified: Vec<RepositoryFile>,
        /// Files that git tracks.
        git_tracked_files: u64,
        /// Always 0: what git ignores is not in the index.
        git_ignored_files: u64,
        /// Files that are no text.
        binary_files: u64,
        /// Files whose names say that they hold secrets.
        sensitive_files: u64,
        /// The languages, that with the most bytes first.
        languages: Vec<LanguageStats>,
    }
}

/// A list, or a text with commas as a query has it.
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
