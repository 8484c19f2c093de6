//! Files of a workspace: reading, listing and uploads.

mod image_type;
mod list;
mod marks;
mod open;
mod read;
mod sniff;
mod text;
mod uploads;

pub use image_type::ImageType;
pub use list::{FileEntry, FolderEntry, Listing, list};
pub use marks::Marks;
pub use open::{OpenFile, open};
pub use read::{ByteRange, Content, read};
pub use sniff::{ContentType, sniff};
pub use text::{read_text, write_text};
pub use uploads::{Limits, Refusal, StoredUpload, Upload, UploadKind, Uploads};
