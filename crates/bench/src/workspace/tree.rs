//! Generates repositories of any size that look like real ones, the same on every run.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use super::labels::LABELS;
use crate::Outcome;

const WORDS: [&str; 96] = [
    "account",
    "adapter",
    "agent",
    "alert",
    "api",
    "auth",
    "backup",
    "batch",
    "billing",
    "broker",
    "buffer",
    "build",
    "cache",
    "catalog",
    "client",
    "cluster",
    "codec",
    "command",
    "config",
    "context",
    "core",
    "cursor",
    "database",
    "decode",
    "deploy",
    "device",
    "dispatch",
    "encode",
    "engine",
    "error",
    "event",
    "export",
    "feature",
    "fetch",
    "filter",
    "format",
    "gateway",
    "graph",
    "handler",
    "health",
    "http",
    "import",
    "index",
    "input",
    "invoice",
    "job",
    "kafka",
    "kernel",
    "ledger",
    "limit",
    "lock",
    "login",
    "main",
    "message",
    "metric",
    "middleware",
    "model",
    "network",
    "notify",
    "order",
    "output",
    "parser",
    "payment",
    "pipeline",
    "policy",
    "pool",
    "profile",
    "proxy",
    "query",
    "queue",
    "redis",
    "release",
    "report",
    "request",
    "retry",
    "router",
    "runtime",
    "schema",
    "search",
    "server",
    "session",
    "sink",
    "snapshot",
    "socket",
    "source",
    "storage",
    "stream",
    "tenant",
    "token",
    "trace",
    "user",
    "vector",
    "watch",
    "webhook",
    "worker",
    "writer",
];

/// Files of a package; a folder then has about a dozen, as in the repositories of people.
const OF_PACKAGE: usize = 60;

/// What git ignores in every tree.
const IGNORED: &str = "node_modules/\ntarget/\ndist/\n*.log\n.env\n";

/// Text in three files alone, in one of twelve, and in one of twenty-five in different capitals.
pub(super) const RARE: &str = "quiescent_marker_7f3a";
pub(super) const COMMON: &str = "retry_budget";
pub(super) const ANY_CASE: &str = "kafkasink";
const CASES: [&str; 3] = ["KafkaSink", "kafkasink", "KAFKASINK"];

/// A linear congruential generator: the same tree on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.roll(WORDS.len())]
    }

    fn capital(&mut self) -> String {
        let word = self.word();
        word[..1].to_uppercase() + &word[1..]
    }

    /// A path in one of so many packages, each of them of one of several kinds.
    fn path(&mut self, packages: usize) -> String {
        let package = self.roll(packages);
        let (a, b) = (WORDS[package % WORDS.len()], WORDS[package / WORDS.len() % WORDS.len()]);
        let part = WORDS[(package * 7 + self.roll(4) * 13) % WORDS.len()];
        let (c, d) = (self.word(), self.word());
        match (package % 10, self.roll(2)) {
            (0..=2, 0) => format!("crates/{a}-{b}/src/{c}_{d}.rs"),
            (0..=2, _) => format!("crates/{a}-{b}/src/{part}/{c}_{d}.rs"),
            (3 | 4, 0) => format!("apps/{a}-{b}/src/components/{part}/{}{}.tsx", self.capital(), self.capital()),
            (3 | 4, _) => format!("apps/{a}-{b}/src/hooks/use{}{}.ts", self.capital(), self.capital()),
            (5 | 6, 0) => format!("services/{a}-{b}/internal/{part}/{c}_{d}.go"),
            (5 | 6, _) => format!("services/{a}-{b}/internal/{part}/{c}_{d}_test.go"),
            (7, _) => format!("packages/{a}-{b}/lib/{part}/{c}-{d}.js"),
            (8, _) => format!("docs/{a}-{b}/{c}-{d}.md"),
            _ => format!("tests/{a}_{b}/{part}/test_{c}_{d}.py"),
        }
    }

    fn text(&mut self) -> String {
        let mut text = String::new();
        for number in 0..5 + self.roll(60) {
            text += &format!("fn {}_{}(value: usize) -> usize {{ value + {number} }}\n", self.word(), self.word());
        }
        if self.roll(12) == 0 {
            text += &format!("let left = {COMMON}.take();\n");
        }
        if self.roll(25) == 0 {
            text += &format!("let sink = {}::new();\n", CASES[self.roll(CASES.len())]);
        }
        text
    }
}

/// Generates a repository of this many committed files, and a tenth as many that git ignores.
pub(super) fn grow(folder: &Path, files: usize) -> Outcome {
    let mut dice = Dice(7);
    let mut paths: BTreeSet<String> = LABELS.iter().map(|(_, path)| (*path).to_owned()).collect();
    let packages = files.div_ceil(OF_PACKAGE);
    while paths.len() < files {
        let path = dice.path(packages);
        if !paths.insert(path.clone()) {
            // The words are used up at some point; people then add one.
            let (stem, extension) = path.rsplit_once('.').unwrap_or((&path, ""));
            paths.insert(format!("{stem}_{}{}.{extension}", dice.word(), dice.roll(1000)));
        }
    }
    for (number, path) in paths.iter().enumerate() {
        let mut text = if path == ".gitignore" { IGNORED.to_owned() } else { dice.text() };
        if [files / 5, files / 2, files - 9].contains(&number) {
            text += &format!("// {RARE}\n");
        }
        write(&folder.join(path), &text)?;
    }
    for _ in 0..files / 10 {
        let path = dice.path(packages);
        write(&folder.join(["node_modules", "target", "dist"][dice.roll(3)]).join(path), &dice.text())?;
    }
    git(folder, &["init", "--quiet", "--initial-branch=main"])?;
    git(folder, &["add", "--all"])?;
    git(folder, &["commit", "--quiet", "--message", "all"])
}

/// Changes this many files of a repository: most are edited, some deleted, some new.
pub(super) fn change(folder: &Path, changes: usize) -> Outcome {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(folder).output()?.stdout;
    let listed = String::from_utf8(listed)?;
    let mut dice = Dice(9);
    for (number, path) in listed.split_terminator('\0').take(changes).enumerate() {
        let file = folder.join(path);
        match number % 10 {
            0 => fs::remove_file(file)?,
            1 | 2 => write(&file.with_extension("new"), &dice.text())?,
            _ => OpenOptions::new().append(true).open(file)?.write_all(b"// edited\n")?,
        }
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> Outcome {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(file, text)?)
}

fn git(folder: &Path, args: &[&str]) -> Outcome {
    // What git would do in the background afterwards would be measured.
    let settings = ["user.name=bench", "user.email=bench@localhost", "gc.auto=0", "maintenance.auto=false"];
    let mut git = Command::new("git");
    git.args(settings.iter().flat_map(|setting| ["-c", setting])).args(args).current_dir(folder);
    if git.status()?.success() { Ok(()) } else { Err(format!("git {args:?} failed").into()) }
}
