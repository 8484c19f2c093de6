//! The encoding of a block's text in the store: plain, or compressed by zstd.
//!
//! Big blocks are compressed when they are written: that takes about as much CPU as writing and checkpointing their
//! plain bytes, and the disk has less to do (`examples/append_rate.rs`: 7 to 28 % more events a second). Small ones
//! wait until they are cold.

use std::borrow::Cow;

use zstd::bulk::{Compressor, decompress};

/// The codec of plain text; a value in the database, so it must never change.
pub(crate) const PLAIN: i64 = 0;
/// The codec of text that is compressed by zstd; it must never change either.
pub(crate) const ZSTD: i64 = 1;

/// A block of at least this many bytes is compressed when it is written.
const BIG: usize = 4 << 10;
/// zstd's fastest ordinary level, for blocks that are being written.
const HOT_LEVEL: i32 = 1;

/// Compresses the big blocks of a group. The compressor's memory is allocated for the first one and freed with the
/// packer.
#[derive(Default)]
pub(crate) struct Packer(Option<Compressor<'static>>);

impl Packer {
    /// The codec and the bytes to store for a text; plain where compression does not help.
    pub(crate) fn pack<'a>(&mut self, text: &'a str) -> (i64, Cow<'a, [u8]>) {
        if text.len() >= BIG && self.0.is_none() {
            self.0 = Compressor::new(HOT_LEVEL).ok();
        }
        match &mut self.0 {
            Some(compressor) if text.len() >= BIG => match compressor.compress(text.as_bytes()) {
                Ok(packed) if packed.len() < text.len() => (ZSTD, packed.into()),
                _ => (PLAIN, text.as_bytes().into()),
            },
            _ => (PLAIN, text.as_bytes().into()),
        }
    }
}

/// Decodes the text of a block; `bytes` is its length when decoded.
pub(crate) fn unpack(
    codec: i64,
    bytes: usize,
    body: &[u8],
) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let text = match codec {
        PLAIN => body.to_vec(),
        ZSTD => decompress(body, bytes)?,
        other => return Err(format!("unknown codec {other}").into()),
    };
    Ok(String::from_utf8(text)?)
}
