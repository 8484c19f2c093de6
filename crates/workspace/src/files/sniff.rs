//! Guesses a file's type by its content, not by its name.

use std::path::Path;

/// How many bytes at a file's beginning are examined.
pub(super) const HEAD: usize = 8 * 1024;

/// The type of a file's content, as its first bytes tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentType {
    /// Whether the first bytes are UTF-8 text.
    pub is_text: bool,
    /// The media type, such as `image/png`; `application/octet-stream` if unknown.
    pub media_type: &'static str,
}

/// The type that a file's first bytes tell; its name only distinguishes kinds of text.
pub fn sniff(name: &str, head: &[u8]) -> ContentType {
    let head = &head[..head.len().min(HEAD)];
    if is_text(head) {
        return ContentType { is_text: true, media_type: text_type(name) };
    }
    let media_type = infer::get(head).map_or("application/octet-stream", |found| found.mime_type());
    ContentType { is_text: false, media_type }
}

/// UTF-8 without NUL; its last character may be cut off.
fn is_text(head: &[u8]) -> bool {
    let valid = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && head.len() - error.valid_up_to() < 4,
    };
    valid && !head.contains(&0)
}

fn text_type(name: &str) -> &'static str {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "svg" => "image/svg+xml",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "csv" => "text/csv",
        "md" | "markdown" => "text/markdown",
        "js" | "mjs" | "cjs" => "text/javascript",
        "json" => "application/json",
        "xml" => "application/xml",
        _ => "text/plain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_decides_and_the_name_only_tells_texts_apart() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
        let cases: [(&str, &[u8], bool, &str); 8] = [
            ("a.rs", b"fn main() {}", true, "text/plain"),
            ("a.MD", "# Größe".as_bytes(), true, "text/markdown"),
            ("empty", b"", true, "text/plain"),
            ("text.png", b"not a picture", true, "text/plain"),
            ("a.txt", png, false, "image/png"),
            ("a.pdf", b"%PDF-1.7\n\xff\xfe", false, "application/pdf"),
            ("a.txt", b"one\0two", false, "application/octet-stream"),
            ("latin.txt", b"Gr\xf6\xdfe und mehr", false, "application/octet-stream"),
        ];
        for (name, head, is_text, media_type) in cases {
            assert_eq!(sniff(name, head), ContentType { is_text, media_type }, "{name}");
        }
    }

    #[test]
    fn a_character_that_is_cut_off_by_the_end_of_the_head_is_text() {
        let text = "ä".repeat(HEAD);
        assert!(sniff("a", &text.as_bytes()[..HEAD - 1]).is_text);
    }
}
