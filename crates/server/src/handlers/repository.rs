//! `repository/*`: lists, trees and statistics of a workspace's files, from its index.

pub(crate) mod grep;
pub(crate) mod search;

use std::sync::Arc;
use std::time::SystemTime;

use roost_model::time::Timestamp;
use roost_rpc::{
    EntryType, Fault, FileInfo, FileSort, FilesPage, IndexRebuildParams, IndexRebuildResult, IndexStatusResult,
    IndexWord, LanguageStats, RebuildWord, RepositoryFile, RepositoryFolder, RepositoryListParams,
    RepositoryListResult, RepositoryParams, RepositoryStats, SortOrder, TreeNode, TreeParams, TreeResult,
};
use roost_workspace::index::{Content, FileEntry, Index};
use roost_workspace::listing::{ListQuery, Listing, SortBy, list as list_files};
use roost_workspace::search::Filter;
use roost_workspace::stats::stats as count;
use roost_workspace::tree::{Node, tree as draw};
use roost_workspace::{RelPath, Repository};
use tokio_util::sync::CancellationToken;

use crate::blocking::blocking;
use crate::dispatch::{Context, PAGE_BYTES};
use crate::fault;
use crate::size::{fitting, size};

/// Files of a page: the default, and the most.
const PAGE: u32 = 100;
const MAX_PAGE: u32 = 1000;
/// Levels of a tree: the default, and the most.
const DEPTH: u32 = 2;
const MAX_DEPTH: u32 = 10;
/// The most nodes of a tree; halved until the answer fits.
const NODES: usize = 2500;
/// How many extensions, and how many of the largest and latest files, the statistics list.
const EXTENSIONS: usize = 20;
const TOP: usize = 10;

/// The repository and the index of this workspace, or of the default one, up to date.
async fn index(context: &Context<'_>, workspace: Option<&str>) -> Result<(Arc<Repository>, Arc<Index>), Fault> {
    let entry = context.host.workspaces.named(workspace)?;
    context.host.repositories.live.index(context.host, &entry).await
}

pub(crate) async fn status(context: &Context<'_>, params: RepositoryParams) -> Result<IndexStatusResult, Fault> {
    let entry = context.host.workspaces.named(params.workspace_id.as_deref())?;
    let repository = context.host.repositories.live.repository(&entry).await?;
    let status = repository.status();
    if !status.is_ready && !status.is_building {
        // Whoever asks how it is wants it to be.
        let (host, entry) = (context.host.clone(), entry.clone());
        context.host.daemon.spawn(async move {
            if let Err(fault) = host.repositories.live.index(&host, &entry).await {
                tracing::warn!(error = fault.message, "A workspace could not be indexed.");
            }
        });
    }
    let index = repository.index();
    let word = match &status.error {
        _ if status.is_building => IndexWord::Indexing,
        _ if status.is_ready => IndexWord::Ready,
        Some(_) => IndexWord::Error,
        None => IndexWord::Initializing,
    };
    let updated = status.updated_at.map(time);
    Ok(IndexStatusResult {
        status: word,
        total_files: index.len() as u64,
        indexed_files: index.len() as u64,
        total_size_bytes: index.files().map(|file| file.size()).sum(),
        last_full_scan: status.scanned_at.map(time),
        last_update: updated,
        last_indexed_at: updated,
        database_size_bytes: index.bytes() as u64,
        index_size_bytes: index.bytes() as u64,
        is_git_repo: status.is_git,
        progress: if word == IndexWord::Ready { 1.0 } else { 0.0 },
        is_live: status.is_fresh,
        unnamed_files: status.unnamed as u64,
        error_message: status.error,
    })
}

pub(crate) async fn rebuild(context: &Context<'_>, params: IndexRebuildParams) -> Result<IndexRebuildResult, Fault> {
    let entry = context.host.workspaces.named(params.workspace_id.as_deref())?;
    let repository = context.host.repositories.live.repository(&entry).await?;
    if repository.status().is_building {
        let message = "the files are looked at already".into();
        return Ok(IndexRebuildResult { status: RebuildWord::AlreadyIndexing, message });
    }
    context.host.daemon.spawn(async move {
        let rebuilt = blocking(move || repository.rebuild()).await;
        if let Ok(Err(error)) = rebuilt {
            tracing::warn!(%error, "A workspace could not be indexed again.");
        }
    });
    Ok(IndexRebuildResult { status: RebuildWord::Started, message: "the files are looked at again".into() })
}

pub(crate) async fn list(context: &Context<'_>, params: RepositoryListParams) -> Result<RepositoryListResult, Fault> {
    let (repository, index) = index(context, params.workspace_id.as_deref()).await?;
    let folder = RelPath::parse(&params.directory.unwrap_or_default()).map_err(fault::workspace)?;
    let (limit, offset) = (params.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE), params.offset.unwrap_or(0));
    let query = ListQuery {
        folder: folder.to_string(),
        recursive: params.recursive.unwrap_or_default(),
        filter: Filter { min_size: params.min_size, max_size: params.max_size, ..Filter::default() }
            .with_extensions(params.extensions.unwrap_or_default()),
        sort_by: match params.sort_by {
            Some(FileSort::Size) => SortBy::Size,
            Some(FileSort::Modified) => SortBy::Modified,
            Some(FileSort::Path) => SortBy::Path,
            Some(FileSort::Name) | None => SortBy::Name,
        },
        descending: params.sort_order == Some(SortOrder::Desc),
        offset: offset as usize,
        limit: limit as usize,
    };
    blocking(move || {
        check_folder(&repository, &index, &folder)?;
        let Listing { files, folders, total } = list_files(&index, &query);
        let total_directories = folders.len() as u64;
        let directories: Vec<_> = folders
            .into_iter()
            .take(MAX_PAGE as usize)
            .map(|folder| RepositoryFolder {
                name: last_name(&folder.path).to_owned(),
                file_count: folder.files as u64,
                folder_count: folder.folders as u64,
                total_size_bytes: folder.bytes,
                last_modified: Timestamp::from_millis(folder.modified_ms),
                path: folder.path,
            })
            .collect();
        let taken = size(&directories);
        let files = fitting(files.iter().map(|file| shaped(file, None)), PAGE_BYTES.saturating_sub(taken));
        let has_more = offset as usize + files.len() < total;
        Ok(RepositoryListResult {
            directory: folder.to_string(),
            total_files: total as u64,
            total_directories,
            pagination: FilesPage { limit, offset, has_more },
            files,
            directories,
        })
    })
    .await?
}

pub(crate) async fn tree(context: &Context<'_>, params: TreeParams) -> Result<TreeResult, Fault> {
    let (repository, index) = index(context, params.workspace_id.as_deref()).await?;
    let folder = RelPath::parse(&params.path.unwrap_or_default()).map_err(fault::workspace)?;
    let depth = params.depth.unwrap_or(DEPTH).min(MAX_DEPTH) as usize;
    let hidden = params.include_hidden.unwrap_or_default();
    blocking(move || {
        check_folder(&repository, &index, &folder)?;
        let mut most = NODES;
        loop {
            let tree = draw(&index, folder.as_str(), depth, hidden, most);
            let mut node = shaped_node(&tree.root);
            if folder.is_root() {
                node.name = repository.root().path().file_name().unwrap_or_default().to_string_lossy().into_owned();
            }
            // It is there twice, as old and new clients want it.
            if size(&node) * 2 > PAGE_BYTES && most > 1 {
                most /= 2;
                continue;
            }
            return Ok(TreeResult {
                root: node.clone(),
                node,
                total_nodes: tree.nodes as u64,
                max_depth_reached: tree.depth >= depth,
                truncated: tree.is_cut,
            });
        }
    })
    .await?
}

fn shaped_node(node: &Node<'_>) -> TreeNode {
    match node {
        Node::File(file) => TreeNode {
            path: file.path().into(),
            name: file.name().into(),
            kind: EntryType::File,
            children: None,
            size_bytes: Some(file.size()),
            extension: extension(file),
            file_count: None,
            total_size_bytes: None,
        },
        Node::Folder { path, children, files, bytes } => TreeNode {
            path: path.clone(),
            name: last_name(path).into(),
            kind: EntryType::Directory,
            children: children.as_ref().map(|children| children.iter().map(shaped_node).collect()),
            size_bytes: None,
            extension: None,
            file_count: Some(*files as u64),
            total_size_bytes: Some(*bytes),
        },
    }
}

pub(crate) async fn stats(context: &Context<'_>, params: RepositoryParams) -> Result<RepositoryStats, Fault> {
    let (repository, _) = index(context, params.workspace_id.as_deref()).await?;
    let cancel = CancellationToken::new();
    // Whoever is gone needs no numbers.
    let _gone = cancel.clone().drop_guard();
    blocking(move || {
        let index = repository.read_contents(&cancel);
        let stats = count(&index, TOP);
        let all = |files: &[FileEntry<'_>]| files.iter().map(|file| shaped(file, None)).collect::<Vec<_>>();
        RepositoryStats {
            total_files: stats.files as u64,
            total_directories: stats.folders as u64,
            total_size_bytes: stats.bytes,
            total_lines: stats.lines,
            largest_files: all(&stats.largest),
            recently_modified: all(&stats.recent),
            git_tracked_files: stats.tracked as u64,
            git_ignored_files: 0,
            binary_files: stats.binary as u64,
            sensitive_files: stats.sensitive as u64,
            languages: stats
                .languages
                .into_iter()
                .map(|language| LanguageStats {
                    language: language.name.into(),
                    files: language.files as u64,
                    lines: language.lines,
                    bytes: language.bytes,
                    percentage: language.percentage,
                })
                .collect(),
            files_by_extension: stats
                .extensions
                .into_iter()
                .take(EXTENSIONS)
                .map(|(extension, count)| (extension, count.into()))
                .collect(),
        }
    })
    .await
}

/// Refuses a folder that does not exist. One without any indexed file is fine.
fn check_folder(repository: &Repository, index: &Index, folder: &RelPath) -> Result<(), Fault> {
    if index.beneath(folder.as_str()).is_empty() {
        repository.root().open_dir(folder).map_err(|error| fault::workspace(error.for_folder()))?;
    }
    Ok(())
}

fn shaped(file: &FileEntry<'_>, match_score: Option<f64>) -> RepositoryFile {
    RepositoryFile {
        file: FileInfo {
            path: file.path().into(),
            name: file.name().into(),
            directory: file.directory().into(),
            extension: extension(file),
            size_bytes: file.size(),
            modified_at: Timestamp::from_millis(file.modified_ms()),
            indexed_at: Timestamp::now(),
            is_binary: file.is_binary(),
            is_symlink: file.is_link(),
            is_sensitive: file.is_sensitive(),
            git_tracked: file.is_tracked(),
            git_ignored: false,
        },
        line_count: match file.content() {
            Some(Content::Lines(lines)) => Some(lines.into()),
            _ => None,
        },
        match_score,
    }
}

fn extension(file: &FileEntry<'_>) -> Option<String> {
    Some(file.extension()).filter(|extension| !extension.is_empty()).map(ToOwned::to_owned)
}

fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn time(at: SystemTime) -> Timestamp {
    let millis = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}
