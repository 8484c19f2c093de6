//! `file/*` and `workspace/file*`: reads files of a workspace and lists its folders.

use std::time::SystemTime;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use roost_model::time::Timestamp;
use roost_rpc::{
    DirInfo, EntryType, Fault, FaultCode, FileContent, FileEncoding, FileGetParams, FileInfo, FileListEntry,
    FileListParams, FileListResult, FilesListParams, FilesListResult, FilesPage,
};
use roost_workspace::files::{ByteRange, Content, FileEntry, FolderEntry, Listing, Marks, list as list_folder, read};
use roost_workspace::{RelPath, Root, is_sensitive};

use crate::dispatch::PAGE_BYTES;
use crate::fault;
use crate::size::{fitting, size};
use crate::workspaces::{WorkspaceEntry, Workspaces};

/// KiB of a file that are read: the default, and the most.
const SIZE_KB: u64 = 500;
const MAX_SIZE_KB: u64 = 10_000;
/// Files of a page: the default, and the most.
const PAGE: u32 = 100;
const MAX_PAGE: u32 = 500;
/// Folders that `file/list` leaves out.
const HIDDEN: [&str; 3] = ["node_modules", "__pycache__", "vendor"];

pub(crate) async fn get(workspaces: &Workspaces, params: FileGetParams) -> Result<FileContent, Fault> {
    let entry = workspaces.named(params.workspace_id.as_deref())?;
    let path = RelPath::parse(&params.path).map_err(fault::workspace)?;
    let limit = 1024 * params.max_size_kb.unwrap_or(SIZE_KB).clamp(1, MAX_SIZE_KB);
    let whole = params.truncate == Some(false);
    let part = ByteRange { offset: params.offset, limit: limit.min(PAGE_BYTES as u64 * 3 / 4) };
    let content = blocking(&entry, move |root| {
        let mut part = part;
        loop {
            let content = shaped(&path, read(&root, &path, part)?);
            let size = serde_json::to_string(&content).map_or(0, |text| text.len());
            if size <= PAGE_BYTES || (whole && content.truncated) {
                return Ok(content);
            }
            // Text that is mostly control characters takes six times its size in JSON.
            part.limit /= 2;
        }
    });
    let content = content.await?;
    if whole && content.truncated {
        return Err(too_large(&content, limit));
    }
    Ok(content)
}

/// The fault of a file that does not fit into an answer, for a client that wants all of it or nothing.
fn too_large(content: &FileContent, limit: u64) -> Fault {
    let most = limit.min(PAGE_BYTES as u64 * 3 / 4);
    let why = format_args!(
        "{} has {} bytes; an answer holds {most} at most. Read it in parts with `offset`, or from /api/file/raw",
        content.path, content.size
    );
    let fault = Fault::new(FaultCode::FileTooLarge, why).with("path", &content.path);
    fault.with("size", content.size).with("max_size", most)
}

fn shaped(path: &RelPath, content: Content) -> FileContent {
    let truncated = content.is_truncated();
    let (encoding, text) = match String::from_utf8(content.bytes) {
        Ok(text) if content.is_text => (FileEncoding::Utf8, text),
        Ok(text) => (FileEncoding::Base64, BASE64_STANDARD.encode(text)),
        Err(error) => (FileEncoding::Base64, BASE64_STANDARD.encode(error.as_bytes())),
    };
    FileContent {
        path: path.to_string(),
        content: text,
        encoding,
        truncated,
        size: content.size,
        offset: content.offset,
        media_type: content.media_type.into(),
        is_sensitive: is_sensitive(path.as_str()),
    }
}

pub(crate) async fn list(workspaces: &Workspaces, params: FileListParams) -> Result<FileListResult, Fault> {
    let entry = workspaces.named(params.workspace_id.as_deref())?;
    let path = RelPath::parse(&params.path.unwrap_or_default()).map_err(fault::workspace)?;
    let folder = path.clone();
    let Listing { folders, files } = blocking(&entry, move |root| list_folder(&root, &folder, false)).await?;
    let folders = folders.into_iter().filter(|folder| !HIDDEN.contains(&folder.name.as_str()));
    let folders = folders.map(|folder| FileListEntry {
        name: folder.name,
        kind: EntryType::Directory,
        size: None,
        modified: folder.modified.map(time),
        children_count: Some(folder.entries),
    });
    let files = files.into_iter().map(|file| FileListEntry {
        name: file.name,
        kind: EntryType::File,
        size: Some(file.size),
        modified: file.modified.map(time),
        children_count: None,
    });
    let entries: Vec<_> = folders.chain(files).collect();
    let total_count = entries.len() as u64;
    let (limit, offset) = (params.limit.unwrap_or(u32::MAX), params.offset.unwrap_or(0));
    let page = entries.into_iter().skip(offset as usize).take(limit as usize);
    Ok(FileListResult { path: path.to_string(), total_count, entries: fitting(page, PAGE_BYTES) })
}

pub(crate) async fn page(workspaces: &Workspaces, params: FilesListParams) -> Result<FilesListResult, Fault> {
    let entry = workspaces.get(&params.workspace_id)?;
    let directory = RelPath::parse(&params.directory.unwrap_or_default()).map_err(fault::workspace)?;
    let hidden = params.include_hidden.unwrap_or_default();
    let (limit, offset) = (params.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE), params.offset.unwrap_or(0));
    blocking(&entry, move |root| {
        let Listing { folders, files } = list_folder(&root, &directory, hidden)?;
        let now = SystemTime::now();
        let total_files = files.len() as u64;
        let page = files.into_iter().skip(offset as usize).take(limit as usize);
        let marks = Marks::read(&root, &directory);
        let total_directories = folders.len() as u64;
        let directories = fitting(folders.into_iter().map(|folder| dir_info(folder, now)), PAGE_BYTES / 2);
        let room = PAGE_BYTES.saturating_sub(size(&directories));
        let files = fitting(page.map(|file| file_info(&root, &directory, &marks, file, now)), room);
        let has_more = u64::from(offset) + (files.len() as u64) < total_files;
        Ok(FilesListResult {
            directory: directory.to_string(),
            total_files,
            total_directories,
            directories,
            files,
            pagination: FilesPage { limit, offset, has_more },
        })
    })
    .await
}

fn file_info(root: &Root, directory: &RelPath, marks: &Marks, file: FileEntry, now: SystemTime) -> FileInfo {
    // A dot that begins a name begins no extension.
    let extension = file.name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    FileInfo {
        directory: directory.to_string(),
        extension: extension.map(|(_, extension)| extension.to_owned()),
        size_bytes: file.size,
        modified_at: time(file.modified.unwrap_or(now)),
        indexed_at: time(now),
        is_binary: file.is_binary(root),
        is_symlink: file.is_symlink,
        is_sensitive: is_sensitive(&file.name),
        git_tracked: marks.is_tracked(&file.path),
        git_ignored: marks.is_ignored(&file.path),
        path: file.path,
        name: file.name,
    }
}

fn dir_info(folder: FolderEntry, now: SystemTime) -> DirInfo {
    let modified = folder.modified.unwrap_or(now);
    DirInfo {
        path: folder.path,
        name: folder.name,
        folder_count: folder.folders,
        file_count: folder.files,
        total_size_bytes: folder.bytes,
        total_size_display: size_display(folder.bytes),
        last_modified: time(modified),
        modified_display: ago_display(now.duration_since(modified).unwrap_or_default().as_secs()),
    }
}

/// A size for people, such as `20.0 KB`; units of 1024.
fn size_display(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    let (mut size, mut unit) = (bytes as f64, "B");
    for next in UNITS {
        if size < 1024.0 {
            break;
        }
        (size, unit) = (size / 1024.0, next);
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{size:.1} {unit}") }
}

/// An age for people, such as `2 hours ago`, in the greatest unit that fits.
fn ago_display(seconds: u64) -> String {
    const UNITS: [(u64, &str); 5] =
        [(31_536_000, "year"), (2_592_000, "month"), (86_400, "day"), (3600, "hour"), (60, "minute")];
    let fits = UNITS.iter().find(|(length, _)| seconds >= *length);
    fits.map_or_else(
        || "just now".into(),
        |(length, unit)| {
            let count = seconds / length;
            format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
        },
    )
}

fn time(at: SystemTime) -> Timestamp {
    let millis = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

/// Runs work on a workspace's folder that waits for the disk.
pub(super) async fn blocking<T: Send + 'static>(
    entry: &WorkspaceEntry,
    work: impl FnOnce(Root) -> Result<T, roost_workspace::Error> + Send + 'static,
) -> Result<T, Fault> {
    let path = entry.path.clone();
    crate::blocking::blocking(move || work(Root::open(path.as_ref())?)).await?.map_err(fault::workspace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_told_as_people_say_them() {
        for (bytes, expected) in [(0, "0 B"), (1023, "1023 B"), (20_480, "20.0 KB"), (5 << 30, "5.0 GB")] {
            assert_eq!(size_display(bytes), expected);
        }
        for (seconds, expected) in [(5, "just now"), (60, "1 minute ago"), (7300, "2 hours ago"), (90_000, "1 day ago")]
        {
            assert_eq!(ago_display(seconds), expected);
        }
    }
}
