//! Shows at the terminal how to connect a new device.

use std::fmt::Write;

use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};
use roost_rpc::PairResult;
use serde_json::json;

use crate::error::Error;
use crate::screen;
use crate::style::Style;

/// Says in the foreground where the daemon listens, and how to connect a device if that is given.
pub fn say_listening(url: &str, pair: Option<&PairResult>) -> Result<(), Error> {
    let style = Style::for_stdout();
    let how = pair.map(|pair| shown(style, pair)).unwrap_or_default();
    screen::print(&format!("{how}Roost listens on {}; Ctrl-C ends it.", style.bold(url)))
}

/// The QR code, the link and the code, in whole lines.
pub(crate) fn shown(style: Style, pair: &PairResult) -> String {
    let mut text = String::new();
    // What is too long for a QR code can still be typed.
    if let Ok(code) = QrCode::with_error_correction_level(content(pair), EcLevel::L) {
        // A terminal is dark: what is not drawn is the dark part of the code.
        let code = code.render().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build();
        let _ = writeln!(text, "{code}\n");
    }
    let (one, two) = pair.code.split_at_checked(pair.code.len() / 2).unwrap_or((&pair.code, ""));
    let _ = writeln!(text, "Scan it with the app on your phone, or pair by hand:");
    let _ = writeln!(text, "  address  {}", style.bold(&pair.http));
    let _ = writeln!(text, "  code     {}", style.bold(format_args!("{one} {two}")));
    let _ = writeln!(text, "  page     {}", pair.page);
    if let Some(fingerprint) = &pair.fingerprint {
        let _ = writeln!(text, "  sha256   {fingerprint}");
    }
    let _ = writeln!(
        text,
        "{}",
        style.dim(format_args!("Good until {}; `roost pair` makes another.", pair.token_expires_at))
    );
    text
}

/// The JSON in the QR code, with the keys in the order that clients expect.
fn content(pair: &PairResult) -> String {
    let mut content = json!({
        "ws": pair.ws, "http": pair.http, "session": pair.session, "repo": pair.repo, "token": pair.token,
    });
    if let Some(fingerprint) = &pair.fingerprint {
        content["fingerprint"] = json!(fingerprint);
    }
    content.to_string()
}

#[cfg(test)]
mod tests {
    use roost_model::time::Timestamp;

    use super::*;

    fn pair() -> PairResult {
        PairResult {
            ws: "ws://127.0.0.1:8766/ws".into(),
            http: "http://127.0.0.1:8766".into(),
            session: "0199a1b2".into(),
            repo: "app".into(),
            token: "cdev_p_secret".into(),
            token_expires_at: Timestamp::from_millis(0),
            code: "123456".into(),
            page: "http://127.0.0.1:8766/pair#once".into(),
            fingerprint: None,
        }
    }

    #[test]
    fn everything_that_a_person_needs_is_shown() {
        let shown = shown(Style::PLAIN, &pair());
        for part in ["▀", "http://127.0.0.1:8766\n", "123 456", "/pair#once", "1970-01-01"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains("cdev_p_secret"), "the token is in the code only");
    }

    #[test]
    fn the_code_holds_what_clients_read_in_their_order() {
        let expected = r#"{"ws":"ws://127.0.0.1:8766/ws","http":"http://127.0.0.1:8766","session":"0199a1b2","repo":"app","token":"cdev_p_secret"}"#;
        assert_eq!(content(&pair()), expected);
    }
}
