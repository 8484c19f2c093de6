//! Texts that are too long for a screen, cut to their beginning.

/// The beginning of a text for one line on a small screen.
pub fn short(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The beginning of a text that somebody decides about; what is missing is said.
pub fn beginning(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}… [cut: {} more characters]", &text[..at], text[at..].chars().count()),
        None => text.to_owned(),
    }
}
