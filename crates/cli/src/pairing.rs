//! Shows at the terminal how to connect a new device.

use std::fmt::Write;

use qrcode::{Color, EcLevel, QrCode};
use roost_model::time::Timestamp;
use roost_rpc::PairResult;
use serde_json::json;

use crate::error::Error;
use crate::screen;
use crate::style::Style;

/// Light modules around a QR code. The standard asks for four; cameras do with two, which leaves room for the text below
/// in a terminal of 24 lines.
const MARGIN: usize = 2;

/// How to serve the network from the foreground, for a person to type.
const SERVE_NETWORK: &str = "roost --host 0.0.0.0 --tls self-signed";
/// How to serve the network from the background, for a person to type.
pub(crate) const UP_FOR_NETWORK: &str = "roost down && roost up --host 0.0.0.0 --tls self-signed";

const NEXT_STEPS: &str = "\
On this machine, in another terminal:
  roost demo                take the tour
  roost run \"PROMPT\"        give an agent a task in the current folder
  roost approvals           see what agents are waiting for
";

/// Prints in the foreground where the daemon listens, and how to go on if a pairing is given.
pub fn say_listening(url: &str, pair: Option<&PairResult>) -> Result<(), Error> {
    let style = Style::for_stdout();
    // An address that means all interfaces is none that anybody could open.
    let url = pair.map_or(url, |pair| &pair.http);
    let how = match pair {
        Some(pair) if pair.link.is_none() => format!("{NEXT_STEPS}\n{}\n", shown(style, pair, SERVE_NETWORK)),
        Some(pair) => shown(style, pair, SERVE_NETWORK),
        None => String::new(),
    };
    screen::print(&format!("{how}Roost is running at {}; press Ctrl-C to stop it.", style.bold(url)))
}

/// Prints in the foreground that a code which is still on the screen is no longer valid.
pub fn say_code_ended(code: &str, why: impl std::fmt::Display) -> Result<(), Error> {
    screen::print(&format!(
        "The pairing code {} is no longer valid: {why}. `roost pair` shows a new one.",
        grouped(code)
    ))
}

/// How to connect a device, in whole lines. Where no phone can reach the daemon, `for_network` is the command that changes
/// that.
pub(crate) fn shown(style: Style, pair: &PairResult, for_network: &str) -> String {
    let mut text = String::new();
    let code = style.bold(grouped(&pair.code));
    let valid = format!("valid for {}, for one device", time_left(pair.code_expires_at));
    // Writing to a text cannot fail.
    let _ = match &pair.link {
        Some(link) => writeln!(
            text,
            "{}Scan this code with a phone's camera, or open this link on the phone:\n  {}\n\
             The link and the code {code} are {valid}.",
            qr(link),
            style.bold(link)
        ),
        None => writeln!(
            text,
            "Pairing code {code}, {valid} on this machine:\n  \
             URL   {}\n  page  {}",
            style.bold(&pair.http),
            pair.page
        ),
    };
    if let Some(fingerprint) = &pair.fingerprint {
        // Without colons it fits into a line of 80 characters.
        let _ = writeln!(text, "  sha256  {}", fingerprint.replace(':', ""));
    }
    let _ = match &pair.link {
        Some(_) => writeln!(text, "It opens Roost in the browser. For cdev's iOS app, run `roost pair --app`."),
        None => writeln!(
            text,
            "\nPhones cannot reach it: Roost listens on this machine only. Change that with\n  \
             {}\n\
             Then open Roost in a phone's browser, or in cdev's iOS app (`roost pair --app`).",
            style.bold(for_network)
        ),
    };
    text
}

/// The QR code of cdev's iOS app, in whole lines.
pub(crate) fn shown_for_app(pair: &PairResult) -> String {
    let mut text = qr(&app_link(pair));
    let left = time_left(pair.token_expires_at);
    let _ = writeln!(text, "Scan this code with cdev's iOS app: it is valid for {left}, for one device.");
    if pair.link.is_none() {
        let _ = writeln!(text, "Only an app on this machine can reach {}. For a phone:\n  {UP_FOR_NETWORK}", pair.http);
    }
    text
}

/// A pairing code in two groups, as people read and type it.
fn grouped(code: &str) -> String {
    let (one, two) = code.split_at_checked(code.len() / 2).unwrap_or((code, ""));
    format!("{one} {two}")
}

/// The time until then in whole minutes, rounded up.
fn time_left(until: Timestamp) -> String {
    let millis = u64::try_from(until.as_millis() - Timestamp::now().as_millis()).unwrap_or(0);
    match millis.div_ceil(60_000) {
        1 => "1 minute".into(),
        minutes => format!("{minutes} minutes"),
    }
}

/// A QR code of half blocks, two modules high each, in whole lines; empty if the text is too long for one.
fn qr(text: &str) -> String {
    let Ok(code) = QrCode::with_error_correction_level(text, EcLevel::L) else { return String::new() };
    let side = code.width() + 2 * MARGIN;
    let is_light = |x: usize, y: usize| {
        let inside = |at: usize| at.checked_sub(MARGIN).filter(|at| *at < code.width());
        y < side && inside(x).zip(inside(y)).is_none_or(|at| code[at] == Color::Light)
    };
    let mut lines = String::new();
    for y in (0..side).step_by(2) {
        // A terminal is dark: what is not drawn is the dark part of the code.
        lines.extend((0..side).map(|x| match (is_light(x, y), is_light(x, y + 1)) {
            (true, true) => '█',
            (true, false) => '▀',
            (false, true) => '▄',
            (false, false) => ' ',
        }));
        lines.push('\n');
    }
    lines
}

/// What cdev's app reads from a QR code: JSON with the keys in the order that clients expect.
fn app_link(pair: &PairResult) -> String {
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
    use super::*;

    fn pair(link: Option<&str>) -> PairResult {
        let in_ten_minutes = Timestamp::from_millis(Timestamp::now().as_millis() + 600_000);
        PairResult {
            ws: "ws://127.0.0.1:8766/ws".into(),
            http: "http://127.0.0.1:8766".into(),
            session: "0199a1b2".into(),
            repo: "app".into(),
            token: "cdev_p_secret".into(),
            token_expires_at: in_ten_minutes,
            code: "123456".into(),
            code_expires_at: in_ten_minutes,
            link: link.map(Into::into),
            page: "http://127.0.0.1:8766/pair#once".into(),
            fingerprint: None,
        }
    }

    #[test]
    fn what_a_phone_needs_fits_a_small_terminal() {
        let link = "https://192.168.178.123:8766/pair#123456";
        let shown =
            shown(Style::PLAIN, &PairResult { fingerprint: Some(["AB"; 32].join(":")), ..pair(Some(link)) }, "");
        // The last line is for where the daemon listens, and then for the cursor.
        assert!(shown.lines().count() <= 22, "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        assert!(shown.lines().any(|line| line.trim() == link), "{shown}");
        assert!(shown.contains("123 456") && shown.contains("valid for 10 minutes"), "{shown}");
        assert!(!shown.contains("cdev_p_secret"), "the token is for the app only");
    }

    #[test]
    fn where_no_phone_can_come_there_is_no_code_to_scan_but_the_command_that_lets_it() {
        let shown = shown(Style::PLAIN, &pair(None), UP_FOR_NETWORK);
        for part in ["http://127.0.0.1:8766\n", "123 456", "/pair#once", "Phones cannot reach", UP_FOR_NETWORK] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains('█'), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    }

    #[test]
    fn a_camera_reads_the_code_from_the_half_blocks() {
        let text = "https://192.168.178.123:8766/pair#123456";
        let lines: Vec<Vec<char>> = qr(text).lines().map(|line| line.chars().collect()).collect();
        let (width, height) = (lines[0].len(), lines.len() * 2);
        let light = |x: usize, y: usize| match lines[y / 2][x] {
            '█' => true,
            '▀' => y.is_multiple_of(2),
            '▄' => !y.is_multiple_of(2),
            _ => false,
        };
        // Eight pixels for each module, as a camera sees many.
        let mut image = rqrr::PreparedImage::prepare_from_greyscale(width * 8, height * 8, |x, y| {
            if light(x / 8, y / 8) { 255 } else { 0 }
        });
        assert_eq!(image.detect_grids()[0].decode().unwrap().1, text);
    }

    #[test]
    fn the_app_reads_its_keys_in_their_order() {
        let expected = r#"{"ws":"ws://127.0.0.1:8766/ws","http":"http://127.0.0.1:8766","session":"0199a1b2","repo":"app","token":"cdev_p_secret"}"#;
        assert_eq!(app_link(&pair(None)), expected);
    }
}
