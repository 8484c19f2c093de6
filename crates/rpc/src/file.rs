//! Files of a workspace.

use roost_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

params! {
    /// A file, or a part of it.
    FileGetParams {
        /// Where it is, relative to the workspace's folder.
        path: String,
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// How much is read at most, in KiB.
        max_size_kb: u64,
        /// From this byte on.
        offset: u64,
    }
}

words! {
    /// How a file's bytes are written in JSON.
    FileEncoding {
        /// As they are.
        #[serde(rename = "utf-8")]
        Utf8,
        /// In Base64.
        Base64,
    }
}

wire! {
    /// What a file holds.
    FileContent {
        /// Where it is.
        path: String,
        /// Its bytes, or the part that was asked for.
        content: String,
        /// How they are written.
        encoding: FileEncoding,
        /// There is more after them.
        truncated: bool,
        /// How big the whole file is.
        size: u64,
        /// Where the bytes begin.
        offset: u64,
        /// What it holds, told by its content.
        media_type: String,
        /// Its name says that it holds secrets.
        is_sensitive: bool,
    }
}

params! {
    /// A folder.
    #[derive(Default)]
    FileListParams {
        ;
        /// Where it is, relative to the workspace's folder, which it is if absent.
        path: String,
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// How many at most; as many as fit into an answer if absent.
        limit: u32,
        /// How many are passed over.
        offset: u32,
    }
}

words! {
    /// What lies in a folder.
    EntryType {
        /// A file.
        File,
        /// A folder.
        Directory,
    }
}

wire! {
    /// One thing that lies in a folder.
    FileListEntry {
        /// Its name.
        name: String,
        /// What it is.
        #[serde(rename = "type")]
        kind: EntryType,
        /// A file's bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
        /// When it last changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        modified: Option<Timestamp>,
        /// How much lies directly in a folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        children_count: Option<u64>,
    }
}

wire! {
    /// What lies in a folder, folders first.
    FileListResult {
        /// Where it is.
        path: String,
        /// What lies there, or a part of it.
        entries: Vec<FileListEntry>,
        /// How much lies there in all.
        total_count: u64,
    }
}

params! {
    /// A part of what lies in a workspace's folder.
    FilesListParams {
        /// Whose.
        workspace_id: String,
        ;
        /// Where it is, relative to the workspace's folder, which it is if absent.
        directory: String,
        /// So many files at most.
        limit: u32,
        /// After so many.
        offset: u32,
        /// What begins with a dot, too.
        include_hidden: bool,
    }
}

wire! {
    /// A file of a workspace.
    FileInfo {
        /// Where it is.
        path: String,
        /// Its name.
        name: String,
        /// The folder that it lies in; empty for the workspace's own.
        directory: String,
        /// What follows the last dot of its name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extension: Option<String>,
        /// Its bytes.
        size_bytes: u64,
        /// When it last changed.
        modified_at: Timestamp,
        /// When this was looked up.
        indexed_at: Timestamp,
        /// It holds no text.
        is_binary: bool,
        /// It is a link.
        is_symlink: bool,
        /// Its name says that it holds secrets.
        is_sensitive: bool,
        /// Git tracks it.
        git_tracked: bool,
        /// Git ignores it; never so in the index, which leaves out what git ignores.
        git_ignored: bool,
    }
}

wire! {
    /// A folder of a workspace.
    DirInfo {
        /// Where it is.
        path: String,
        /// Its name.
        name: String,
        /// Folders in it, as far as it was counted.
        folder_count: u64,
        /// Files in it, as far as it was counted.
        file_count: u64,
        /// Their bytes.
        total_size_bytes: u64,
        /// The same for people.
        total_size_display: String,
        /// When it last changed.
        last_modified: Timestamp,
        /// The same for people.
        modified_display: String,
    }
}

wire! {
    /// Where a page stands.
    FilesPage {
        /// So many at most.
        limit: u32,
        /// After so many.
        offset: u32,
        /// There is more.
        has_more: bool,
    }
}

wire! {
    /// A part of what lies in a workspace's folder.
    FilesListResult {
        /// Where it is.
        directory: String,
        /// Its files.
        files: Vec<FileInfo>,
        /// Its folders.
        directories: Vec<DirInfo>,
        /// How many files there are.
        total_files: u64,
        /// How many folders there are.
        total_directories: u64,
        /// Where the page of files stands.
        pagination: FilesPage,
    }
}
