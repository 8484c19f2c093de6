//! Whether a file is text.

/// Extensions of files that are no text, sorted.
const EXTENSIONS: &[&str] = &[
    "7z", "a", "aac", "apk", "ar", "avi", "avif", "bin", "bmp", "br", "bz2", "class", "cur", "dat", "db", "deb", "dll",
    "dmg", "doc", "docx", "dylib", "eot", "exe", "flac", "gif", "gz", "heic", "ico", "icns", "ipa", "iso", "jar", "jpeg",
    "jpg", "lib", "lz4", "m4a", "m4v", "mkv", "mov", "mp3", "mp4", "mpeg", "mpg", "node", "o", "obj", "odt", "ogg", "otf",
    "parquet", "pdf", "png", "ppt", "pptx", "psd", "pyc", "pyo", "rar", "rlib", "rpm", "so", "sqlite", "sqlite3", "swf",
    "tar", "tgz", "tif", "tiff", "ttf", "wasm", "wav", "webm", "webp", "wmv", "woff", "woff2", "xls", "xlsx", "xz", "zip",
    "zst",
];

/// How much of a file is looked at for a NUL, as git does.
pub(crate) const SNIFFED: usize = 8000;

/// Whether a file of this name is likely no text.
pub(crate) fn by_name(name: &str) -> bool {
    let extension = crate::index::extension(name);
    // Longer ones are none of ours, and need not be made small.
    extension.len() <= 8 && EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str())
}

/// Whether what begins like this is no text.
pub(crate) fn by_content(beginning: &[u8]) -> bool {
    memchr::memchr(0, &beginning[..beginning.len().min(SNIFFED)]).is_some()
}
