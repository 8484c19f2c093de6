//! A cast as an animated picture, made of text and CSS alone.
//!
//! The frames stand side by side, and the animation moves them past the window in steps. A line of text that several
//! frames share is stored once.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

use vt100::{Color, Parser, Screen};

use super::cast::{COLUMNS, Cast, ROWS};

/// Output that comes within this time is shown in one frame.
const FRAME: Duration = Duration::from_millis(150);
/// How long the last frame stays before the animation begins anew.
const LAST_FRAME: Duration = Duration::from_secs(6);

/// The size of a character and the margin around the text, in pixels.
const WIDTH: f64 = 8.4;
const HEIGHT: f64 = 18.0;
const FONT_SIZE: f64 = 14.0;
const MARGIN: f64 = 12.0;

/// The colours of the text, by the numbers that terminals give them.
const PALETTE: [&str; 16] = [
    "#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4", "#6e7681", "#ffa198",
    "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc",
];

/// A screen, and how long it is shown.
struct Frame {
    screen: Screen,
    time: Duration,
}

/// Draws a cast as an animated picture, which begins anew after its last frame.
pub(super) fn animated(cast: &Cast) -> String {
    let frames = frames(cast);
    let (width, height) = (f64::from(COLUMNS) * WIDTH + 2.0 * MARGIN, f64::from(ROWS) * HEIGHT + 2.0 * MARGIN);
    let total: Duration = frames.iter().map(|frame| frame.time).sum();
    let (mut steps, mut began) = (String::new(), Duration::ZERO);
    let mut lines = Lines::default();
    let mut shown = String::new();
    for (at, frame) in (0_u32..).zip(&frames) {
        let x = f64::from(at) * width;
        // Writing to a text cannot fail.
        let percent = 100.0 * began.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
        let _ = write!(steps, "{percent:.3}%{{transform:translateX(-{x:.1}px)}}");
        began += frame.time;
        let _ =
            writeln!(shown, "<g transform=\"translate({:.1} {MARGIN})\">{}</g>", x + MARGIN, lines.of(&frame.screen));
    }
    let last = f64::from(u32::try_from(frames.len()).unwrap_or(1).saturating_sub(1)) * width;
    let seconds = total.as_secs_f64();
    let definitions = lines.definitions;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.1} {height:.1}\" role=\"img\" aria-label=\"A recording of roost demo\">\n\
         <style>\n\
         text{{font:{FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#c9d1d9;white-space:pre}}\n\
         .b{{font-weight:bold}}.d{{opacity:.65}}\n\
         #film{{animation:play {seconds:.3}s steps(1,end) infinite}}\n\
         @keyframes play{{{steps}}}\n\
         @media (prefers-reduced-motion:reduce){{#film{{animation:none;transform:translateX(-{last:.1}px)}}}}\n\
         </style>\n\
         <defs>\n{definitions}</defs>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n\
         <g id=\"film\">\n{shown}</g>\n\
         </svg>\n"
    )
}

/// The screens of a cast, one for each time at which something was shown.
fn frames(cast: &Cast) -> Vec<Frame> {
    let mut parser = Parser::new(ROWS, COLUMNS, 0);
    let mut frames: Vec<Frame> = Vec::new();
    let mut began = Duration::ZERO;
    for (at, output) in &cast.outputs {
        let time = at.saturating_sub(began);
        if time >= FRAME {
            frames.push(Frame { screen: parser.screen().clone(), time });
            began = *at;
        }
        parser.process(output.as_bytes());
    }
    frames.push(Frame { screen: parser.screen().clone(), time: LAST_FRAME });
    frames
}

/// The lines of all frames, each drawn once and then used by its number.
#[derive(Default)]
struct Lines {
    numbers: HashMap<String, usize>,
    definitions: String,
}

impl Lines {
    /// The lines of a screen.
    fn of(&mut self, screen: &Screen) -> String {
        let mut frame = String::new();
        for row in 0..ROWS {
            let drawn = line(screen, row);
            if drawn.is_empty() {
                continue;
            }
            let next = self.numbers.len();
            let number = *self.numbers.entry(drawn).or_insert_with_key(|drawn| {
                let _ = writeln!(self.definitions, "<g id=\"l{next}\">{drawn}</g>");
                next
            });
            let y = f64::from(row) * HEIGHT;
            let _ = write!(frame, "<use href=\"#l{number}\" y=\"{y}\"/>");
        }
        frame
    }
}

/// How a run of characters looks.
#[derive(PartialEq)]
struct Look {
    colour: Option<String>,
    bold: bool,
    dim: bool,
}

/// A line as text elements, one for each run of characters that look the same; empty if nothing is in it.
fn line(screen: &Screen, row: u16) -> String {
    let mut runs: Vec<(u16, Look, String)> = Vec::new();
    for column in 0..COLUMNS {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation()) else { continue };
        let look = Look { colour: colour(cell.fgcolor()), bold: cell.bold(), dim: cell.dim() };
        let text = if cell.has_contents() { cell.contents() } else { " " };
        match runs.last_mut() {
            Some((_, last, run)) if *last == look => run.push_str(text),
            _ => runs.push((column, look, text.to_owned())),
        }
    }
    let mut drawn = String::new();
    for (column, look, text) in runs {
        let text = text.trim_end();
        let skipped = text.len() - text.trim_start().len();
        let text = text.trim_start();
        if text.is_empty() {
            continue;
        }
        let x = (f64::from(column) + skipped as f64) * WIDTH;
        let length = text.chars().count() as f64 * WIDTH;
        let class = match (look.bold, look.dim) {
            (true, true) => " class=\"b d\"",
            (true, false) => " class=\"b\"",
            (false, true) => " class=\"d\"",
            (false, false) => "",
        };
        let fill = look.colour.map(|colour| format!(" style=\"fill:{colour}\"")).unwrap_or_default();
        let _ = write!(
            drawn,
            "<text x=\"{x:.1}\" y=\"{FONT_SIZE}\" textLength=\"{length:.1}\"{class}{fill}>{}</text>",
            escaped(text)
        );
    }
    drawn
}

fn colour(colour: Color) -> Option<String> {
    match colour {
        Color::Default => None,
        Color::Idx(number) => PALETTE.get(usize::from(number)).map(|colour| (*colour).to_owned()),
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cast(outputs: &[(u64, &str)]) -> Cast {
        let mut cast = Cast::default();
        outputs.iter().for_each(|(at, text)| cast.push(Duration::from_millis(*at), text.as_bytes()));
        cast
    }

    #[test]
    fn output_that_comes_together_is_one_frame_and_a_line_that_stays_is_drawn_once() {
        let picture = animated(&cast(&[(0, "$ roost\r\n"), (10, "hello"), (1000, " you")]));
        assert_eq!(picture.matches("<g transform").count(), 2, "{picture}");
        assert_eq!(picture.matches("$ roost</text>").count(), 1, "{picture}");
        assert!(picture.contains("@keyframes play{0.000%{transform:translateX(-0.0px)}14.286%{"), "{picture}");
    }

    #[test]
    fn text_keeps_its_look_and_place_and_cannot_become_markup() {
        let parser = |text: &str| {
            let mut parser = Parser::new(ROWS, COLUMNS, 0);
            parser.process(text.as_bytes());
            line(parser.screen(), 0)
        };
        let table = [
            ("", ""),
            ("  a <b> & c", r#"<text x="16.8" y="14" textLength="75.6">a &lt;b&gt; &amp; c</text>"#),
            ("\x1b[1;32mok", r##"<text x="0.0" y="14" textLength="16.8" class="b" style="fill:#3fb950">ok</text>"##),
            ("\x1b[2mdim", r#"<text x="0.0" y="14" textLength="25.2" class="d">dim</text>"#),
        ];
        for (text, drawn) in table {
            assert_eq!(parser(text), drawn, "{text:?}");
        }
    }
}
