//! Recognises the picture formats that agents accept.

/// The picture formats that agents accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageType {
    /// A photograph, `image/jpeg`.
    Jpeg,
    /// A lossless picture, `image/png`.
    Png,
    /// GIF in either of its two versions, `image/gif`.
    Gif,
    /// A lossy or lossless picture, `image/webp`.
    Webp,
}

impl ImageType {
    /// How many bytes are enough to recognise every format.
    pub(super) const MAGIC: usize = 12;

    /// The format of a picture, by its first bytes; `None` for any other.
    pub fn sniff(head: &[u8]) -> Option<Self> {
        match head {
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            _ => None,
        }
    }

    /// The media type, such as `image/png`.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }

    /// The usual extension of a file, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
            Self::Gif => "gif",
            Self::Webp => "webp",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_known_by_its_first_bytes() {
        let table: [(&[u8], Option<&str>); 7] = [
            (b"\x89PNG\r\n\x1a\n....", Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"RIFF\0\0\0\0WAVE", None),
            (b"<svg xmlns=", None),
            (b"", None),
        ];
        for (bytes, expected) in table {
            assert_eq!(ImageType::sniff(bytes).map(ImageType::media_type), expected, "{bytes:?}");
        }
    }
}
