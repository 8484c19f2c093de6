//! WebSocket frames, as far as clients of the daemon need them: the server never masks or fragments its frames.

/// A complete frame of the server's.
#[derive(Debug, PartialEq)]
pub(crate) struct WsFrame<'a> {
    pub(crate) kind: FrameKind,
    /// The unmasked content.
    pub(crate) payload: &'a [u8],
    /// Bytes of the frame, header included.
    pub(crate) size: usize,
}

/// The kinds of frames that clients tell apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FrameKind {
    Text,
    Close,
    /// Pings and the like, which no client of a bench answers.
    Other,
}

/// The frame at the beginning of these bytes, if its last byte is there.
pub(crate) fn first(bytes: &[u8]) -> Option<WsFrame<'_>> {
    let (&[opcode, short], rest) = bytes.split_first_chunk()?;
    let (length, rest) = match short {
        126 => rest.split_first_chunk().map(|(length, rest)| (u64::from(u16::from_be_bytes(*length)), rest))?,
        127 => rest.split_first_chunk().map(|(length, rest)| (u64::from_be_bytes(*length), rest))?,
        _ => (u64::from(short), rest),
    };
    let payload = rest.get(..usize::try_from(length).ok()?)?;
    let kind = match opcode & 0x0f {
        1 => FrameKind::Text,
        8 => FrameKind::Close,
        _ => FrameKind::Other,
    };
    Some(WsFrame { kind, payload, size: bytes.len() - rest.len() + payload.len() })
}

/// Encodes a text frame of a client. Clients must mask; a mask of zeros leaves the payload as it is.
pub(crate) fn text(payload: &str) -> Vec<u8> {
    let mut frame = vec![0x81];
    match payload.len() {
        length @ 0..=125 => frame.push(0x80 | length as u8),
        length @ 126..=0xffff => {
            frame.push(0x80 | 126);
            frame.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            frame.push(0x80 | 127);
            frame.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(payload.as_bytes());
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_found_when_its_last_byte_is_there() {
        for (header, length) in [
            (vec![0x81, 0], 0),
            (vec![0x81, 125], 125),
            (vec![0x81, 126, 0, 126], 126),
            (vec![0x81, 126, 0xff, 0xff], 65_535),
            (vec![0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0], 65_536),
        ] {
            let mut bytes = header;
            bytes.resize(bytes.len() + length, b'x');
            let size = bytes.len();
            assert_eq!(first(&bytes[..size - 1]), None, "{length}");
            bytes.extend_from_slice(b"the next one");
            let frame = first(&bytes).unwrap();
            assert_eq!((frame.kind, frame.payload.len(), frame.size), (FrameKind::Text, length, size));
        }
    }
}
