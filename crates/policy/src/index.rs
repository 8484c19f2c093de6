//! An index over rules or answers, so that a decision checks only the few that can match.

use std::collections::HashMap;
use std::path::{Component, Path};

use globset::{Glob, GlobMatcher, GlobSet, GlobSetBuilder};

use crate::assignments::{is_assignment, without_assignments};
use crate::class::ToolClass;
use crate::decide::Unresolved;
use crate::entry::{Entry, PolicyQuery, ToolMatcher, path_glob};
use crate::open_commands::leads_elsewhere;
use crate::pattern::{ANY, Pattern, host_in_word, host_of, might_be};
use crate::shell::{ReachedCommand, ShellLine, SimpleCommand, Word, base};
use crate::subject::{ParsedCommand, Subject};
use crate::toolset::is_generic;

/// An index of globs to the entries they belong to. Most globs begin with a literal folder name, and most paths begin
/// with none of those.
#[derive(Debug, Default)]
struct Globs {
    by_first_name: HashMap<String, Vec<(GlobMatcher, usize)>>,
    /// The globs that begin with a wildcard.
    anywhere: GlobSet,
    anywhere_entries: Vec<usize>,
    entries: Vec<usize>,
}

impl Globs {
    fn new(globs: Vec<(usize, Glob)>) -> Self {
        let mut found = Self { entries: globs.iter().map(|(at, _)| *at).collect(), ..Self::default() };
        let mut builder = GlobSetBuilder::new();
        for (at, glob) in globs {
            let first = glob.glob().trim_start_matches('/').split('/').next().unwrap_or_default();
            if first.is_empty() || first.contains(['*', '?', '[', '{', '\\']) {
                builder.add(glob);
                found.anywhere_entries.push(at);
            } else {
                found.by_first_name.entry(first.to_owned()).or_default().push((glob.compile_matcher(), at));
            }
        }
        // Every glob was built once already, so together they build too; if not, none of them matches.
        found.anywhere = builder.build().unwrap_or_default();
        found
    }

    fn each(&self, path: &Path, take: &mut dyn FnMut(usize)) {
        if self.entries.is_empty() {
            return;
        }
        let named = first_name(path).and_then(|first| self.by_first_name.get(first));
        for (glob, at) in named.into_iter().flatten() {
            if glob.is_match(path) {
                take(*at);
            }
        }
        if !self.anywhere_entries.is_empty() {
            self.anywhere.matches(path).into_iter().for_each(|at| take(self.anywhere_entries[at]));
        }
    }
}

/// The path relative to the workspace, or relative to `/` if it lies elsewhere.
fn relative_to_workspace<'a>(path: &'a Path, workspace: &Path) -> &'a Path {
    // A call may name many paths, and comparing them component by component is slow. Only a text that may spell the
    // same components in more than one way is compared like that.
    let as_text = || path.to_str()?.strip_prefix(workspace.to_str()?)?.strip_prefix('/');
    let is_plain = |rest: &&str| !rest.starts_with(['/', '.']) && !rest.contains("//") && !rest.contains("/.");
    match as_text().filter(is_plain) {
        Some(rest) => Path::new(rest),
        None => path.strip_prefix(workspace).or_else(|_| path.strip_prefix("/")).unwrap_or(path),
    }
}

fn first_name(path: &Path) -> Option<&str> {
    path.components().find_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    })
}

/// The entries about one program, by its name without a folder.
#[derive(Debug, Default)]
struct Program {
    all: Vec<usize>,
    /// Entries that name no argument.
    bare: Vec<usize>,
    /// The other entries by the first argument that they name.
    by_argument: HashMap<String, Vec<usize>>,
}

/// Entries by what they name. All lists hold positions in `entries`, in ascending order.
#[derive(Debug, Default)]
pub(crate) struct Index {
    entries: Vec<Entry>,
    /// Entries that name neither a tool nor a pattern.
    plain: Vec<usize>,
    tools: HashMap<String, Vec<usize>>,
    tool_globs: Globs,
    programs: HashMap<String, Program>,
    /// By the words that a command must begin with, joined by NUL.
    commands: HashMap<String, Vec<usize>>,
    longest_command: usize,
    hosts: HashMap<String, Vec<usize>>,
    hashes: HashMap<String, Vec<usize>>,
    files: Globs,
    absolute_files: Globs,
    /// The folders of file patterns that end with `/**`, absolute and relative ones.
    folders: Globs,
}

impl Index {
    pub(crate) fn new(entries: Vec<Entry>) -> Self {
        let mut index = Self::default();
        let (mut tool_globs, mut files, mut absolute_files, mut folders) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (at, entry) in entries.iter().enumerate() {
            match (&entry.pattern, &entry.tool) {
                (None, Some(ToolMatcher::Exact(name))) => index.tools.entry(name.clone()).or_default().push(at),
                (None, Some(ToolMatcher::Glob(glob))) => tool_globs.push((at, glob.glob().clone())),
                (None, None) => index.plain.push(at),
                (Some(Pattern::Command(words)), _) => {
                    let start = words.strip_suffix(&[ANY.to_owned()]).unwrap_or(words);
                    index.longest_command = index.longest_command.max(start.len());
                    let denied = without_assignments(start);
                    let program = index.programs.entry(base(&denied[0]).to_owned()).or_default();
                    program.all.push(at);
                    match denied.get(1) {
                        None => program.bare.push(at),
                        Some(argument) => program.by_argument.entry(argument.clone()).or_default().push(at),
                    }
                    index.commands.entry(start.join("\0")).or_default().push(at);
                }
                (Some(Pattern::Host(host)), _) => {
                    let domain = host.strip_prefix("*.").unwrap_or(host);
                    index.hosts.entry(domain.to_owned()).or_default().push(at);
                }
                (Some(Pattern::Exact(hash)), _) => index.hashes.entry(hash.clone()).or_default().push(at),
                (Some(Pattern::File(glob)), _) => {
                    let list = if glob.starts_with('/') { &mut absolute_files } else { &mut files };
                    list.extend(path_glob(glob).ok().map(|glob| (at, glob)));
                    // Whoever reads a folder as a whole reads everything that is denied beneath it.
                    let folder = glob.strip_suffix("/**").filter(|folder| !folder.is_empty() && *folder != "**");
                    folders.extend(folder.and_then(|folder| path_glob(folder).ok()).map(|glob| (at, glob)));
                }
            }
        }
        index.tool_globs = Globs::new(tool_globs);
        index.files = Globs::new(files);
        index.absolute_files = Globs::new(absolute_files);
        index.folders = Globs::new(folders);
        index.entries = entries;
        index
    }

    /// The first entry that denies the call. It is enough that a part of the call might be what the entry names.
    pub(crate) fn denies(&self, query: &PolicyQuery<'_>) -> Option<&Entry> {
        if self.entries.is_empty() {
            return None;
        }
        let fits = |at: &usize| self.entries[*at].fits(query, |class| query.classified.classes.contains(class));
        let mut first: Option<usize> = None;
        let mut take = |at: usize| {
            if first.is_none_or(|first| at < first) && fits(&at) {
                first = Some(at);
            }
        };
        self.plain.iter().for_each(|at| take(*at));
        self.tool_globs.each(query.call.name.as_ref(), &mut take);
        entries_at(&self.tools, query.call.name).for_each(&mut take);
        entries_at(&self.hashes, query.call.input_hash).for_each(&mut take);
        match &query.classified.subject {
            Subject::Shell(command) => self.denied_commands(command, &mut take),
            Subject::Url(url) => self.each_host_entry(&host_in_word(url).unwrap_or_default(), &mut take),
            Subject::Files(_) | Subject::Other => {}
        }
        for path in query.context.resolved {
            let real = path.real.as_deref().unwrap_or(path.given.as_ref());
            let relative = relative_to_workspace(real, query.context.workspace);
            self.absolute_files.each(real, &mut take);
            self.files.each(relative, &mut take);
            self.folders.each(real, &mut take);
            self.folders.each(relative, &mut take);
        }
        if query.context.unresolved == Unresolved::TooMany {
            self.files.entries.iter().chain(&self.absolute_files.entries).for_each(|at| take(*at));
        }
        first.map(|at| &self.entries[at])
    }

    fn denied_commands(&self, command: &ParsedCommand, take: &mut dyn FnMut(usize)) {
        let mut uncertain = command.line.is_err();
        let mut texts = Vec::new();
        if let Ok(line) = &command.line {
            line.reach(&mut |reached| match reached {
                ReachedCommand::Command(SimpleCommand { argv, .. }) => {
                    self.denied_argv(argv, take);
                    // A program that is not certain might be any that the line mentions.
                    uncertain |= argv.first().is_some_and(|program| program.literal().is_none());
                }
                ReachedCommand::Behind { argv, .. } => {
                    self.denied_argv(argv, take);
                    uncertain |= argv[0] == Word::Dynamic;
                }
                ReachedCommand::Opaque(text) => {
                    uncertain = true;
                    texts.push(text.to_owned());
                }
            });
        }
        if uncertain && !self.programs.is_empty() {
            let no_name = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | '+');
            let texts = texts.iter().chain([&command.text]);
            for program in texts.flat_map(|text| text.split(no_name)).filter_map(|word| self.programs.get(word)) {
                program.all.iter().for_each(|at| take(*at));
            }
        }
    }

    fn denied_argv(&self, argv: &[Word], take: &mut dyn FnMut(usize)) {
        let program = argv.first().and_then(Word::literal).and_then(|program| self.programs.get(base(program)));
        if let Some(program) = program {
            program.bare.iter().for_each(|at| take(*at));
            let mut check = |at: &usize| {
                if matches!(&self.entries[*at].pattern, Some(Pattern::Command(words)) if might_be(words, argv)) {
                    take(*at);
                }
            };
            // Only options and their values may stand before the first argument that an entry names.
            let mut may_skip = false;
            for arg in &argv[1..] {
                let Some(word) = arg.literal() else {
                    program.all.iter().for_each(&mut check);
                    break;
                };
                program.by_argument.get(word).into_iter().flatten().for_each(&mut check);
                if word.starts_with('-') {
                    may_skip = true;
                } else if !std::mem::take(&mut may_skip) {
                    break;
                }
            }
        }
        for word in argv.iter().filter_map(Word::literal).filter(|_| !self.hosts.is_empty()) {
            if word.contains(['.', ':', '@']) {
                self.each_host_entry(&host_in_word(word).unwrap_or_default(), take);
            } else {
                entries_at(&self.hosts, word).for_each(&mut *take);
            }
        }
    }

    fn each_host_entry(&self, host: &str, take: &mut dyn FnMut(usize)) {
        let mut domain = Some(host);
        while let Some(name) = domain {
            entries_at(&self.hosts, name).for_each(&mut *take);
            domain = name.split_once('.').map(|(_, parent)| parent);
        }
    }

    /// The first entry that allows the call. Every part of the call must certainly be allowed.
    pub(crate) fn allows(&self, query: &PolicyQuery<'_>) -> Option<&Entry> {
        if self.entries.is_empty() {
            return None;
        }
        let class = query.classified.classes.worst();
        let dangerous = class == ToolClass::Dangerous;
        let fits = |at: &usize| self.entries[*at].fits(query, |wanted| wanted == class);
        // What is dangerous must be named exactly: the input, the command with all its arguments, or the tool itself
        // where the tool is all that is known.
        let exact = entries_at(&self.hashes, query.call.input_hash).find(fits);
        let by_tool = || entries_at(&self.tools, query.call.name).find(fits);
        let by_glob = || self.first_of_many(fits, query.call.name);
        let found = match &query.classified.subject {
            Subject::Other if dangerous && is_generic(query.call.name) => exact,
            Subject::Other if dangerous => exact.or_else(by_tool),
            Subject::Shell(command) => {
                let commands = exact.or_else(|| self.allowed_commands(command, query, dangerous));
                if dangerous { commands } else { commands.or_else(by_tool).or_else(by_glob) }
            }
            _ if dangerous => exact,
            Subject::Files(files) => {
                exact.or_else(|| self.allowed_files(files, query)).or_else(by_tool).or_else(by_glob)
            }
            Subject::Url(url) => exact.or_else(|| self.allowed_host(url, query)).or_else(by_tool).or_else(by_glob),
            Subject::Other => exact.or_else(by_tool).or_else(by_glob),
        };
        found.map(|at| &self.entries[at])
    }

    /// The first fitting entry among those that name no single tool.
    fn first_of_many(&self, fits: impl Fn(&usize) -> bool, tool: &str) -> Option<usize> {
        let mut first = self.plain.iter().copied().find(&fits);
        self.tool_globs.each(tool.as_ref(), &mut |at| {
            if first.is_none_or(|first| at < first) && fits(&at) {
                first = Some(at);
            }
        });
        first
    }

    fn allowed_commands(&self, command: &ParsedCommand, query: &PolicyQuery<'_>, dangerous: bool) -> Option<usize> {
        // A command does other things in another folder, and another thing if the input says more than the command.
        let context = query.context;
        let folder = command.cwd.as_deref().unwrap_or(".").to_owned();
        let elsewhere = context.unresolved != Unresolved::Nothing
            || context.resolved_inside(std::slice::from_ref(&folder)).is_none();
        if self.commands.is_empty() || elsewhere || !command.understood {
            return None;
        }
        let sequence = command.line.as_ref().ok().and_then(ShellLine::sequence)?;
        // An answer beside other commands is judged part by part.
        let counts = |at: usize, argv: &[&str]| {
            !self.entries[at].is_answer || (sequence.len() == 1 && context.answer_holds_in(&folder, argv[0]))
        };
        let allowed = |argv: &Vec<&str>| {
            // A program of such a name would be taken for an assignment.
            let at = self.position_of_words(argv, query, dangerous).filter(|_| !is_assignment(argv[0]))?;
            counts(at, argv).then_some(at)
        };
        let found: Option<Vec<usize>> = sequence.iter().map(allowed).collect();
        found?.into_iter().next()
    }

    /// The first entry that allows a command of these words; the assignments before it come first. An entry that names
    /// not all of the words is not enough if they must be named exactly.
    pub(crate) fn allows_words(&self, words: &[&str], query: &PolicyQuery<'_>, exactly: bool) -> Option<&Entry> {
        self.position_of_words(words, query, exactly).map(|at| &self.entries[at])
    }

    fn position_of_words(&self, words: &[&str], query: &PolicyQuery<'_>, exactly: bool) -> Option<usize> {
        let class = query.classified.classes.worst();
        let starts = (1..=words.len().min(self.longest_command)).map(|length| words[..length].join("\0"));
        let candidates = starts.flat_map(|start| entries_at(&self.commands, &start).collect::<Vec<_>>());
        let allows = |at: &usize| {
            let entry = &self.entries[*at];
            entry.allows_command(words)
                && entry.fits(query, |wanted| wanted == class)
                && !(entry.is_open() && (exactly || leads_elsewhere(words, entry)))
        };
        candidates.filter(allows).min()
    }

    fn allowed_files(&self, files: &[String], query: &PolicyQuery<'_>) -> Option<usize> {
        let class = query.classified.classes.worst();
        let mut first = None;
        for file in files {
            let mut paths = query.context.resolved(file);
            let (Some(path), None) = (paths.next(), paths.next()) else { return None };
            let real = path.real.as_deref()?;
            let mut found: Option<usize> = None;
            let mut take = |at: usize| {
                if found.is_none_or(|found| at < found) && self.entries[at].fits(query, |wanted| wanted == class) {
                    found = Some(at);
                }
            };
            self.absolute_files.each(real, &mut take);
            if let (true, Ok(relative)) = (path.inside_workspace, real.strip_prefix(query.context.workspace)) {
                self.files.each(relative, &mut take);
            }
            first = first.or(Some(found?));
        }
        first
    }

    fn allowed_host(&self, url: &str, query: &PolicyQuery<'_>) -> Option<usize> {
        let host = host_of(url)?;
        let class = query.classified.classes.worst();
        let mut found: Option<usize> = None;
        self.each_host_entry(&host, &mut |at| {
            let entry = &self.entries[at];
            let matches = match &entry.pattern {
                Some(Pattern::Host(pattern)) => match pattern.strip_prefix("*.") {
                    Some(domain) => host.len() > domain.len(),
                    None => *pattern == host,
                },
                _ => false,
            };
            if matches && found.is_none_or(|found| at < found) && entry.fits(query, |wanted| wanted == class) {
                found = Some(at);
            }
        });
        found
    }
}

fn entries_at(lists: &HashMap<String, Vec<usize>>, key: &str) -> impl Iterator<Item = usize> {
    lists.get(key).into_iter().flatten().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_form_below_the_workspace_however_it_is_spelled() {
        for (path, expected) in [
            ("/w/secrets/key", "secrets/key"),
            ("/w//secrets/key", "secrets/key"),
            ("/w/./secrets/key", "secrets/key"),
            ("/w/secrets//key", "secrets//key"),
            ("/w/.env", ".env"),
            ("/w/a/.env", "a/.env"),
            ("/w", ""),
            ("/web/key", "web/key"),
            ("/etc/passwd", "etc/passwd"),
            ("key", "key"),
        ] {
            assert_eq!(relative_to_workspace(Path::new(path), Path::new("/w")).to_str(), Some(expected), "{path}");
        }
    }
}
