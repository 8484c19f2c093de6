//! Pictures and files that a client brings along for a prompt.
//!
//! They lie in the workspace, where the agent can read them, in a folder that git does not see, until they expire.

use std::io::{self, Read, Write};
use std::time::{Duration, SystemTime};

use cap_std::fs::{Dir, File};

use super::sniff::{HEAD, sniff};
use crate::{Error, RelPath, Root};

/// Begins the name of what is still coming.
const COMING: &str = ".coming_";
/// Characters of a file's own name that are kept.
const NAME: usize = 100;

/// What is brought along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelf {
    /// Pictures of the kinds that agents look at.
    Images,
    /// Files of any kind.
    Files,
}

impl Shelf {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Images, Self::Files];

    /// Where it lies.
    fn folder(self) -> &'static str {
        match self {
            Self::Images => ".roost/images",
            Self::Files => ".roost/files",
        }
    }

    /// The name in the folder.
    fn name(self, id: &str, own: &str, head: &[u8]) -> Result<String, Refusal> {
        match self {
            Self::Images => {
                let kind = ImageType::sniff(head).ok_or(Refusal::Unsupported)?;
                Ok(format!("img_{id}.{}", kind.extension()))
            }
            Self::Files => Ok(format!("{id}_{}", clean(own))),
        }
    }

    /// What it is.
    fn media_type(self, name: &str, head: &[u8]) -> &'static str {
        match ImageType::sniff(head) {
            Some(kind) if self == Self::Images => kind.media_type(),
            _ => sniff(name, head).media_type,
        }
    }

    /// The id and the own name of what has this name in the folder.
    fn parse(self, name: &str) -> Option<(&str, &str)> {
        match self {
            Self::Images => Some((name.strip_prefix("img_")?.split_once('.')?.0, name)),
            Self::Files => name.split_once('_').filter(|_| !name.starts_with(COMING)),
        }
    }
}

/// A file's own name as far as it can be part of another.
fn clean(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let fine = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_');
    let name: String = name.chars().map(|letter| if fine(letter) { letter } else { '_' }).take(NAME).collect();
    if name.is_empty() { "file".into() } else { name }
}

/// How much may lie there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one.
    pub one: u64,
    /// How many files there may be at once.
    pub count: usize,
    /// Bytes of all together.
    pub all: u64,
    /// How long one is kept.
    pub keep: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { one: 10 << 20, count: 50, all: 100 << 20, keep: Duration::from_hours(1) }
    }
}

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageType {
    /// `image/jpeg`.
    Jpeg,
    /// `image/png`.
    Png,
    /// `image/gif`.
    Gif,
    /// `image/webp`.
    Webp,
}

impl ImageType {
    /// What a picture's first bytes say it is.
    pub fn sniff(head: &[u8]) -> Option<Self> {
        match head {
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            _ => None,
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
            Self::Gif => "gif",
            Self::Webp => "webp",
        }
    }
}

/// The bytes that tell what a picture is.
const MAGIC: usize = 12;

/// A picture or a file that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its name for clients.
    pub id: String,
    /// The name that it was sent with; a picture has another.
    pub name: String,
    /// Where it lies in the workspace.
    pub path: RelPath,
    /// What its first bytes say it is.
    pub media_type: &'static str,
    /// How many bytes it has.
    pub size: u64,
    /// When it came.
    pub created: SystemTime,
    /// When it goes.
    pub expires: SystemTime,
}

/// Why something is not taken.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// It is bigger than one may be.
    #[error("it has more than {0} bytes, which is the most that is taken")]
    TooLarge(u64),
    /// It is none of the kinds that are taken.
    #[error("that is no JPEG, PNG, GIF or WebP picture")]
    Unsupported,
    /// There is no room.
    #[error("there is no room for another one: remove some, or wait until they expire")]
    Full,
    /// There is no room on the disk.
    #[error("the disk is full; free some space and try again")]
    DiskFull,
    /// There is none under this name.
    #[error("nothing called \"{0}\" is there; it may have expired")]
    Unknown(String),
    /// The workspace failed.
    #[error(transparent)]
    Workspace(#[from] Error),
}

/// What was brought along to a workspace.
#[derive(Clone, Debug)]
pub struct Uploads {
    root: Root,
    shelf: Shelf,
    limits: Limits,
}

/// What is in the folder.
#[derive(Default)]
struct There {
    stored: Vec<Stored>,
    coming: usize,
}

impl Uploads {
    /// The pictures or the files of this workspace.
    pub fn new(root: Root, shelf: Shelf, limits: Limits) -> Self {
        Self { root, shelf, limits }
    }

    /// How much may lie there.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Everything that has not expired at this time, the oldest first; what has is removed. Waits for the disk.
    pub fn list(&self, now: SystemTime) -> Result<Vec<Stored>, Refusal> {
        Ok(self.look(now, None)?.stored)
    }

    fn look(&self, now: SystemTime, without: Option<&str>) -> Result<There, Refusal> {
        let mut there = There::default();
        let Some(folder) = self.existing()? else { return Ok(there) };
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
            there.coming += usize::from(name.starts_with(COMING) && Some(name) != without);
            let Some((id, own)) = self.shelf.parse(name).filter(|_| metadata.is_file()) else { continue };
            let media_type = self.shelf.media_type(own, &head(&folder, name));
            let (path, size) = (self.path_of(name)?, metadata.len());
            there.stored.push(Stored { id: id.into(), name: own.into(), path, media_type, size, created, expires });
        }
        there.stored.sort_by(|one, other| (one.created, &one.id).cmp(&(other.created, &other.id)));
        Ok(there)
    }

    /// What is there under this name. Waits for the disk.
    pub fn get(&self, id: &str, now: SystemTime) -> Result<Stored, Refusal> {
        let found = self.list(now)?.into_iter().find(|stored| stored.id == id);
        found.ok_or_else(|| Refusal::Unknown(id.to_owned()))
    }

    /// Begins to take something under an id that nothing else has. Waits for the disk.
    pub fn begin(&self, id: &str, own_name: &str, now: SystemTime) -> Result<Upload, Refusal> {
        let folder = self.made()?;
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
            room: 0,
            uploads: self.clone(),
        };
        // Of those that come at the same time each sees the others, so together they never get more than there is; and
        // each of them may still become as big as one may be.
        let there = self.look(now, Some(&upload.coming))?;
        let used: u64 = there.stored.iter().map(|stored| stored.size).sum();
        let used = used + there.coming as u64 * self.limits.one;
        if there.stored.len() + there.coming >= self.limits.count || used >= self.limits.all {
            return Err(Refusal::Full);
        }
        upload.room = self.limits.all - used;
        Ok(upload)
    }

    /// Removes something. Waits for the disk.
    pub fn remove(&self, id: &str, now: SystemTime) -> Result<(), Refusal> {
        let stored = self.get(id, now)?;
        let folder = self.existing()?.ok_or_else(|| Refusal::Unknown(id.to_owned()))?;
        folder.remove_file(stored.path.name()).map_err(|source| self.failed(source))
    }

    /// Removes everything; how much there was. Waits for the disk.
    pub fn clear(&self, now: SystemTime) -> Result<usize, Refusal> {
        let all = self.list(now)?;
        for stored in &all {
            self.remove(&stored.id, now)?;
        }
        Ok(all.len())
    }

    fn existing(&self) -> Result<Option<Dir>, Error> {
        let path = RelPath::parse(self.shelf.folder())?;
        match self.root.look(&path) {
            Err(Error::NotFound { .. }) => Ok(None),
            _ => self.root.open_dir(&path).map(Some),
        }
    }

    /// The folder, made if it is not there, with a note to git not to look.
    fn made(&self) -> Result<Dir, Refusal> {
        let root = self.root.open_dir(&RelPath::root())?;
        let made = || {
            root.create_dir_all(self.shelf.folder())?;
            root.write(".roost/.gitignore", "*\n")?;
            root.open_dir(self.shelf.folder())
        };
        made().map_err(|source| self.failed(source))
    }

    fn path_of(&self, name: &str) -> Result<RelPath, Error> {
        RelPath::parse(&format!("{}/{name}", self.shelf.folder()))
    }

    fn failed(&self, source: io::Error) -> Refusal {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Refusal::DiskFull,
            _ => Error::io(self.shelf.folder(), source).into(),
        }
    }
}

/// The beginning of a file; nothing if it is gone.
fn head(folder: &Dir, name: &str) -> Vec<u8> {
    let mut head = Vec::new();
    if let Ok(file) = folder.open(name) {
        let _ = file.take(HEAD as u64).read_to_end(&mut head);
    }
    head
}

/// Something that is coming. Unless it is finished, nothing of it stays.
#[derive(Debug)]
pub struct Upload {
    id: String,
    own_name: String,
    coming: String,
    file: File,
    folder: Dir,
    head: Vec<u8>,
    size: u64,
    room: u64,
    uploads: Uploads,
}

impl Upload {
    /// Takes the next bytes. Waits for the disk.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let Uploads { shelf, limits, .. } = self.uploads;
        self.size += bytes.len() as u64;
        if self.size > limits.one {
            return Err(Refusal::TooLarge(limits.one));
        }
        if self.size > self.room {
            return Err(Refusal::Full);
        }
        let missing = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend(&bytes[..missing]);
        if shelf == Shelf::Images && self.head.len() >= MAGIC && ImageType::sniff(&self.head).is_none() {
            return Err(Refusal::Unsupported);
        }
        self.file.write_all(bytes).map_err(|source| self.uploads.failed(source))
    }

    /// It is there. Waits for the disk.
    pub fn finish(self) -> Result<Stored, Refusal> {
        let Uploads { shelf, limits, .. } = self.uploads;
        let failed = |source| self.uploads.failed(source);
        let name = shelf.name(&self.id, &self.own_name, &self.head)?;
        self.folder.rename(&self.coming, &self.folder, &name).map_err(failed)?;
        let created = self.file.metadata().and_then(|metadata| metadata.modified()).map_err(failed)?.into_std();
        Ok(Stored {
            id: self.id.clone(),
            name: shelf.parse(&name).map_or_else(|| name.clone(), |(_, own)| own.to_owned()),
            path: self.uploads.path_of(&name)?,
            media_type: shelf.media_type(&name, &self.head),
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
        let uploads = Uploads::new(root, Shelf::Files, Limits::default());
        assert!(matches!(uploads.failed(io::ErrorKind::StorageFull.into()), Refusal::DiskFull));
        assert!(matches!(uploads.failed(io::ErrorKind::Other.into()), Refusal::Workspace(_)));
    }
}
