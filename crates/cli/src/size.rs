//! Words sizes in bytes for people.

/// A number of bytes such as `20.0 KB`, in units of 1024 up to TB. The server words sizes the same way.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    let (mut size, mut unit) = (bytes as f64, "B");
    for next in UNITS {
        if size < 1024.0 {
            break;
        }
        (size, unit) = (size / 1024.0, next);
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{size:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_unit_that_fits_is_shown() {
        for (bytes, text) in [(0, "0 B"), (1023, "1023 B"), (20_480, "20.0 KB"), (5 << 30, "5.0 GB")] {
            assert_eq!(size(bytes), text);
        }
    }
}
