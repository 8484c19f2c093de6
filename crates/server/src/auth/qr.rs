//! QR codes as PNG images.

use png::{BitDepth, ColorType, Encoder};
use qrcode::{Color, QrCode};

use super::AuthError;

/// Light modules around the code, without which scanners do not see it.
const QUIET: usize = 4;

/// This text as an image of this many pixels each way, or more if it does not fit.
pub(super) fn png(text: &str, size: usize) -> Result<Vec<u8>, AuthError> {
    let failed = |error: &dyn std::fmt::Display| AuthError::Internal(format!("no QR code: {error}"));
    let code = QrCode::new(text).map_err(|error| failed(&error))?;
    let modules = code.width() + 2 * QUIET;
    let scale = (size / modules).max(1);
    let size = size.max(modules);
    let margin = (size - code.width() * scale) / 2;
    let module = |pixel: usize| pixel.checked_sub(margin).map(|inside| inside / scale).filter(|at| *at < code.width());
    let shade = |(x, y): (usize, usize)| match (module(x), module(y)) {
        (Some(x), Some(y)) if code[(x, y)] == Color::Dark => 0,
        _ => u8::MAX,
    };
    let pixels: Vec<_> = (0..size).flat_map(|y| (0..size).map(move |x| (x, y))).map(shade).collect();
    let side = u32::try_from(size).map_err(|error| failed(&error))?;
    let mut image = Vec::new();
    let mut encoder = Encoder::new(&mut image, side, side);
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels));
    written.map_err(|error| failed(&error))?;
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dimensions(image: &[u8]) -> (u32, u32) {
        let reader = png::Decoder::new(std::io::Cursor::new(image)).read_info().unwrap();
        (reader.info().width, reader.info().height)
    }

    #[test]
    fn an_image_has_the_size_that_is_asked_for_or_the_least_that_can_be_read() {
        assert_eq!(dimensions(&png("hello", 256).unwrap()), (256, 256));
        // Version 1 is 21 modules wide.
        assert_eq!(dimensions(&png("hello", 0).unwrap()), (29, 29));
    }

    #[test]
    fn what_is_too_long_for_a_code_is_an_error() {
        assert!(png(&"x".repeat(5000), 256).is_err());
    }
}
