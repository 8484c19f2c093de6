//! Generated shell lines: what the policy lets run unasked is really run, where everything that could go wrong is
//! poisoned and seen.
//!
//! The lines are everyday reads and attacks, mutated and joined by a seeded generator. Each allowed one is run by bash
//! and by dash in a throw-away workspace: programs that must not start are canaries, first in `PATH`; folders of the
//! workspace hold programs of the usual names, settings and repositories that start a canary as soon as something takes
//! them for its own. Afterwards no canary has sung, and no file has changed.

// Helpers of tests are tests, but clippy sees only functions.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use roost_model::tool::PolicyResult::Allow;
use roost_policy::{Effect, Remembered, Scope};

use crate::kit::{Ask, command};

/// How many lines are run.
const USUAL: usize = 1_000;
const FULL: usize = 20_000;
/// After so many allowed lines the workspace is looked at.
const BATCH: usize = 50;
const SEED: u64 = 0x0052_6f6f_7374;

/// A small generator of numbers, so that a seed means the same lines everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

/// Everyday reads of files that the workspace has.
#[rustfmt::skip]
const READS: [&str; 48] = [
    "ls", "ls -la", "ls src", "ls *.txt", "cat a.txt", "cat a.txt b.txt", "cat src/main.rs", "head -5 a.txt",
    "tail -n 3 a.txt", "wc -l a.txt", "wc -l *.txt", "grep -n one a.txt", "grep -rn main src", "grep -r x .",
    "sort a.txt", "sort -u a.txt", "uniq -c a.txt", "uniq a.txt", "cut -d: -f1 a.txt", "tr a b", "sed -n 1,3p a.txt",
    "sed 's/one/two/' a.txt", "awk '{print $1}' a.txt", "find . -name '*.txt'", "find . -type f",
    "find src -maxdepth 1", "git status", "git log --oneline -3", "git diff", "git show HEAD", "git branch -a",
    "git ls-files", "git -C src status", "git grep -n one", "git rev-parse HEAD", "git stash list", "cd src",
    "cd bare", "cd evil", "pwd", "echo x", "echo $PATH", "printf '%s\\n' x", "test -f a.txt", "[ -d src ]", "date",
    "xargs wc -l", "file a.txt",
];

/// What turns a read into something else, if anything about it is read in two ways.
#[rustfmt::skip]
const ATTACKS: [&str; 96] = [
    "-o out", "-oout", "--output=out", "--output out", "--outp=out", "> out", ">out", ">> out", "2>out", "&> out",
    ">& out", ">| out", "<> out", "< a.txt", "<<< x", "<<E\ntouch out\nE", "- out", "a.txt out", "-exec touch out ;",
    "-exec touch out \\;", "-exec touch {} +", "-execdir touch out ';'", "-fprint out", "-fls out", "-delete",
    "-ok touch out ;", "$(touch out)", "`touch out`", "\"$(touch out)\"", "\"`touch out`\"", "<(touch out)",
    ">(touch out)", "${x:=y}", "${PATH:=bin}", "$((x=1))", "$[x=1]", "$'\\x6f'", "PATH=bin", "HOME=.", "GIT_DIR=bare",
    "export PATH=bin", "for PATH in bin; do", "for HOME in .; do", "; done", "while read PATH; do",
    "printf -v PATH bin", "printf -vHOME .", "printf 'x%n' PATH", "read PATH", "declare PATH=bin", "local HOME=.",
    "cd bin", "cd evil &&", "cd bare;", "cd ..", "pushd bare", "git -C evil status", "git -C bare log",
    "git -c core.fsmonitor=./canary status", "git --git-dir=bare log", "--ext-diff", "-O./canary", "--pre ./canary",
    "--pre=./canary", "--hostname-bin ./canary", "--compress-program=./canary", "-i", "-n -i", "-e 'w out'",
    "'1e touch out'", "'s/one/touch out/e'", "'s/one/two/w out'", "'BEGIN{system(\"touch out\")}'",
    "'{print > \"out\"}'", "'{print | \"touch out\"}'", "| tee out", "| sh", "| xargs touch", "| uniq - out",
    "| sort -o out", "& touch out", "&& touch out", "|| touch out", "; touch out", "\ntouch out", "| touch out",
    "|& tee out", "(touch out)", "{ touch out; }", "f() { touch out; }; f", "alias ls=touch", "eval touch out",
    "exec touch out", ". ./canary", "source canary", "trap 'touch out' EXIT",
];

/// Characters that mean something to a shell.
#[rustfmt::skip]
const MARKS: [&str; 40] = [
    " ", "\t", "\n", "'", "\"", "\\", "$", "`", "(", ")", "{", "}", "[", "]", "<", ">", "|", "&", ";", "#", "*", "?",
    "~", "=", "!", "^", "%", "-", "--", "+", ":", "@", ",", "\\\n", "$x", "${x}", "2>/dev/null", "2>&1", "/dev/null",
    "\u{a0}",
];

const JOINS: [&str; 8] = [" | ", " && ", " || ", "; ", "\n", "|", "&&", ";"];

/// Commands that a person allowed for longer than once, as agents write them.
#[rustfmt::skip]
const ALLOWED: [&str; 12] = [
    "npm test", "npm test 2>&1", "npm test -- --coverage", "npm test src", "CI=1 npm test", "CI=1 npm run build",
    "npm run build", "cargo build 2>&1", "cargo build --release", "make all", "cd src && npm test", "make all 2>/dev/null",
];

/// The answers that were given for [`ALLOWED`].
fn answers() -> Vec<Remembered> {
    let commands: [&[&str]; 6] = [
        &["npm", "test", "*"],
        &["npm", "run", "build", "*"],
        &["CI=1", "npm", "test", "*"],
        &["CI=1", "npm", "run", "build", "*"],
        &["cargo", "build", "*"],
        &["make", "all"],
    ];
    let answer = |words: &&[&str]| Remembered {
        scope: Scope::Always,
        effect: Effect::Allow,
        runtime: None,
        tool: None,
        pattern: Some(command(words)),
    };
    commands.iter().map(answer).collect()
}

/// A read or several, mutated.
pub(crate) fn line(random: &mut Random) -> String {
    line_of(&READS, random)
}

/// The same, with commands that a person allowed among the reads.
pub(crate) fn line_with_answers(random: &mut Random) -> String {
    let commands: Vec<_> = ALLOWED.iter().chain(&ALLOWED).chain(&READS).copied().collect();
    line_of(&commands, random)
}

fn line_of(commands: &[&str], random: &mut Random) -> String {
    let mut parts = vec![random.pick(commands).to_owned()];
    for _ in 0..random.below(3) {
        parts.push(random.pick(&JOINS).to_owned());
        parts.push(random.pick(commands).to_owned());
    }
    let mut text = parts.concat();
    for _ in 0..random.below(4) {
        mutate(&mut text, random);
    }
    text
}

fn mutate(text: &mut String, random: &mut Random) {
    let places: Vec<_> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let at = places[random.below(places.len())];
    let spaces: Vec<_> = text.match_indices(' ').map(|(at, _)| at).chain([text.len()]).collect();
    let between = spaces[random.below(spaces.len())];
    match random.below(6) {
        0 => text.insert_str(between, &format!(" {}", random.pick(&ATTACKS))),
        1 => text.insert_str(0, &format!("{} ", random.pick(&ATTACKS))),
        2 => text.insert_str(at, random.pick(&MARKS)),
        3 => text.insert_str(between, random.pick(&MARKS)),
        4 => text.push_str(&format!(" {}", random.pick(&ATTACKS))),
        _ => {
            text.truncate(at);
            text.push_str(random.pick(&MARKS));
        }
    }
}

/// Programs that no line which only reads would start.
#[rustfmt::skip]
const CANARIES: [&str; 41] = [
    "touch", "tee", "rm", "cp", "mv", "ln", "mkdir", "rmdir", "dd", "chmod", "install", "sh", "bash", "dash", "zsh",
    "python3", "perl", "node", "curl", "wget", "less", "more", "man", "gpg", "pr", "gzip", "vi", "ed", "nano", "sudo",
    "make", "cargo", "npm", "canary", "tar", "split", "sponge", "script", "watch", "timeout", "ssh",
];

struct PoisonedWorkspace {
    _folder: tempfile::TempDir,
    workspace: PathBuf,
    home: PathBuf,
    path: String,
    sung: PathBuf,
}

impl PoisonedWorkspace {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (workspace, home, canaries) = (root.join("workspace"), root.join("home"), root.join("canaries"));
        let sung = root.join("sung");
        for made in [&home, &canaries, &workspace.join("src"), &workspace.join("bin")] {
            fs::create_dir_all(made).unwrap();
        }
        let canary = format!("#!/bin/sh\necho \"$0 $*\" >> {}\n", sung.display());
        let plant = |at: &Path| {
            fs::write(at, &canary).unwrap();
            fs::set_permissions(at, fs::Permissions::from_mode(0o755)).unwrap();
        };
        for name in CANARIES {
            plant(&canaries.join(name));
        }
        // If `PATH` ever becomes a folder of the workspace, these are found.
        for name in ["ls", "cat", "git", "grep", "sort", "wc", "head", "find", "uniq", "tail", "cut", "awk", "sed"] {
            plant(&workspace.join("bin").join(name));
            plant(&workspace.join("src").join(name));
        }
        plant(&workspace.join("canary"));
        for (name, text) in [("a.txt", "one\none\ntwo\n"), ("b.txt", "b:c\n"), ("src/main.rs", "fn main() {}\n")] {
            fs::write(workspace.join(name), text).unwrap();
        }
        // Names that are options to whoever does not look.
        for name in ["-oout", "--pre=canary", "--output=out", "-i", "-exec"] {
            fs::write(workspace.join(name), "x\n").unwrap();
        }
        let git = |args: &[&str], at: &Path| {
            let mut git = Command::new("git");
            git.args(args).current_dir(at).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", &home);
            git.env("GIT_CONFIG_NOSYSTEM", "1");
            let done = git.stdin(Stdio::null()).output().unwrap();
            assert!(done.status.success(), "git {args:?}: {done:?}");
        };
        git(&["init", "-q", "-b", "main"], &workspace);
        git(&["add", "a.txt", "b.txt", "src/main.rs"], &workspace);
        git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "one"], &workspace);
        // Settings and repositories that an agent could have written.
        let settings = format!(
            "[core]\n\tfsmonitor = {0}\n\tpager = {0}\n\thooksPath = {1}\n[diff]\n\texternal = {0}\n",
            workspace.join("canary").display(),
            canaries.display()
        );
        for name in [".gitconfig", ".bashrc", ".profile"] {
            let text = if name == ".gitconfig" { settings.clone() } else { "canary\n".to_owned() };
            fs::write(workspace.join(name), text).unwrap();
        }
        fs::create_dir(workspace.join("evil")).unwrap();
        git(&["init", "-q"], &workspace.join("evil"));
        git(&["init", "-q", "--bare", "bare"], &workspace);
        for config in ["evil/.git/config", "bare/config"] {
            let before = fs::read_to_string(workspace.join(config)).unwrap();
            let with_files = before.replace("bare = true", "bare = false\n\tworktree = ../src");
            fs::write(workspace.join(config), with_files + &settings).unwrap();
        }
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", canaries.display());
        Self { _folder: folder, workspace, home, path, sung }
    }

    fn run(&self, shell: &str, text: &str) {
        let mut command = Command::new(shell);
        command.arg("-c").arg(text).current_dir(&self.workspace).env_clear();
        command.env("PATH", &self.path).env("HOME", &self.home).env("GIT_CONFIG_NOSYSTEM", "1");
        // What it prints and whether it fails does not matter.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    }

    /// Every file with its content, but for git's index, whose times git brings up to date when it reads.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.workspace.clone(), self.home.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    found.insert(path.clone(), Vec::new());
                    folders.push(path);
                } else if !path.ends_with(".git/index") {
                    found.insert(path.clone(), fs::read(&path).unwrap());
                }
            }
        }
        found
    }

    fn songs(&self) -> String {
        fs::read_to_string(&self.sung).unwrap_or_default()
    }
}

/// What the policy says where only the workspace's own folders belong to its repository.
fn asked(text: &str) -> Ask {
    let own = Ask::bash(text).own_folder("src", "/home/ada/project/src");
    own.leads("bare", "/home/ada/project/bare").leads("evil", "/home/ada/project/evil")
}

fn runs_unasked(text: &str) -> bool {
    asked(text).result() == Allow
}

/// What a program that was started said of itself.
struct Started {
    variable: String,
    path: String,
    home: String,
    folder: PathBuf,
    argv: Vec<String>,
}

impl PoisonedWorkspace {
    /// Lets the programs that answers are about tell how they were started.
    fn tell_how_started(&self) {
        let canaries = self.path.split(':').next().unwrap();
        let script = format!(
            "#!/bin/sh\n{{ printf '%s\\037' \"$CI\" \"$PATH\" \"$HOME\" \"$(pwd -P)\" \"$0\" \"$@\"; printf '\\036'; }} >> {}\n",
            self.sung.display()
        );
        for name in ["npm", "cargo", "make"] {
            fs::write(Path::new(canaries).join(name), &script).unwrap();
        }
    }

    /// Everything that was started since the last time.
    fn take_started(&self) -> Vec<Started> {
        let songs = self.songs();
        fs::write(&self.sung, "").unwrap();
        let started = |song: &str| {
            let mut words = song.trim_end_matches('\u{1f}').split('\u{1f}').map(str::to_owned);
            let mut next = || words.next().unwrap_or_else(|| panic!("a canary sang: {song:?}"));
            let (variable, path, home, folder) = (next(), next(), next(), next().into());
            Started { variable, path, home, folder, argv: words.collect() }
        };
        songs.split_terminator('\u{1e}').map(started).collect()
    }
}

#[test]
fn what_is_offered_for_a_line_lets_it_run() {
    let mut random = Random(SEED);
    let mut offered = 0;
    for _ in 0..FULL {
        let text = line_with_answers(&mut random);
        let mut yes = asked(&text).evaluation().remember;
        yes.retain(|offer| offer.scope == Scope::Always);
        if !yes.is_empty() {
            offered += 1;
            assert_eq!(asked(&text).remember(&yes).result(), Allow, "{text:?} after {yes:?}");
        }
    }
    assert!(
        offered > FULL / 10,
        "{offered} of {FULL} lines were offered to be remembered: the generator shows nothing"
    );
}

#[test]
fn a_line_that_runs_by_answers_starts_only_what_the_answers_cover() {
    let shells: Vec<_> = ["/bin/bash", "/bin/dash"].into_iter().filter(|shell| Path::new(shell).exists()).collect();
    let count = if std::env::var_os("ROOST_FULL").is_some() { FULL } else { USUAL };
    let poisoned = PoisonedWorkspace::new();
    poisoned.tell_how_started();
    let before = poisoned.files();
    let mut random = Random(SEED);
    let (mut generated, mut run, mut heard) = (0_usize, 0_usize, 0_usize);
    while run < count {
        let text = line_with_answers(&mut random);
        generated += 1;
        assert!(generated < count * 20, "only {run} of {generated} lines were allowed: the generator shows nothing");
        // Lines that only read are run by another test.
        if runs_unasked(&text) || asked(&text).remember(&answers()).result() != Allow {
            continue;
        }
        run += 1;
        for shell in &shells {
            poisoned.run(shell, &text);
            for started in poisoned.take_started() {
                heard += 1;
                let (program, args) = started.argv.split_first().unwrap();
                let program = Path::new(program);
                let canaries = poisoned.path.split(':').next().map(Path::new);
                assert_eq!(program.parent(), canaries, "{text:?}");
                assert_eq!((&started.path, Path::new(&started.home)), (&poisoned.path, &*poisoned.home), "{text:?}");
                assert!(started.folder.starts_with(&poisoned.workspace), "{text:?} in {:?}", started.folder);
                let name = program.file_name().unwrap().to_str().unwrap();
                let words: Vec<_> = std::iter::once(name).chain(args.iter().map(String::as_str)).collect();
                let variable = if started.variable.is_empty() { "" } else { "CI=1 " };
                let alone = format!("{variable}{}", roost_policy::shell::quote(&words));
                assert!(matches!(started.variable.as_str(), "" | "1"), "{text:?} with {}", started.variable);
                assert_eq!(asked(&alone).remember(&answers()).result(), Allow, "{text:?} started {alone:?}");
            }
        }
        if run % BATCH == 0 {
            assert!(poisoned.files() == before, "a file was changed by {text:?} or one of the {BATCH} lines before it");
        }
    }
    assert!(heard > count, "{heard} programs were started by {run} lines: the trap hears nothing");
    println!("{generated} lines, {run} of them ran by answers, {heard} programs were started, in {shells:?}");
}

#[test]
fn no_line_that_runs_unasked_starts_a_canary_or_changes_a_file() {
    let shells: Vec<_> = ["/bin/bash", "/bin/dash"].into_iter().filter(|shell| Path::new(shell).exists()).collect();
    assert!(!shells.is_empty(), "there is neither bash nor dash to run the lines");
    let count = if std::env::var_os("ROOST_FULL").is_some() { FULL } else { USUAL };
    let poisoned = PoisonedWorkspace::new();
    let before = poisoned.files();
    let mut random = Random(SEED);
    let (mut batch, mut generated, mut run) = (Vec::new(), 0_usize, 0);
    while run < count {
        let text = line(&mut random);
        generated += 1;
        assert!(generated < count * 20, "only {run} of {generated} lines were allowed: the generator shows nothing");
        if runs_unasked(&text) {
            run += 1;
            shells.iter().for_each(|shell| poisoned.run(shell, &text));
            batch.push(text);
        }
        if batch.len() == BATCH {
            assert_eq!(poisoned.songs(), "", "a canary sang in one of {batch:#?}");
            assert!(poisoned.files() == before, "a file was changed by one of {batch:#?}");
            batch.clear();
        }
    }
    println!("{generated} lines, {run} of them ran unasked, in {shells:?}");
}

/// The trap itself must work, or it proves nothing.
#[test]
fn a_line_that_should_have_been_asked_about_is_caught() {
    let lines = [
        "for PATH in bin; do ls; done",
        "for HOME in .; do git status; done",
        "cd evil && git status",
        "cd bare && git status",
        "touch out",
        "cat a.txt | sh",
    ];
    for text in lines {
        let poisoned = PoisonedWorkspace::new();
        assert!(!runs_unasked(text), "{text}");
        poisoned.run("/bin/bash", text);
        assert_ne!(poisoned.songs(), "", "{text} started no canary");
    }
    let poisoned = PoisonedWorkspace::new();
    let before = poisoned.files();
    poisoned.run("/bin/bash", "echo x | uniq - out");
    assert!(poisoned.files() != before);
}
