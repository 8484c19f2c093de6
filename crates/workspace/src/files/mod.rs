//! Files of a workspace: read, listed, and brought along for a prompt.

mod list;
mod marks;
mod open;
mod read;
mod sniff;
mod uploads;

pub use list::{FileEntry, FolderEntry, Listing, list};
pub use marks::Marks;
pub use open::{Opened, open};
pub use read::{Content, Part, read};
pub use sniff::{Sniffed, sniff};
pub use uploads::{ImageType, Limits, Refusal, Shelf, Stored, Upload, Uploads};
