//! The attachments of a prompt: images, which become artifacts, and references to files.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use roost_model::content::{ArtifactRef, TranscriptContentBlock, TranscriptMessage};
use roost_rpc::{Fault, FaultCode, PromptImage};
use roost_workspace::files::ImageType;
use tokio::io::AsyncReadExt;

use crate::caller::Door;
use crate::dispatch::Context;
use crate::fault;

/// The greatest number of images of a prompt.
const IMAGES: usize = 5;
/// The greatest size of one image, in bytes: 10 MiB.
const IMAGE: usize = 10 << 20;
/// The greatest number of files that a prompt refers to.
const FILES: usize = 50;
/// The greatest length of a name or a path, in bytes.
const NAME: usize = 4 << 10;

/// The attachments of a prompt, checked and not stored yet.
#[derive(Default)]
pub(super) struct Attachments {
    images: Vec<Image>,
    files: Vec<String>,
}

struct Image {
    bytes: Vec<u8>,
    media_type: &'static str,
    name: String,
}

impl Attachments {
    /// Checks all attachments, for this runtime and this folder, before anything is stored.
    pub(super) async fn check(
        context: &Context<'_>,
        runtime: &str,
        cwd: &Path,
        images: Option<Vec<PromptImage>>,
        files: Option<Vec<String>>,
    ) -> Result<Self, Fault> {
        let (images, files) = (images.unwrap_or_default(), files.unwrap_or_default());
        let is_local = context.caller.door == Door::Local;
        at_most("images", images.len(), IMAGES)?;
        at_most("files", files.len(), FILES)?;
        let mut attached = Self::default();
        if !images.is_empty() {
            let refused = |error| fault::engine(error).with("field", "images");
            context.host.sessions.engine.check_images(runtime).map_err(refused)?;
        }
        for image in images {
            attached.images.push(read(image, is_local).await.map_err(|fault| fault.with("field", "images"))?);
        }
        for file in files {
            let found = find(cwd, &file, is_local).await;
            attached.files.push(found.map_err(|fault| fault.with("field", "files").with("path", file))?);
        }
        Ok(attached)
    }

    /// The prompt's message; stores the images as artifacts.
    pub(super) async fn message(self, context: &Context<'_>, words: String) -> Result<TranscriptMessage, Fault> {
        let mut message = TranscriptMessage::user(words);
        for Image { bytes, media_type, name } in self.images {
            let stored = context.host.sessions.engine.artifacts().put(bytes, media_type, &name).await;
            let ArtifactRef { artifact_id, .. } = stored.map_err(|error| fault::engine(error.into()))?;
            let image = TranscriptContentBlock::Image { artifact_id, media_type: media_type.into(), name: Some(name) };
            message.content.push(image);
        }
        message.content.extend(self.files.into_iter().map(|path| TranscriptContentBlock::FileRef { path }));
        Ok(message)
    }
}

fn at_most(field: &str, count: usize, most: usize) -> Result<(), Fault> {
    if count <= most {
        return Ok(());
    }
    Err(Fault::params(format_args!("a prompt has {most} {field} at most, not {count}")).with("field", field))
}

/// Reads and checks one image. Its type is taken from its bytes.
async fn read(image: PromptImage, is_local: bool) -> Result<Image, Fault> {
    let PromptImage { data, path, media_type: claimed, name } = image;
    let (bytes, file_name) = match (data, path) {
        (Some(data), None) => (decoded(data).await?, None),
        (None, Some(path)) if is_local => {
            let bytes = contents(&path).await?;
            (bytes, Path::new(&path).file_name().map(|name| name.to_string_lossy().into_owned()))
        }
        (None, Some(_)) => return Err(Fault::params("an image's path is for the local door only; send its data")),
        _ => return Err(Fault::params("an image has either data (base64) or a path")),
    };
    let name = name.or(file_name);
    if bytes.len() > IMAGE {
        let which = name.as_deref().unwrap_or("an image");
        let why = format_args!("{which} has {} bytes; {IMAGE} are the limit", bytes.len());
        return Err(Fault::new(FaultCode::InvalidParams, why).with("max_size", IMAGE));
    }
    let Some(format) = ImageType::sniff(&bytes) else {
        let which = name.as_deref().unwrap_or("an image");
        return Err(Fault::params(format_args!("{which} is no image that agents take: png, jpeg, gif or webp")));
    };
    let media_type = format.media_type();
    if let Some(claimed) = claimed.filter(|claimed| !claimed.eq_ignore_ascii_case(media_type)) {
        return Err(Fault::params(format_args!("an image is called {claimed} and is {media_type}")));
    }
    let name = name
        .filter(|name| !name.is_empty() && name.len() <= NAME)
        .unwrap_or_else(|| format!("image.{}", format.extension()));
    Ok(Image { bytes, media_type, name })
}

async fn decoded(data: String) -> Result<Vec<u8>, Fault> {
    // Megabytes take a while.
    let decoded = tokio::task::spawn_blocking(move || STANDARD.decode(data.as_bytes())).await;
    let bad = |why: &dyn std::fmt::Display| Fault::params(format_args!("an image's data is not base64: {why}"));
    decoded.map_err(|error| bad(&error))?.map_err(|error| bad(&error))
}

async fn contents(path: &str) -> Result<Vec<u8>, Fault> {
    let read = async {
        let (mut bytes, more) = (Vec::new(), IMAGE as u64 + 1);
        tokio::fs::File::open(path).await?.take(more).read_to_end(&mut bytes).await?;
        std::io::Result::Ok(bytes)
    };
    read.await.map_err(|error| Fault::params(format_args!("{path} cannot be read: {error}")))
}

/// The path by which an agent in this folder finds the file. Remote clients can name only files in the folder.
async fn find(cwd: &Path, file: &str, is_local: bool) -> Result<String, Fault> {
    if file.len() > NAME || file.contains(char::is_control) || file.contains('"') {
        return Err(Fault::params("a file's path is too long, or has characters that no prompt can hold"));
    }
    let none = || Fault::params(format_args!("there is no file {file} in the session's folder"));
    let real = |path: PathBuf| async move { tokio::fs::canonicalize(path).await.map_err(|_| none()) };
    let (cwd, found) = (real(cwd.into()).await?, real(cwd.join(file)).await?);
    let metadata = tokio::fs::metadata(&found).await.map_err(|_| none())?;
    // Whoever reads a pipe waits for ever.
    if !(metadata.is_file() || metadata.is_dir() && found != cwd) {
        return Err(none());
    }
    let found = match found.strip_prefix(&cwd) {
        Ok(below) => below.to_owned(),
        Err(_) if is_local => found,
        Err(_) => return Err(none()),
    };
    found.to_str().map(Into::into).ok_or_else(none)
}
