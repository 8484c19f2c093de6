//! The images of a prompt: stored as artifacts, and read back when the task is started.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use roost_model::content::TranscriptMessage;
use roost_model::ids::ArtifactId;

use crate::artifacts::{ArtifactError, Artifacts};

/// Images by the ids of their artifacts.
pub type Images = BTreeMap<ArtifactId, Image>;

/// An image for an adapter, which passes on the bytes or the path, as its runtime takes images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The encoded image (PNG, JPEG, …) as it was uploaded.
    pub bytes: Arc<[u8]>,
    /// The artifact's file, which holds the same bytes; it has no extension.
    pub path: PathBuf,
}

/// Reads all images of a message from the artifact store.
pub(crate) async fn load(artifacts: &Artifacts, message: &TranscriptMessage) -> Result<Images, ArtifactError> {
    let mut images = Images::new();
    for id in message.images() {
        let image = Image { bytes: artifacts.get(id).await?.into(), path: artifacts.path(id)? };
        images.insert(id.clone(), image);
    }
    Ok(images)
}
