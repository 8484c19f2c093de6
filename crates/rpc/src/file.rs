//! The methods for the files of a workspace, read from disk rather than from the index.

use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};

params! {
    /// Parameters of `file/get` and `workspace/file/get`.
    FileGetParams {
        /// Path of the file, relative to the workspace's folder.
        path: String,
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Most KiB to read: 1 to 10000, default 500. Fewer are read if the answer would exceed 768 KiB.
        max_size_kb: u64,
        /// First byte to read, from 0; 0 if absent.
        offset: u64,
        /// False refuses a file of which a part would be missing in the answer; true if absent.
        truncate: bool,
    }
}

words! {
    /// How a file's bytes are written into JSON.
    FileEncoding {
        /// As text, because they are valid UTF-8.
        #[serde(rename = "utf-8")]
        Utf8,
        /// As base64, because they are not text.
        Base64,
    }
}

wire! {
    /// The content of a file, or a part of it.
    FileContent {
        /// Path of the file, relative to the workspace's folder.
        path: String,
        /// The bytes that were read, in `encoding`.
        content: String,
        /// Encoding of `content`.
        encoding: FileEncoding,
        /// Whether the file goes on after them.
        truncated: bool,
        /// Size of the whole file in bytes.
        size: u64,
        /// Position of the first byte that was read.
        offset: u64,
        /// Media type, judged by the content.
        media_type: String,
        /// Whether its name suggests that it contains secrets, such as `.env`.
        is_sensitive: bool,
    }
}

params! {
    /// Parameters of `file/list`.
    #[derive(Default)]
    FileListParams {
        ;
        /// Path of the folder, relative to the workspace's folder; the workspace's folder itself if absent.
        path: String,
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Most entries to return; as many as fit into 768 KiB if absent.
        limit: u32,
        /// Entries to skip; 0 if absent.
        offset: u32,
    }
}

words! {
    /// Whether an entry is a file or a folder.
    EntryType {
        /// A file, or a symbolic link to anything.
        File,
        /// A folder itself, never a link to one.
        Directory,
    }
}

wire! {
    /// One entry of a folder.
    FileListEntry {
        /// Its name without the path.
        name: String,
        /// Whether it is a file or a folder.
        #[serde(rename = "type")]
        kind: EntryType,
        /// Size of a file in bytes; absent for a folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
        /// When it was last modified; absent if the file system does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        modified: Option<Timestamp>,
        /// Number of entries directly in a folder; absent for a file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        children_count: Option<u64>,
    }
}

wire! {
    /// The entries of a folder, folders first. Hidden ones are left out, as are `node_modules`,
    /// `__pycache__` and `vendor`.
    FileListResult {
        /// Path of the folder, relative to the workspace's folder.
        path: String,
        /// The entries of this page.
        entries: Vec<FileListEntry>,
        /// Number of entries on all pages.
        total_count: u64,
    }
}

params! {
    /// Parameters of `workspace/files/list`.
    FilesListParams {
        /// Id of the workspace, from `workspace/list`.
        workspace_id: String,
        ;
        /// Path of the folder, relative to the workspace's folder; the workspace's folder itself if absent.
        directory: String,
        /// Most files to return: 1 to 500, default 100. Folders are not counted.
        limit: u32,
        /// Files to skip; 0 if absent.
        offset: u32,
        /// Whether to include names that begin with a dot; false if absent.
        include_hidden: bool,
    }
}

wire! {
    /// A file of a workspace.
    FileInfo {
        /// Path, relative to the workspace's folder.
        path: String,
        /// Name without the path.
        name: String,
        /// Path of the folder that contains it; empty for the workspace's own folder.
        directory: String,
        /// What follows the last dot of its name; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extension: Option<String>,
        /// Size in bytes.
        size_bytes: u64,
        /// When it was last modified.
        modified_at: Timestamp,
        /// When this entry was read.
        indexed_at: Timestamp,
        /// Whether its content is not text.
        is_binary: bool,
        /// Whether it is a symbolic link.
        is_symlink: bool,
        /// Whether its name suggests that it contains secrets, such as `.env`.
        is_sensitive: bool,
        /// Whether git tracks it.
        git_tracked: bool,
        /// Whether git ignores it; always false in results from the index, which leaves such files out.
        git_ignored: bool,
    }
}

wire! {
    /// A folder of a workspace, with numbers for what it contains.
    DirInfo {
        /// Path, relative to the workspace's folder.
        path: String,
        /// Name without the path.
        name: String,
        /// Folders in it; too few if there were too many to count.
        folder_count: u64,
        /// Files in it; too few if there were too many to count.
        file_count: u64,
        /// Size of those files together, in bytes.
        total_size_bytes: u64,
        /// That size for people, such as `20.0 KB`.
        total_size_display: String,
        /// When it was last modified.
        last_modified: Timestamp,
        /// That time for people, such as `2 hours ago`.
        modified_display: String,
    }
}

wire! {
    /// Which part of the files a page contains.
    FilesPage {
        /// Most files that the page could have.
        limit: u32,
        /// Files before this page.
        offset: u32,
        /// Whether there are files after this page.
        has_more: bool,
    }
}

wire! {
    /// A page of a folder's files, and all of its folders that fit.
    FilesListResult {
        /// Path of the folder, relative to the workspace's folder.
        directory: String,
        /// The files of this page, by name.
        files: Vec<FileInfo>,
        /// The folders in it; not paged.
        directories: Vec<DirInfo>,
        /// Number of files on all pages.
        total_files: u64,
        /// Number of folders in it.
        total_directories: u64,
        /// Which part of the files this page contains.
        pagination: FilesPage,
    }
}
