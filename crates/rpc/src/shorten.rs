//! Cuts texts that are too long for a screen.

/// The first characters of a text, with `…` if it was cut; for titles and summaries.
pub fn short(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The first characters of a text, with a note of how many are missing; for what somebody has to decide about.
pub fn beginning(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}… [cut: {} more characters]", &text[..at], text[at..].chars().count()),
        None => text.to_owned(),
    }
}
