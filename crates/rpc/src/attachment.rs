//! Images that a prompt carries.

use serde::{Deserialize, Serialize};

params! {
    /// An image in a prompt: either `data`, or over the local socket `path`.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    PromptImage {
        ;
        /// The image file in base64, at most 10 MiB decoded.
        data: String,
        /// Path of the image file; only over the local socket.
        path: String,
        /// Media type; refused if the bytes are of another one. If absent, the bytes decide.
        #[serde(alias = "mimeType", alias = "mime_type")]
        media_type: String,
        /// File name to show; made from the path or the media type if absent.
        name: String,
    }
}
