//! The images of a prompt: artifacts that are read again when a runtime is told of them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use roost_model::content::TranscriptMessage;
use roost_model::ids::ArtifactId;

use crate::artifacts::{ArtifactError, Artifacts};

/// Images by their artifacts.
pub type Images = BTreeMap<ArtifactId, Image>;

/// An image as a runtime is given it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its bytes.
    pub bytes: Arc<[u8]>,
    /// The file that holds them.
    pub path: PathBuf,
}

/// The images of a message, checked against their names.
pub(crate) async fn of(artifacts: &Artifacts, message: &TranscriptMessage) -> Result<Images, ArtifactError> {
    let mut images = Images::new();
    for id in message.images() {
        let image = Image { bytes: artifacts.get(id).await?.into(), path: artifacts.path(id)? };
        images.insert(id.clone(), image);
    }
    Ok(images)
}
