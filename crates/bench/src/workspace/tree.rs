//! A repository of any size, the same every time.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Outcome;

const WORDS: [&str; 24] = [
    "src", "lib", "core", "config", "kafka", "sink", "source", "parser", "server", "client", "index", "search",
    "watch", "git", "test", "engine", "session", "policy", "adapter", "main", "stream", "event", "query", "mod",
];
const EXTENSIONS: [&str; 6] = ["rs", "ts", "py", "md", "json", "toml"];
/// Files of a folder.
const OF_FOLDER: usize = 12;

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.roll(WORDS.len())]
    }
}

/// Makes a repository of so many files, all of them committed.
pub(super) fn grow(folder: &Path, files: usize) -> Outcome {
    let mut dice = Dice(7);
    for number in 0..files.div_ceil(OF_FOLDER) {
        let mut place = folder.to_owned();
        for _ in 0..1 + dice.roll(5) {
            place.push(dice.word());
        }
        place.push(format!("{}{number}", dice.word()));
        fs::create_dir_all(&place)?;
        for file in 0..OF_FOLDER.min(files - number * OF_FOLDER) {
            let extension = EXTENSIONS[dice.roll(EXTENSIONS.len())];
            let name = format!("{}_{}{file}.{extension}", dice.word(), dice.word());
            let lines =
                (0..5 + dice.roll(60)).map(|n| format!("fn {}_{}(a: usize) {{ a + {n} }}\n", dice.word(), dice.word()));
            fs::write(place.join(name), lines.collect::<String>())?;
        }
    }
    let identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
    for args in [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "--message", "all"]] {
        let done = Command::new("git").args(identity).args(args).current_dir(folder).status()?;
        if !done.success() {
            return Err(format!("git {args:?} failed").into());
        }
    }
    Ok(())
}
