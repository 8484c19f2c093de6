//! Pictures that a client brings along for a prompt.
//!
//! They lie in the workspace, where the agent can read them, in a folder that git does not see, until they expire.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use cap_std::fs::{Dir, File};

use crate::{Error, RelPath, Root};

/// Where they lie.
const FOLDER: &str = ".roost/images";
/// Ends the name of a picture that is still coming.
const COMING: &str = ".part";

/// How much may lie there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one picture.
    pub one: u64,
    /// Pictures.
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
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// GIF.
    Gif,
    /// WebP.
    Webp,
}

impl ImageType {
    const ALL: [Self; 4] = [Self::Jpeg, Self::Png, Self::Gif, Self::Webp];

    /// What a picture's first bytes say it is.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            _ => None,
        }
    }

    /// Its media type.
    pub fn media_type(self) -> &'static str {
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

/// A picture that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its name for clients.
    pub id: String,
    /// Where it lies in the workspace.
    pub path: RelPath,
    /// What it is.
    pub kind: ImageType,
    /// Its bytes.
    pub size: u64,
    /// When it came.
    pub created: SystemTime,
    /// When it goes.
    pub expires: SystemTime,
}

/// Why a picture is not taken.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// It is bigger than one may be.
    #[error("the picture has more than {0} bytes, which is the most that is taken")]
    TooLarge(u64),
    /// It is none of the kinds that are taken.
    #[error("that is no JPEG, PNG, GIF or WebP picture")]
    Unsupported,
    /// There is no room.
    #[error("there is no room for another picture: remove some, or wait until they expire")]
    Full,
    /// There is none under this name.
    #[error("there is no picture \"{0}\"")]
    Unknown(String),
    /// The workspace failed.
    #[error(transparent)]
    Workspace(#[from] Error),
}

/// The pictures of a workspace.
#[derive(Clone, Debug)]
pub struct Uploads {
    root: Root,
    limits: Limits,
}

impl Uploads {
    /// The pictures of this workspace.
    pub fn of(root: Root, limits: Limits) -> Self {
        Self { root, limits }
    }

    /// How much may lie there.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Every picture that has not expired at this time, the oldest first; those that have are removed. Waits for the
    /// disk.
    pub fn list(&self, now: SystemTime) -> Result<Vec<Image>, Error> {
        let Some(folder) = self.existing()? else { return Ok(Vec::new()) };
        let mut images = Vec::new();
        for entry in folder.entries().map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let (Some(name), Ok(metadata)) = (name.to_str(), folder.symlink_metadata(&name)) else { continue };
            let created = metadata.modified().map_or(now, cap_std::time::SystemTime::into_std);
            let expires = created + self.limits.keep;
            if expires <= now {
                // Whoever removes it first is right.
                let _ = folder.remove_file(name);
                continue;
            }
            let Some((id, kind)) = parse(name).filter(|_| metadata.is_file()) else { continue };
            images.push(Image { id, path: path_of(name)?, kind, size: metadata.len(), created, expires });
        }
        images.sort_by(|one, other| (one.created, &one.id).cmp(&(other.created, &other.id)));
        Ok(images)
    }

    /// The picture under this name. Waits for the disk.
    pub fn get(&self, id: &str, now: SystemTime) -> Result<Image, Refusal> {
        let found = self.list(now)?.into_iter().find(|image| image.id == id);
        found.ok_or_else(|| Refusal::Unknown(id.to_owned()))
    }

    /// Begins to take a picture under a name that nothing else has. Waits for the disk.
    pub fn begin(&self, id: &str, now: SystemTime) -> Result<Upload, Refusal> {
        let there = self.list(now)?;
        let used: u64 = there.iter().map(|image| image.size).sum();
        if there.len() >= self.limits.count || used >= self.limits.all {
            return Err(Refusal::Full);
        }
        let folder = self.made()?;
        let coming = format!("img_{id}{COMING}");
        let file = folder.create(&coming).map_err(failed)?;
        let room = self.limits.all - used;
        Ok(Upload { id: id.to_owned(), coming, file, folder, head: Vec::new(), size: 0, room, limits: self.limits })
    }

    /// Removes a picture. Waits for the disk.
    pub fn remove(&self, id: &str, now: SystemTime) -> Result<(), Refusal> {
        let image = self.get(id, now)?;
        let folder = self.existing()?.ok_or_else(|| Refusal::Unknown(id.to_owned()))?;
        folder.remove_file(image.path.name()).map_err(|source| failed(source).into())
    }

    /// Removes every picture; how many there were. Waits for the disk.
    pub fn clear(&self, now: SystemTime) -> Result<usize, Refusal> {
        let images = self.list(now)?;
        for image in &images {
            self.remove(&image.id, now)?;
        }
        Ok(images.len())
    }

    fn existing(&self) -> Result<Option<Dir>, Error> {
        match self.root.open_dir(&path_of("")?) {
            Ok(folder) => Ok(Some(folder)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The folder, made if it is not there, with a note to git not to look.
    fn made(&self) -> Result<Dir, Error> {
        let root = self.root.open_dir(&RelPath::root())?;
        root.create_dir_all(FOLDER).map_err(failed)?;
        root.write(".roost/.gitignore", "*\n").map_err(failed)?;
        root.open_dir(FOLDER).map_err(failed)
    }
}

/// A picture that is coming. Unless it is finished, nothing of it stays.
#[derive(Debug)]
pub struct Upload {
    id: String,
    coming: String,
    file: File,
    folder: Dir,
    head: Vec<u8>,
    size: u64,
    room: u64,
    limits: Limits,
}

impl Upload {
    /// Takes the next bytes. Waits for the disk.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        self.size += bytes.len() as u64;
        if self.size > self.limits.one {
            return Err(Refusal::TooLarge(self.limits.one));
        }
        if self.size > self.room {
            return Err(Refusal::Full);
        }
        let missing = MAGIC.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend(&bytes[..missing]);
        if self.head.len() == MAGIC && ImageType::of(&self.head).is_none() {
            return Err(Refusal::Unsupported);
        }
        self.file.write_all(bytes).map_err(|source| failed(source).into())
    }

    /// The picture is there. Waits for the disk.
    pub fn finish(self) -> Result<Image, Refusal> {
        let kind = ImageType::of(&self.head).ok_or(Refusal::Unsupported)?;
        let name = format!("img_{}.{}", self.id, kind.extension());
        self.folder.rename(&self.coming, &self.folder, &name).map_err(failed)?;
        let metadata = self.file.metadata().map_err(failed)?;
        let created = metadata.modified().map_err(failed)?.into_std();
        let expires = created + self.limits.keep;
        Ok(Image { id: self.id.clone(), path: path_of(&name)?, kind, size: self.size, created, expires })
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // It has another name once it is finished.
        let _ = self.folder.remove_file(&self.coming);
    }
}

fn parse(name: &str) -> Option<(String, ImageType)> {
    let (id, extension) = name.strip_prefix("img_")?.split_once('.')?;
    let kind = ImageType::ALL.into_iter().find(|kind| kind.extension() == extension)?;
    Some((id.to_owned(), kind))
}

fn path_of(name: &str) -> Result<RelPath, Error> {
    RelPath::parse(&format!("{FOLDER}/{name}"))
}

fn failed(source: io::Error) -> Error {
    Error::of(FOLDER, source)
}
