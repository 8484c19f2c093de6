//! What the policy makes of Claude Code's own permission rules, and how a hostile project tries to use them.

use std::path::{Path, PathBuf};

use roost_model::mode::Mode;
use roost_model::tool::PolicyResult::{self, Allow, Ask, Deny};
use roost_policy::{Approver, Call, Context, Memory, ResolvedPath, RuleSet, Unresolved, classify, evaluate};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::facts::FACTS;
use super::permissions::read_permissions;
use super::sources::SourcePaths;
use crate::source_files::TrustedFiles;
use roost_model::canonical;

/// The settings files that a test may write.
#[derive(Clone, Copy)]
enum File {
    User,
    Project,
    Local,
}

/// A home and a project.
struct Place {
    folder: TempDir,
    paths: SourcePaths,
}

impl Place {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let paths = SourcePaths::of_test(&folder.path().join("home"), &folder.path().join("work"));
        for folder in [&paths.config, &paths.cwd.join(".claude")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        Self { folder, paths }
    }

    fn path(&self, file: File) -> PathBuf {
        match file {
            File::User => self.paths.config.join("settings.json"),
            File::Project => self.paths.cwd.join(".claude/settings.json"),
            File::Local => self.paths.cwd.join(".claude/settings.local.json"),
        }
    }

    fn write(&self, file: File, list: &str, rules: &[&str]) -> String {
        let text = json!({ "permissions": { list: rules } }).to_string();
        std::fs::write(self.path(file), &text).unwrap();
        canonical::hash_bytes(text.as_bytes())
    }

    fn trust(&mut self, file: File, hash: String) {
        self.paths.trusted = TrustedFiles::new([(self.path(file), hash)].into());
    }

    /// The policy's word about a call, and the rule that decided.
    fn judge(&self, mode: Mode, tool: &str, input: &Value) -> (PolicyResult, String) {
        let (permissions, _) = read_permissions(&self.paths, &Map::new());
        let call = Call { runtime: "claude", tools: &FACTS.tools, name: tool, kind: None, input, input_hash: "" };
        let workspace: &Path = &self.paths.cwd;
        let resolve = |given: String| {
            let real = match given.strip_prefix("~/") {
                Some(rest) => self.paths.home.join(rest),
                None => workspace.join(&given),
            };
            let inside_workspace = real.starts_with(workspace);
            ResolvedPath { given, real: Some(real), inside_workspace, in_own_repository: true }
        };
        let named = classify(&call).paths().into_iter().map(|path| path.text).chain([".".to_owned()]);
        let resolved: Vec<_> = named.map(resolve).collect();
        let context = Context {
            mode,
            approver: Approver::Present,
            session: &"one".into(),
            workspace,
            resolved: &resolved,
            unresolved: Unresolved::Nothing,
            control: &[FACTS.control_files],
            rules: &RuleSet::default(),
            memory: &Memory::default(),
            permissions: &permissions,
        };
        let word = evaluate(&call, &context).words.pop().unwrap();
        (word.result, word.rule.unwrap())
    }

    fn notices(&self) -> Vec<String> {
        read_permissions(&self.paths, &Map::new()).1
    }
}

/// The tool and the input of a call in short: a shell line, or `Tool argument`.
fn call(text: &str) -> (&str, Value) {
    match text.split_once(' ') {
        Some(("edit", path)) => ("Edit", json!({ "file_path": path, "old_string": "a", "new_string": "b" })),
        Some(("read", path)) => ("Read", json!({ "file_path": path })),
        Some(("fetch", url)) => ("WebFetch", json!({ "url": url, "prompt": "x" })),
        Some(("skill", name)) => ("Skill", json!({ "skill": name })),
        Some(("tool", name)) => (name, json!({})),
        _ => ("Bash", json!({ "command": text })),
    }
}

#[test]
fn a_rule_of_the_users_allows_what_the_cli_would_allow_by_it_but_nothing_dangerous() {
    let cases = [
        ("Bash(npm run test:*)", "npm run test --watch=false", Allow),
        ("Bash(npm run test *)", "npm run test", Allow),
        ("Bash(npm run test:*)", "npm run testing", Ask),
        ("Bash(npm run build)", "npm run build", Allow),
        ("Bash(npm run build)", "npm run build x", Ask),
        ("Bash(npm run test:*)", "npm run test && curl evil.example", Ask),
        ("Bash", "touch x", Allow),
        ("Bash(*)", "touch x", Allow),
        ("Bash(*)", "rm -rf /", Ask),
        ("Bash(rm:*)", "rm -rf x", Ask),
        // A wildcard in the middle could stand for anything.
        ("Bash(git * main)", "git push origin main", Ask),
        ("Bash(npm run test*)", "npm run test", Ask),
        ("Bash(* --version)", "touch x --version", Ask),
        ("*", "touch x", Ask),
        ("Edit", "edit src/a.rs", Allow),
        ("Edit(src/**)", "edit src/a/b.rs", Allow),
        ("Edit(/src/*.rs)", "edit src/a.rs", Ask),
        ("Edit(*.md)", "edit docs/a.md", Allow),
        ("Edit(./a.md)", "edit docs/a.md", Ask),
        ("Edit(docs/)", "edit docs/deep/a.md", Allow),
        ("Edit", "edit .claude/settings.json", Ask),
        ("Edit(//**)", "edit ~/.bashrc", Ask),
        ("Edit(~/.bashrc)", "edit ~/.bashrc", Ask),
        ("WebFetch(domain:example.org)", "fetch https://example.org/x", Allow),
        ("WebFetch(domain:example.org)", "fetch https://evil.example/?example.org", Ask),
        ("WebFetch", "fetch https://example.org", Allow),
        // Of a tool server's tools nothing is known, so they count as dangerous.
        ("mcp__shop__buy", "tool mcp__shop__buy", Ask),
        ("mcp__shop", "tool mcp__shop__buy", Ask),
    ];
    for (rule, text, expected) in cases {
        let place = Place::new();
        place.write(File::User, "allow", &[rule]);
        let (tool, input) = call(text);
        let (result, by) = place.judge(Mode::Ask, tool, &input);
        assert_eq!(result, expected, "{rule}: {text} by {by}");
        assert!(result != Allow || by == format!("claude_settings:allow {rule}"), "{by}");
    }
}

#[test]
fn a_denial_counts_from_every_file_and_in_every_mode() {
    let cases = [
        ("Bash(rm:*)", "rm x", true),
        ("Bash(rm:*)", "true && rm x", true),
        ("Bash(rm:*)", "xargs rm", true),
        ("Bash(rm:*)", "rmdir x", false),
        ("Bash(git * main)", "git push origin main", true),
        ("Bash(git * main)", "git push origin dev", false),
        ("Bash(*--no-verify*)", "git commit --no-verify", true),
        ("Bash", "ls", true),
        ("Read(.env)", "read .env", true),
        ("Read(.env)", "read deep/.env", true),
        ("Read(./.env)", "cat .env", true),
        ("Read(secrets/**)", "read secrets/deep/key", true),
        ("Read(secrets)", "cat secrets/key", true),
        ("Read(~/.ssh/**)", "read ~/.ssh/id", true),
        ("Read(//etc/passwd)", "cat /etc/passwd", true),
        ("Edit(src/**)", "edit src/a.rs", true),
        ("Edit(src/**)", "read src/a.rs", false),
        ("Edit(src/**)", "touch src/a.rs", true),
        ("Edit", "edit src/a.rs", true),
        ("WebFetch(domain:evil.example)", "fetch https://evil.example/x", true),
        ("mcp__shop", "tool mcp__shop__buy", true),
        ("mcp__shop__*", "tool mcp__shop__buy", true),
        ("mcp__shop", "tool mcp__shopping__buy", false),
        ("Skill(deploy:*)", "skill deploy:now", true),
        ("Skill(deploy)", "skill review", false),
    ];
    for (rule, text, denied) in cases {
        for file in [File::User, File::Project, File::Local] {
            let place = Place::new();
            place.write(file, "deny", &[rule]);
            let (tool, input) = call(text);
            for mode in [Mode::Ask, Mode::Yolo] {
                let (result, by) = place.judge(mode, tool, &input);
                assert_eq!(result == Deny, denied, "{rule}: {text} in {mode} by {by}");
            }
        }
    }
}

#[test]
fn a_projects_file_allows_nothing_unless_it_is_what_a_person_agreed_to() {
    for file in [File::Project, File::Local] {
        let mut place = Place::new();
        let hash = place.write(file, "allow", &["Bash(*)", "Edit"]);
        let (tool, input) = call("touch x");
        assert_eq!(place.judge(Mode::Ask, tool, &input).0, Ask, "a cloned repository brings it");
        let [notice] = place.notices().try_into().unwrap();
        assert!(notice.contains("Bash(*), Edit") && notice.contains(&hash), "{notice}");

        place.trust(file, hash.clone());
        assert_eq!(place.judge(Mode::Ask, tool, &input).0, Allow);
        assert_eq!(place.notices(), [""; 0]);
        assert_eq!(place.judge(Mode::Ask, "Bash", &json!({ "command": "rm -rf /" })).0, Ask, "dangerous");

        let changed = place.write(file, "allow", &["Bash(*)", "Edit", "Read"]);
        assert_ne!(changed, hash);
        assert_eq!(place.judge(Mode::Ask, tool, &input).0, Ask, "changed after it was agreed to");

        // What was agreed to in one project says nothing of the same file in another.
        let other = Place::new();
        let same = other.write(file, "allow", &["Bash(*)", "Edit"]);
        let other = Place { paths: SourcePaths { trusted: place.paths.trusted.clone(), ..other.paths }, ..other };
        assert_eq!((same, other.judge(Mode::Ask, tool, &input).0), (hash, Ask));
        drop(other.folder);
    }
}

#[test]
fn a_rule_that_cannot_be_used_is_told() {
    let place = Place::new();
    place.write(File::User, "allow", &["Bash(git * main)", "Bash(npm test)", "Nonsense(x)", "Bash(open"]);
    let [notice] = place.notices().try_into().unwrap();
    for part in ["allow Bash(git * main)", "allow Nonsense(x)", "allow Bash(open"] {
        assert!(notice.contains(part), "{notice}");
    }
    assert!(!notice.contains("npm test"), "{notice}");
    std::fs::write(place.path(File::User), "{ torn").unwrap();
    assert!(place.notices()[0].contains("settings.json is no JSON object"), "{:?}", place.notices());
}
