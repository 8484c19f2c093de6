//! The size of values in JSON, without encoding them into memory.

use std::io;

use serde::Serialize;

/// Bytes of a value in JSON, counted and not kept.
pub(crate) fn size(value: &impl Serialize) -> usize {
    let mut count = Count(0);
    // What cannot be encoded is refused when it is sent.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// The first items that fit into so many bytes of JSON; none if even the first does not.
pub(crate) fn fitting<T: Serialize>(items: impl Iterator<Item = T>, mut room: usize) -> Vec<T> {
    let fits = |item: &T| {
        let size = size(item) + 1;
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    };
    items.take_while(fits).collect()
}

struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_as_big_as_its_text() {
        let value = serde_json::json!({ "name": "ä\n\"\u{1}", "numbers": [1, 2.5, null] });
        assert_eq!(size(&value), value.to_string().len());
    }
}
