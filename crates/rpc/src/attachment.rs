//! What a prompt brings along besides its words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

params! {
    /// An image: its bytes, or at the local door the file that holds them.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    PromptImage {
        ;
        /// Its bytes in base64.
        data: String,
        /// Its file, for the local door.
        path: String,
        /// Its media type; refused if the bytes are something else.
        #[serde(alias = "mimeType", alias = "mime_type")]
        media_type: String,
        /// A file name for people.
        name: String,
    }
}
