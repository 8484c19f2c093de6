//! The keywords a prompt may begin with.

use std::str::{FromStr, SplitWhitespace};
use std::time::Duration;

use agent_client_protocol::v1::schema::{AvailableCommand, AvailableCommandInput, UnstructuredCommandInput};

const MAX_PARALLEL: usize = 50;
const MAX_LINES: usize = 1_000_000;
/// Above the 64 MiB line limit of the host, so that the limit itself can be tried.
const MAX_BYTES: usize = 256 << 20;

/// What one prompt makes the agent do.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Keyword {
    Tour,
    Hello,
    Edit { name: String },
    Ask,
    Parallel { calls: usize },
    Think,
    Plan,
    Out { lines: usize },
    Tools,
    Slow { time: Duration },
    Flood { chunks: u64, size: usize },
    Drip { pieces: u64, rate: f64, apart: bool },
    BigLine { bytes: usize },
    Resume,
    Fail,
    Crash,
    Exit,
    Orphan,
    Noise,
    Stubborn,
}

/// Name, argument hint and description of every keyword, as clients list them.
const KEYWORDS: [(&str, &str, &str); 20] = [
    ("tour", "", "a short tour that proposes to create a file"),
    ("hello", "", "one short answer"),
    ("edit", "[NAME]", "write a file after approval"),
    ("ask", "", "ask the user a question"),
    ("parallel", "[N]", "run N tool calls at once"),
    ("think", "", "think aloud, then answer"),
    ("plan", "", "work through a plan"),
    ("out", "[N]", "run a tool that prints N lines"),
    ("tools", "", "run a read-only tool without asking"),
    ("slow", "[SECONDS]", "stream slowly"),
    ("flood", "[N] [SIZE]", "send N chunks of SIZE bytes at full speed"),
    ("drip", "[N] [RATE] [apart]", "send N pieces, RATE in a second, that tell when; apart: each a message"),
    ("bigline", "[BYTES]", "send one chunk of BYTES bytes in one line"),
    ("resume", "", "tell what this session remembers"),
    ("fail", "", "answer with an error"),
    ("crash", "", "die in the middle of a tool call"),
    ("exit", "", "leave without an answer"),
    ("orphan", "", "leave a process behind"),
    ("noise", "", "print lines that are not protocol"),
    ("stubborn", "", "ignore everything but SIGKILL"),
];

impl Keyword {
    /// Reads the first word, whatever its case; a missing or odd argument means its default.
    pub(super) fn parse(text: &str) -> Self {
        let mut words = text.split_whitespace();
        match words.next().unwrap_or("").to_lowercase().as_str() {
            "hello" => Self::Hello,
            "edit" => Self::Edit { name: words.next().unwrap_or("demo.txt").to_owned() },
            "ask" => Self::Ask,
            "parallel" => Self::Parallel { calls: number(&mut words, 3).clamp(1, MAX_PARALLEL) },
            "think" => Self::Think,
            "plan" => Self::Plan,
            "out" => Self::Out { lines: number(&mut words, 100).min(MAX_LINES) },
            "tools" => Self::Tools,
            "slow" => Self::Slow {
                time: Duration::try_from_secs_f64(number(&mut words, 1.0)).unwrap_or(Duration::from_secs(1)),
            },
            "flood" => Self::Flood { chunks: number(&mut words, 1000), size: number(&mut words, 40).min(MAX_BYTES) },
            "drip" => Self::Drip {
                pieces: number(&mut words, 100),
                // Slower than once in a day is an odd argument too.
                rate: Some(number(&mut words, 10.0)).filter(|rate| (1e-5..=1e6).contains(rate)).unwrap_or(10.0),
                apart: words.next() == Some("apart"),
            },
            "bigline" => Self::BigLine { bytes: number(&mut words, 1 << 20).min(MAX_BYTES) },
            "resume" => Self::Resume,
            "fail" => Self::Fail,
            "crash" => Self::Crash,
            "exit" => Self::Exit,
            "orphan" => Self::Orphan,
            "noise" => Self::Noise,
            "stubborn" => Self::Stubborn,
            _ => Self::Tour,
        }
    }
}

fn number<N: FromStr>(words: &mut SplitWhitespace<'_>, default: N) -> N {
    let word = words.next().and_then(|word| word.parse().ok());
    word.unwrap_or(default)
}

/// All keywords, with a comma between each.
pub(super) fn names() -> String {
    KEYWORDS.map(|(name, ..)| name).join(", ")
}

/// The keywords as ACP slash commands.
pub(super) fn commands() -> Vec<AvailableCommand> {
    let command = |(name, hint, description): (&str, &str, &str)| {
        let input =
            (!hint.is_empty()).then(|| AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(hint)));
        AvailableCommand::new(name, description).input(input)
    };
    KEYWORDS.map(command).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_read_by_its_first_word() {
        let slow = |seconds| Keyword::Slow { time: Duration::from_secs_f64(seconds) };
        let flood = |chunks, size| Keyword::Flood { chunks, size };
        let drip = |pieces, rate, apart| Keyword::Drip { pieces, rate, apart };
        let edit = |name: &str| Keyword::Edit { name: name.into() };
        for (text, keyword) in [
            ("", Keyword::Tour),
            ("what is this?", Keyword::Tour),
            ("  HELLO there", Keyword::Hello),
            ("edit", edit("demo.txt")),
            ("Edit Notes.md now", edit("Notes.md")),
            ("parallel 0", Keyword::Parallel { calls: 1 }),
            ("parallel 900", Keyword::Parallel { calls: 50 }),
            ("out -1", Keyword::Out { lines: 100 }),
            ("slow", slow(1.0)),
            ("slow 0.25", slow(0.25)),
            ("slow -3", slow(1.0)),
            ("slow NaN", slow(1.0)),
            ("flood", flood(1000, 40)),
            ("flood 7", flood(7, 40)),
            ("flood 7 9", flood(7, 9)),
            ("drip", drip(100, 10.0, false)),
            ("drip 7 2.5 apart", drip(7, 2.5, true)),
            ("drip 7 0", drip(7, 10.0, false)),
            ("drip 7 NaN", drip(7, 10.0, false)),
        ] {
            assert_eq!(Keyword::parse(text), keyword, "{text:?}");
        }
    }

    #[test]
    fn every_listed_keyword_is_understood() {
        for (name, ..) in KEYWORDS {
            let tour = Keyword::parse(name) == Keyword::Tour;
            assert_eq!(tour, name == "tour", "{name}");
        }
    }
}
