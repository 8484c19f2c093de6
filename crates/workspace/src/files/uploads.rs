//! Uploads: pictures and files that a client sends for a prompt.
//!
//! They lie in the workspace, where the agent can read them, in a folder that git ignores, until they expire.

use std::io::{self, Read, Write};
use std::time::{Duration, SystemTime};

use cap_std::fs::{Dir, File};

use super::image_type::ImageType;
use super::sniff::{HEAD, sniff};
use crate::{Error, RelPath, Root};

/// The prefix of a file whose upload has not finished.
const COMING: &str = ".coming_";
/// The most characters of a file's own name that are kept.
const NAME: usize = 100;

/// The two kinds of uploads. Each has its own folder, and the limits apply to each folder by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadKind {
    /// Pictures in a format that agents accept; see [`ImageType`].
    Images,
    /// Files of any type, which keep the name that they were sent with.
    Files,
}

impl UploadKind {
    /// Both kinds, in the order in which they are swept.
    pub const ALL: [Self; 2] = [Self::Images, Self::Files];

    /// The folder in the workspace that holds uploads of this kind.
    fn folder(self) -> &'static str {
        match self {
            Self::Images => ".roost/images",
            Self::Files => ".roost/files",
        }
    }

    /// The file name of an upload in its folder; pictures get one of their own.
    fn name(self, id: &str, own: &str, head: &[u8]) -> Result<String, Refusal> {
        match self {
            Self::Images => {
                let kind = ImageType::sniff(head).ok_or(Refusal::Unsupported)?;
                Ok(format!("img_{id}.{}", kind.extension()))
            }
            Self::Files => Ok(format!("{id}_{}", clean(own))),
        }
    }

    /// The media type of an upload: for pictures by their magic bytes, for files by name and content.
    fn media_type(self, name: &str, head: &[u8]) -> &'static str {
        match ImageType::sniff(head) {
            Some(kind) if self == Self::Images => kind.media_type(),
            _ => sniff(name, head).media_type,
        }
    }

    /// The id and the own name of the upload with this file name; `None` for other files.
    fn parse(self, name: &str) -> Option<(&str, &str)> {
        match self {
            Self::Images => Some((name.strip_prefix("img_")?.split_once('.')?.0, name)),
            Self::Files => name.split_once('_').filter(|_| !name.starts_with(COMING)),
        }
    }
}

/// A file's own name with everything replaced that could be a path or break a line.
fn clean(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let fine = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_');
    let name: String = name.chars().map(|letter| if fine(letter) { letter } else { '_' }).take(NAME).collect();
    if name.is_empty() { "file".into() } else { name }
}

/// The limits of the uploads of one kind in one workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The greatest size of one upload, in bytes.
    pub one: u64,
    /// The greatest number of uploads.
    pub count: usize,
    /// The greatest size of all uploads of one kind together, in bytes.
    pub all: u64,
    /// How long an upload is kept.
    pub keep: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { one: 10 << 20, count: 50, all: 100 << 20, keep: Duration::from_hours(1) }
    }
}

/// A finished upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredUpload {
    /// The id by which clients fetch and remove it.
    pub id: String,
    /// The name that it was sent with; for a picture the name of its file.
    pub name: String,
    /// Its path from the workspace's folder, for the prompt.
    pub path: RelPath,
    /// The media type that its first bytes tell.
    pub media_type: &'static str,
    /// Its size in bytes.
    pub size: u64,
    /// When the last byte was written.
    pub created: SystemTime,
    /// When it is removed: `Limits::keep` after it was created.
    pub expires: SystemTime,
}

/// Why an upload is refused.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The upload is bigger than the limit, which is given in bytes.
    #[error("it has more than {0} bytes, which is the most that is taken")]
    TooLarge(u64),
    /// The picture has no format that agents accept.
    #[error("that is no JPEG, PNG, GIF or WebP picture")]
    Unsupported,
    /// The count or the bytes of this kind are used up.
    #[error("there is no room for another one: remove some, or wait until they expire")]
    Full,
    /// The disk is full.
    #[error("the disk is full; free some space and try again")]
    DiskFull,
    /// No upload has this id, or it has expired.
    #[error("nothing called \"{0}\" is there; it may have expired")]
    Unknown(String),
    /// The workspace's folder could not be read or written.
    #[error(transparent)]
    Workspace(#[from] Error),
}

/// The uploads of one kind in one workspace.
#[derive(Clone, Debug)]
pub struct Uploads {
    root: Root,
    kind: UploadKind,
    limits: Limits,
}

/// The content of the folder.
#[derive(Default)]
struct FolderContents {
    stored: Vec<StoredUpload>,
    coming: usize,
    /// The bytes that the coming ones have or may still get.
    coming_bytes: u64,
}

impl Uploads {
    /// The uploads of one kind in this workspace; nothing is read yet.
    pub fn new(root: Root, kind: UploadKind, limits: Limits) -> Self {
        Self { root, kind, limits }
    }

    /// The limits of the uploads of one kind in one workspace.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// All uploads that have not expired at `now`, the oldest first. Removes those that have. Waits for the disk.
    pub fn list(&self, now: SystemTime) -> Result<Vec<StoredUpload>, Refusal> {
        Ok(self.read_folder(now, None)?.stored)
    }

    fn read_folder(&self, now: SystemTime, without: Option<&str>) -> Result<FolderContents, Refusal> {
        let mut there = FolderContents::default();
        let Some(folder) = self.open_folder()? else { return Ok(there) };
        for entry in folder.entries().map_err(|source| self.failed(source))? {
            let name = entry.map_err(|source| self.failed(source))?.file_name();
            let (Some(name), Ok(metadata)) = (name.to_str(), folder.symlink_metadata(&name)) else { continue };
            let created = metadata.modified().map_or(now, cap_std::time::SystemTime::into_std);
            let expires = created + self.limits.keep;
            if expires <= now {
                // Whoever removes it first is right.
                let _ = folder.remove_file(name);
                continue;
            }
            if name.starts_with(COMING) && Some(name) != without {
                there.coming += 1;
                there.coming_bytes += metadata.len().max(self.limits.one);
            }
            let Some((id, own)) = self.kind.parse(name).filter(|_| metadata.is_file()) else { continue };
            let media_type = self.kind.media_type(own, &head(&folder, name));
            let (path, size) = (self.upload_path(name)?, metadata.len());
            there.stored.push(StoredUpload {
                id: id.into(),
                name: own.into(),
                path,
                media_type,
                size,
                created,
                expires,
            });
        }
        there.stored.sort_by(|one, other| (one.created, &one.id).cmp(&(other.created, &other.id)));
        Ok(there)
    }

    /// The upload of this id. Waits for the disk.
    pub fn get(&self, id: &str, now: SystemTime) -> Result<StoredUpload, Refusal> {
        let found = self.list(now)?.into_iter().find(|stored| stored.id == id);
        found.ok_or_else(|| Refusal::Unknown(id.to_owned()))
    }

    /// Begins an upload; the id must be new. Reserves room for it. Waits for the disk.
    pub fn begin(&self, id: &str, own_name: &str, now: SystemTime) -> Result<Upload, Refusal> {
        self.begin_with(id, own_name, self.limits.one, now)
    }

    /// Begins an upload that comes in parts and may take all the room that there is. Waits for the disk.
    pub fn begin_in_parts(&self, id: &str, own_name: &str, now: SystemTime) -> Result<Upload, Refusal> {
        self.begin_with(id, own_name, self.limits.all, now)
    }

    fn begin_with(&self, id: &str, own_name: &str, most: u64, now: SystemTime) -> Result<Upload, Refusal> {
        let folder = self.create_folder()?;
        let coming = format!("{COMING}{id}");
        let file = folder.create(&coming).map_err(|source| self.failed(source))?;
        let mut upload = Upload {
            id: id.to_owned(),
            own_name: own_name.to_owned(),
            coming,
            file,
            folder,
            head: Vec::new(),
            size: 0,
            most,
            room: 0,
            uploads: self.clone(),
        };
        upload.look_for_room(now)?;
        Ok(upload)
    }

    /// Removes the upload of this id. Waits for the disk.
    pub fn remove(&self, id: &str, now: SystemTime) -> Result<(), Refusal> {
        let stored = self.get(id, now)?;
        let folder = self.open_folder()?.ok_or_else(|| Refusal::Unknown(id.to_owned()))?;
        folder.remove_file(stored.path.name()).map_err(|source| self.failed(source))
    }

    /// Removes all uploads and returns how many there were. Waits for the disk.
    pub fn clear(&self, now: SystemTime) -> Result<usize, Refusal> {
        let all = self.list(now)?;
        for stored in &all {
            self.remove(&stored.id, now)?;
        }
        Ok(all.len())
    }

    fn open_folder(&self) -> Result<Option<Dir>, Error> {
        let path = RelPath::parse(self.kind.folder())?;
        match self.root.metadata(&path) {
            Err(Error::NotFound { .. }) => Ok(None),
            _ => self.root.open_dir(&path).map(Some),
        }
    }

    /// Opens the folder, and creates it with a `.gitignore` if it does not exist.
    fn create_folder(&self) -> Result<Dir, Refusal> {
        let root = self.root.open_dir(&RelPath::root())?;
        let made = || {
            root.create_dir_all(self.kind.folder())?;
            root.write(".roost/.gitignore", "*\n")?;
            root.open_dir(self.kind.folder())
        };
        made().map_err(|source| self.failed(source))
    }

    fn upload_path(&self, name: &str) -> Result<RelPath, Error> {
        RelPath::parse(&format!("{}/{name}", self.kind.folder()))
    }

    fn failed(&self, source: io::Error) -> Refusal {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Refusal::DiskFull,
            _ => Error::io(self.kind.folder(), source).into(),
        }
    }
}

/// The first bytes of a file; empty if it is gone.
fn head(folder: &Dir, name: &str) -> Vec<u8> {
    let mut head = Vec::new();
    if let Ok(file) = folder.open(name) {
        let _ = file.take(HEAD as u64).read_to_end(&mut head);
    }
    head
}

/// An upload in progress. Dropping it before [`Upload::finish`] removes it.
#[derive(Debug)]
pub struct Upload {
    id: String,
    own_name: String,
    coming: String,
    file: File,
    folder: Dir,
    head: Vec<u8>,
    size: u64,
    /// The greatest size that it may have, in bytes.
    most: u64,
    room: u64,
    uploads: Uploads,
}

impl Upload {
    /// The bytes that were written so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Looks again how much room there is, before another part. Waits for the disk.
    pub fn look_for_room(&mut self, now: SystemTime) -> Result<(), Refusal> {
        let limits = self.uploads.limits;
        // Of those that come at the same time each sees the others, so together they never get more than there is; and
        // each of them may still become as big as one may be.
        let there = self.uploads.read_folder(now, Some(&self.coming))?;
        let used = there.stored.iter().map(|stored| stored.size).sum::<u64>() + there.coming_bytes;
        if there.stored.len() + there.coming >= limits.count || used >= limits.all {
            return Err(Refusal::Full);
        }
        self.room = limits.all - used;
        Ok(())
    }

    /// Writes the next bytes; refuses what exceeds the limits or is no picture. Waits for the disk.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let kind = self.uploads.kind;
        let size = self.size + bytes.len() as u64;
        if size > self.most {
            return Err(Refusal::TooLarge(self.most));
        }
        if size > self.room {
            return Err(Refusal::Full);
        }
        self.size = size;
        let missing = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend(&bytes[..missing]);
        if kind == UploadKind::Images && self.head.len() >= ImageType::MAGIC && ImageType::sniff(&self.head).is_none() {
            return Err(Refusal::Unsupported);
        }
        self.file.write_all(bytes).map_err(|source| self.uploads.failed(source))
    }

    /// Finishes the upload: it gets its final name and is listed. Waits for the disk.
    pub fn finish(self) -> Result<StoredUpload, Refusal> {
        let Uploads { kind, limits, .. } = self.uploads;
        let failed = |source| self.uploads.failed(source);
        let name = kind.name(&self.id, &self.own_name, &self.head)?;
        self.folder.rename(&self.coming, &self.folder, &name).map_err(failed)?;
        let created = self.file.metadata().and_then(|metadata| metadata.modified()).map_err(failed)?.into_std();
        Ok(StoredUpload {
            id: self.id.clone(),
            name: kind.parse(&name).map_or_else(|| name.clone(), |(_, own)| own.to_owned()),
            path: self.uploads.upload_path(&name)?,
            media_type: kind.media_type(&name, &self.head),
            size: self.size,
            created,
            expires: created + limits.keep,
        })
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // It has another name once it is finished.
        let _ = self.folder.remove_file(&self.coming);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_name_of_a_file_is_kept_as_far_as_it_is_a_name() {
        let table = [
            ("notes.md", "notes.md"),
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\me\\a b.txt", "a_b.txt"),
            ("x\n\0y", "x__y"),
            ("Größe.pdf", "Größe.pdf"),
            ("", "file"),
            ("..", ".."),
        ];
        for (own, expected) in table {
            assert_eq!(clean(own), expected, "{own:?}");
        }
    }

    #[test]
    fn a_full_disk_is_told_apart_from_other_failures() {
        let root = Root::open(&std::env::temp_dir()).unwrap();
        let uploads = Uploads::new(root, UploadKind::Files, Limits::default());
        assert!(matches!(uploads.failed(io::ErrorKind::StorageFull.into()), Refusal::DiskFull));
        assert!(matches!(uploads.failed(io::ErrorKind::Other.into()), Refusal::Workspace(_)));
    }
}
