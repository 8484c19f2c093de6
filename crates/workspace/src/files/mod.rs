//! Files of a workspace: read, listed, and brought along for a prompt.

mod list;
mod marks;
mod read;
mod sniff;
mod uploads;

pub use list::{FileEntry, FolderEntry, Listing, list};
pub use marks::Marks;
pub use read::{Content, Part, read};
pub use sniff::{Sniffed, sniff};
pub use uploads::{Image, ImageType, Limits, Refusal, Upload, Uploads};
